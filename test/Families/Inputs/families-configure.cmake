cmake_minimum_required(VERSION 3.25)
project(Families LANGUAGES NONE)
include(${MODULES}/DiscoFamilies.cmake)
disco_check_families(${CMAKE_SOURCE_DIR})
foreach(list DISCO_FAMILY_SOURCES DISCO_FAMILY_LOWERINGS)
  string(REPLACE "${CMAKE_SOURCE_DIR}/" "" ${list} "${${list}}")
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -E echo "families: ${DISCO_FAMILIES}
sources: ${DISCO_FAMILY_SOURCES}
lowerings: ${DISCO_FAMILY_LOWERINGS}")
