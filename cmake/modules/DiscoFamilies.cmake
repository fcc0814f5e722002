# The kernel families, read from include/disco/KernelFamilies.def at configure
# time. Configuring fails when a file that a row promises is missing.
#
# disco_check_families(ROOT) sets, for the source tree ROOT, in the caller:
#   DISCO_FAMILIES         names in the order of the rows
#   DISCO_FAMILY_SOURCES   lib/Planning/Families/<Family>.cpp of each
#   DISCO_FAMILY_LOWERINGS lib/Transforms/Lowering/Families/<Family>.cpp of each
#                          family with available ops that has one
#   DISCO_LOWERED_FAMILIES names of those

# csr_gather -> CsrGather
function(_disco_upper_camel name out)
  string(REPLACE "_" ";" words "${name}")
  set(camel "")
  foreach(word ${words})
    string(SUBSTRING "${word}" 0 1 first)
    string(SUBSTRING "${word}" 1 -1 rest)
    string(TOUPPER "${first}" first)
    string(APPEND camel "${first}${rest}")
  endforeach()
  set(${out} "${camel}" PARENT_SCOPE)
endfunction()

function(_disco_require_part root family part path)
  if(NOT EXISTS ${root}/${path})
    message(FATAL_ERROR
      "kernel family '${family}' promises ${part}, but ${path} does not exist")
  endif()
endfunction()

function(disco_check_families root)
  set(def ${root}/include/disco/KernelFamilies.def)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${def})
  file(READ ${def} text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX MATCHALL "DISCO_KERNEL_FAMILY\\([^\"]*\"" rows "${text}")
  set(names "")
  set(sources "")
  set(lowerings "")
  set(lowered "")
  foreach(row ${rows})
    string(REGEX REPLACE "[ \n\t]" "" row "${row}")
    if(NOT row MATCHES "^DISCO_KERNEL_FAMILY\\(([a-z0-9_]+),([A-Z_|]+),([A-Z0-9_|]+),([A-Z0-9_|]+),([A-Z0-9_|]+),([A-Z_|]+),\"$")
      message(FATAL_ERROR "expected a row of KernelFamilies.def to have a name, "
        "available ops, ops, dtypes, structures, parts and a summary, but got ${row}")
    endif()
    set(name ${CMAKE_MATCH_1})
    set(available ${CMAKE_MATCH_2})
    string(REPLACE "|" ";" parts "${CMAKE_MATCH_6}")
    _disco_upper_camel(${name} camel)
    set(lowering lib/Transforms/Lowering/Families/${camel}.cpp)
    set(path_CODEGEN ${lowering})
    set(path_LOWERING ${lowering})
    set(path_CPU_KERNEL lib/Runtime/CPU/${camel})
    set(path_CUDA_KERNEL lib/Runtime/CUDA/${camel})

    set(planning lib/Planning/Families/${camel}.cpp)
    _disco_require_part(${root} ${name} "rules, candidates and cost" ${planning})
    _disco_require_part(${root} ${name} "tests" test/Families/${name})
    foreach(part ${parts})
      if(NOT DEFINED path_${part})
        message(FATAL_ERROR "expected the parts of kernel family '${name}' to be "
          "CODEGEN, LOWERING, CPU_KERNEL or CUDA_KERNEL, but got ${part}")
      endif()
      if(NOT available STREQUAL NO_OPS)
        _disco_require_part(${root} ${name} ${part} ${path_${part}})
        if(part MATCHES "^(CODEGEN|LOWERING)$")
          list(APPEND lowerings ${root}/${lowering})
          list(APPEND lowered ${name})
        endif()
      endif()
    endforeach()
    list(APPEND names ${name})
    list(APPEND sources ${root}/${planning})
  endforeach()
  if(NOT names)
    message(FATAL_ERROR "expected ${def} to have at least one row, but got none")
  endif()
  list(REMOVE_DUPLICATES lowerings)
  list(REMOVE_DUPLICATES lowered)
  set(DISCO_FAMILIES "${names}" PARENT_SCOPE)
  set(DISCO_FAMILY_SOURCES "${sources}" PARENT_SCOPE)
  set(DISCO_FAMILY_LOWERINGS "${lowerings}" PARENT_SCOPE)
  set(DISCO_LOWERED_FAMILIES "${lowered}" PARENT_SCOPE)
endfunction()
