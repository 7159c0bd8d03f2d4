# Targets for developers: format, tidy, coverage.
file(GLOB_RECURSE project_sources CONFIGURE_DEPENDS src/*.cpp src/*.hpp theorems/*.cpp theorems/*.hpp scenarios/*.cpp scenarios/*.hpp
     tests/*.cpp tests/*.hpp bench/*.cpp bench/*.hpp bench/peers/*.cpp)
find_program(CLANG_FORMAT clang-format)
if(CLANG_FORMAT)
  add_custom_target(format COMMAND ${CLANG_FORMAT} -i ${project_sources})
  add_custom_target(format-check COMMAND ${CLANG_FORMAT} --dry-run --Werror ${project_sources})
endif()
find_program(RUN_CLANG_TIDY run-clang-tidy)
if(RUN_CLANG_TIDY)
  add_custom_target(tidy COMMAND ${RUN_CLANG_TIDY} -quiet -p ${CMAKE_BINARY_DIR} "${PROJECT_SOURCE_DIR}/(src|theorems|scenarios|checker)/.*" VERBATIM)
endif()
find_program(GCOVR gcovr)
if(GCOVR AND PHASELOCK_COVERAGE)
  add_custom_target(coverage
    COMMAND ${CMAKE_CTEST_COMMAND} --output-on-failure
    COMMAND ${GCOVR} --root ${PROJECT_SOURCE_DIR} --filter ${PROJECT_SOURCE_DIR}/src/ --filter ${PROJECT_SOURCE_DIR}/theorems/
            --exclude-throw-branches --fail-under-line 90 --print-summary ${CMAKE_BINARY_DIR}
    USES_TERMINAL)
  add_dependencies(coverage phaselock_tests phaselock)
endif()
