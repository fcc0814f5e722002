# Writes where the parts of every kernel family are defined. Run as a script:
#   cmake -DROOT=<source tree> -DFAMILIES=<a;b> -DOUTPUT=<file> -P FamilySources.cmake
# Each row of the output is DISCO_FAMILY_SOURCE(family, "part", "file", line).
include(${ROOT}/cmake/modules/DiscoFamilies.cmake)

function(find_line file pattern out)
  file(READ ${ROOT}/${file} text)
  string(REGEX MATCH "(^|\n)${pattern}" match "${text}")
  if(NOT match)
    message(FATAL_ERROR "expected ${file} to have a line that starts with ${pattern}, but got none")
  endif()
  string(FIND "${text}" "${match}" position)
  string(SUBSTRING "${text}" 0 ${position} before)
  string(REGEX REPLACE "[^\n]" "" newlines "${before}")
  string(LENGTH "${newlines}" line)
  # The match begins with the end of the line before.
  math(EXPR line "${line} + 2")
  set(${out} ${line} PARENT_SCOPE)
endfunction()

set(rows "")
foreach(family ${FAMILIES})
  _disco_upper_camel(${family} camel)
  set(file lib/Planning/Families/${camel}.cpp)
  foreach(part "rules=static constexpr Rule rules" "candidates=static void candidates"
               "cost=static Cost cost" "description=static void describe")
    string(REGEX REPLACE "=.*" "" name "${part}")
    string(REGEX REPLACE "^[^=]*=" "" pattern "${part}")
    find_line(${file} "${pattern}" line)
    string(APPEND rows "DISCO_FAMILY_SOURCE(${family}, \"${name}\", \"${file}\", ${line})\n")
  endforeach()
  set(file lib/Transforms/Lowering/Families/${camel}.cpp)
  if(EXISTS ${ROOT}/${file})
    find_line(${file} "static SmallVector<Value> lower[(]" line)
    string(APPEND rows "DISCO_FAMILY_SOURCE(${family}, \"lowering\", \"${file}\", ${line})\n")
  endif()
endforeach()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "${rows}#undef DISCO_FAMILY_SOURCE\n" @ONLY)
