# The CUDA kernels. Only nvcc and the static CUDA runtime are needed; CMake's
# own CUDA language is not enabled, as kernels become fat binaries that the
# library embeds as data.
#
#   DISCO_CUDA = AUTO   build them where nvcc is found
#                ON     fail to configure without it
#                OFF    never
#
# Sets DISCO_HAVE_CUDA, and the target DiscoCudaRuntime to link against.

set(DISCO_CUDA AUTO CACHE STRING "Build the CUDA kernels: AUTO, ON or OFF")
set(DISCO_CUDA_ARCHS "" CACHE STRING
  "What the kernels are built for: sm_X is machine code, compute_X is PTX; empty: sm_80,sm_90a,compute_80 and, where nvcc knows it, sm_100a")
if(NOT DISCO_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "expected DISCO_CUDA to be AUTO, ON or OFF, but got ${DISCO_CUDA}")
endif()

set(DISCO_HAVE_CUDA OFF)
if(NOT DISCO_CUDA STREQUAL OFF)
  find_program(DISCO_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(DISCO_NVCC)
    get_filename_component(cuda_root ${DISCO_NVCC} REALPATH)
    get_filename_component(cuda_root ${cuda_root} DIRECTORY)
    get_filename_component(cuda_root ${cuda_root} DIRECTORY)
    find_path(DISCO_CUDA_INCLUDE cuda_runtime_api.h HINTS ${cuda_root}
      PATH_SUFFIXES include targets/x86_64-linux/include targets/sbsa-linux/include)
    find_library(DISCO_CUDART cudart_static HINTS ${cuda_root}
      PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib targets/sbsa-linux/lib)
  endif()
  if(DISCO_NVCC AND DISCO_CUDA_INCLUDE AND DISCO_CUDART)
    set(DISCO_HAVE_CUDA ON)
    set(DISCO_KERNEL_ARCHS ${DISCO_CUDA_ARCHS})
    if(NOT DISCO_KERNEL_ARCHS)
      set(DISCO_KERNEL_ARCHS "sm_80,sm_90a,compute_80")
      execute_process(COMMAND ${DISCO_NVCC} --list-gpu-code OUTPUT_VARIABLE known)
      if(known MATCHES "sm_100")
        set(DISCO_KERNEL_ARCHS "sm_80,sm_90a,sm_100a,compute_80")
      endif()
    endif()
    add_library(DiscoCudaRuntime INTERFACE)
    target_include_directories(DiscoCudaRuntime SYSTEM INTERFACE ${DISCO_CUDA_INCLUDE})
    target_link_libraries(DiscoCudaRuntime INTERFACE ${DISCO_CUDART} Threads::Threads ${CMAKE_DL_LIBS} rt)
  elseif(DISCO_CUDA STREQUAL ON)
    message(FATAL_ERROR "expected nvcc, cuda_runtime_api.h and libcudart_static.a to be found, "
      "but got '${DISCO_NVCC}', '${DISCO_CUDA_INCLUDE}' and '${DISCO_CUDART}'")
  endif()
endif()

# disco_add_cuda_blob(TARGET NAME SOURCE [ARCHS "sm_80,..."] [DEFINES ...]
#                     [DEPENDS ...])
# Compiles SOURCE to a fat binary and embeds it in TARGET, as
#   extern "C" const disco::cuda::Blob disco_blob_NAME;
# The headers it includes are tracked. ARCHS: DISCO_KERNEL_ARCHS.
function(disco_add_cuda_blob target name source)
  cmake_parse_arguments(A "" "ARCHS" "DEFINES;DEPENDS" ${ARGN})
  if(NOT A_ARCHS)
    set(A_ARCHS ${DISCO_KERNEL_ARCHS})
  endif()
  set(codes "")
  string(REPLACE "," ";" archs "${A_ARCHS}")
  foreach(arch ${archs})
    string(REGEX REPLACE "^(sm|compute)_" "" number ${arch})
    list(APPEND codes -gencode arch=compute_${number},code=${arch})
  endforeach()
  set(defines "")
  foreach(define ${A_DEFINES})
    list(APPEND defines -D${define})
  endforeach()
  set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/${name}.blob.cpp)
  # What ptxas says of registers and spills is kept: a test reads it.
  add_custom_command(OUTPUT ${fatbin}
    COMMAND sh ${CMAKE_SOURCE_DIR}/cmake/modules/nvcc-logged.sh
      ${fatbin}.ptxas.log ${DISCO_NVCC} -fatbin -std=c++17 -O3
      --expt-relaxed-constexpr -Xptxas -v -I${CMAKE_SOURCE_DIR}/include ${codes}
      ${defines} -MD -MF ${fatbin}.d -MT ${fatbin} -o ${fatbin}
      ${CMAKE_CURRENT_SOURCE_DIR}/${source}
    BYPRODUCTS ${fatbin}.ptxas.log
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${A_DEPENDS}
    DEPFILE ${fatbin}.d
    COMMENT "Compiling the CUDA kernels ${name}"
    VERBATIM)
  file(CONFIGURE OUTPUT ${embedded} @ONLY CONTENT [[
#include "@CMAKE_SOURCE_DIR@/lib/Runtime/CUDA/Core/Kernels.h"
__asm__(".pushsection .rodata\n"
        ".balign 64\n"
        "disco_blob_data_@name@:\n"
        ".incbin \"@fatbin@\"\n"
        ".popsection\n");
extern "C" {
extern const char disco_blob_data_@name@[]
    __attribute__((visibility("hidden")));
extern const disco::cuda::Blob disco_blob_@name@;
const disco::cuda::Blob disco_blob_@name@ = {
    "@name@", "@A_ARCHS@", disco_blob_data_@name@};
}
]])
  set_source_files_properties(${embedded} PROPERTIES OBJECT_DEPENDS ${fatbin})
  target_sources(${target} PRIVATE ${embedded})
endfunction()
