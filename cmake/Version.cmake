# CUZK_VERSION: the version of the nearest tag (v1.2.3), with the number of commits since and the revision after it where
# there are any (1.2.3+4.g0123abc). Without a tag, such as in an archive of the sources, it is the newest version of
# CHANGELOG.md. CUZK_REVISION: the commit, or "unknown".
execute_process(COMMAND git -C "${CMAKE_SOURCE_DIR}" describe --tags --long --abbrev=7 --match "v[0-9]*"
  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(described MATCHES "^v([0-9]+[.][0-9]+[.][0-9]+)-([0-9]+)-(g[0-9a-f]+)$")
  set(CUZK_RELEASE "${CMAKE_MATCH_1}")
  set(CUZK_VERSION "${CMAKE_MATCH_1}")
  if(NOT CMAKE_MATCH_2 EQUAL 0)
    string(APPEND CUZK_VERSION "+${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
  endif()
else()
  file(STRINGS "${CMAKE_SOURCE_DIR}/CHANGELOG.md" headings REGEX "^## [0-9]+[.][0-9]+[.][0-9]+")
  if(NOT headings MATCHES "^## ([0-9]+[.][0-9]+[.][0-9]+)")
    message(FATAL_ERROR "CHANGELOG.md has no heading with a version")
  endif()
  set(CUZK_RELEASE "${CMAKE_MATCH_1}")
  set(CUZK_VERSION "${CMAKE_MATCH_1}")
endif()
execute_process(COMMAND git -C "${CMAKE_SOURCE_DIR}" rev-parse --short=12 HEAD
  OUTPUT_VARIABLE CUZK_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT CUZK_REVISION)
  set(CUZK_REVISION "unknown")
endif()
