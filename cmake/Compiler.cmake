# One set of compiler flags for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CUZK_CCACHE ccache)
if(CUZK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers (Precompiled.cmake) are known by what they hold, not by when they were made.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${CUZK_CCACHE}")
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${CUZK_CCACHE}")
endif()

# Every provider's processor of the last ten years has AVX2, BMI2 and ADX; the programs check at start-up.
# Wider instructions are chosen at run time, in translation units of their own.
set(CUZK_CXX_FLAGS -march=x86-64-v3 -madx)
# For the files that begin with the lanes of AVX-512 IFMA alone (set_source_files_properties). GCC 12 takes the undefined
# inputs of its own intrinsics for uninitialized variables.
set(CUZK_IFMA_FLAGS -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx512ifma -Wno-uninitialized)
# Errors never in a user's build: a later compiler warns of more.
set(CUZK_CXX_WARNINGS -Wall -Wextra $<$<BOOL:${CUZK_WERROR}>:-Werror> -Wno-missing-field-initializers -Wno-psabi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND CUZK_IFMA_FLAGS -Wno-maybe-uninitialized)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
if(CUZK_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
endif()

add_library(cuzk_flags INTERFACE)
target_compile_options(cuzk_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:${CUZK_CXX_FLAGS}> $<$<COMPILE_LANGUAGE:CXX>:${CUZK_CXX_WARNINGS}>)
if(CUZK_SANITIZE)
  # The sanitizers' own branches make GCC see uses of uninitialized memory that are not there.
  target_compile_options(cuzk_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_compile_options(cuzk_flags INTERFACE -fsanitize=${CUZK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(cuzk_flags INTERFACE -fsanitize=${CUZK_SANITIZE})
endif()
