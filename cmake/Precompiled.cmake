# The headers of other libraries that nearly every source includes are compiled once for all sources with the same flags:
# reading them was half of the time of most sources. Headers of the project are not among them, so that a room still sees
# the rooms that it links alone.
#
# Off for Clang: it is there to find what a source forgets to include, and its tools read a GCC build's commands.
option(CUZK_PRECOMPILE "Compile the headers of other libraries once (GCC)" ON)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CUZK_PRECOMPILE OFF)
endif()

# What a room marked COLD, a test, and a test marked COLD are compiled with: most of the time of a build was the optimizer's
# in code that is quick without it. A build for a debugger keeps its own level.
set(CUZK_COLD_OPTIONS)
set(CUZK_TEST_OPTIONS)
set(CUZK_COLD_TEST_OPTIONS)
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(CUZK_COLD_OPTIONS -O1)
  if(CUZK_SANITIZE)
    set(CUZK_COLD_OPTIONS -O0)
  endif()
  # At this level GCC 12 takes Abseil's inlined vectors for uninitialized.
  set(CUZK_TEST_OPTIONS -O1 $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  set(CUZK_COLD_TEST_OPTIONS -O0)
endif()

set(CUZK_STANDARD_HEADERS
  <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cstdint> <cstring> <deque> <filesystem> <fstream> <functional>
  <future> <map> <memory> <mutex> <optional> <set> <shared_mutex> <span> <stop_token> <string> <string_view>
  <system_error> <thread> <utility> <variant> <vector>
  "<absl/base/thread_annotations.h>" "<absl/status/status.h>" "<absl/status/statusor.h>" "<absl/strings/str_cat.h>")

# cuzk_headers(tests HEADERS <gtest/gtest.h> LINK GTest::gtest OPTIONS -O1): the standard headers and these.
function(cuzk_headers name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK;OPTIONS" ${ARGN})
  if(NOT CUZK_PRECOMPILE)
    return()
  endif()
  set(source "${CMAKE_BINARY_DIR}/headers/${name}.cc")
  if(NOT EXISTS "${source}")
    file(WRITE "${source}" "")
  endif()
  add_library(cuzk_headers_${name} OBJECT "${source}")
  target_link_libraries(cuzk_headers_${name} PRIVATE cuzk_flags absl::status absl::statusor absl::strings ${ARG_LINK})
  target_compile_options(cuzk_headers_${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(cuzk_headers_${name} PRIVATE ${CUZK_STANDARD_HEADERS} ${ARG_HEADERS})
endfunction()

# The target is compiled with these headers; its flags must be theirs.
function(cuzk_use_headers target name)
  if(TARGET cuzk_headers_${name})
    target_precompile_headers(${target} REUSE_FROM cuzk_headers_${name})
    # What ccache needs to see through them.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endfunction()

cuzk_headers(hot)
cuzk_headers(cold OPTIONS ${CUZK_COLD_OPTIONS})
# Those of COLD rooms; a folder may set its own.
set(CUZK_COLD_HEADERS cold)
