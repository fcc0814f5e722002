# Small helpers shared by every CMakeLists.txt of the project.

set(DISCO_WARNINGS -Wall -Wextra -Wno-unused-parameter)
if(DISCO_WERROR)
  list(APPEND DISCO_WARNINGS -Werror)
endif()
if(DISCO_ENABLE_FUZZERS)
  # Coverage of the libraries is what guides the fuzzers.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(DISCO_SANITIZE)
  add_compile_options(-fsanitize=${DISCO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${DISCO_SANITIZE})
endif()

# Settings common to everything that includes LLVM or MLIR headers.
function(_disco_use_mlir target)
  target_include_directories(${target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  separate_arguments(defs NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  target_compile_definitions(${target} PRIVATE ${defs})
endfunction()

# disco_add_library(NAME [MLIR] SOURCES ... [LINK ...] [DEPENDS ...])
# A static, position independent library; MLIR gives it MLIR's headers.
function(disco_add_library name)
  cmake_parse_arguments(A "MLIR" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${A_SOURCES})
  target_compile_options(${name} PRIVATE ${DISCO_WARNINGS})
  target_link_libraries(${name} PUBLIC ${A_LINK})
  if(A_MLIR)
    _disco_use_mlir(${name})
    add_dependencies(${name} DiscoTableGen)
  endif()
  if(A_DEPENDS)
    add_dependencies(${name} ${A_DEPENDS})
  endif()
endfunction()

# disco_add_tool(NAME [MLIR] SOURCES ... [LINK ...]): an installed binary.
function(disco_add_tool name)
  cmake_parse_arguments(A "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_compile_options(${name} PRIVATE ${DISCO_WARNINGS})
  target_link_libraries(${name} PRIVATE ${A_LINK})
  if(A_MLIR)
    _disco_use_mlir(${name})
    add_dependencies(${name} DiscoTableGen)
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  endif()
  set_property(GLOBAL APPEND PROPERTY DISCO_TOOLS ${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# disco_add_unit_test(NAME [MLIR] SOURCES ... [LINK ...]): a gtest binary in
# build/test/Unit; its name ends in Tests so that lit finds it.
function(disco_add_unit_test name)
  cmake_parse_arguments(A "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_compile_options(${name} PRIVATE ${DISCO_WARNINGS})
  target_link_libraries(${name} PRIVATE ${A_LINK} GTest::gtest GTest::gtest_main)
  if(A_MLIR)
    _disco_use_mlir(${name})
    add_dependencies(${name} DiscoTableGen)
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  endif()
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/Unit)
  set_property(GLOBAL APPEND PROPERTY DISCO_UNIT_TESTS ${name})
endfunction()
