# Facts of the build that a run folder records as provenance.
find_package(Git QUIET)
set(PHASELOCK_GIT_COMMIT "unknown")
if(GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                  OUTPUT_VARIABLE PHASELOCK_GIT_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/.git/HEAD ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
endif()
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(PHASELOCK_FLAGS "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
string(STRIP "${PHASELOCK_FLAGS}" PHASELOCK_FLAGS)
configure_file(${PROJECT_SOURCE_DIR}/cmake/build_info.hpp.in ${CMAKE_BINARY_DIR}/generated/build_info.hpp @ONLY)
