# CUZK_HAVE_CUDA: whether the CUDA back end is built. Without nvcc the CPU device alone is built, and that is said.
#
# CUZK_CUDA_ARCHITECTURES: the compute capabilities that kernels are compiled for, the last one also as PTX for later
# cards.
#   AUTO   those of this machine's cards, as the driver tells; ALL where it tells of none
#   ALL    every one that is supported; the package is always built so
#   86;89  a list; 86 is capability 8.6
# After this file it holds the list. The compiler's front end runs once for all of them, for the instructions of the
# lowest, and once for PTX; what is assembled for each is two thirds of the time of the slowest source.
set(CUZK_HAVE_CUDA OFF)
set(CUZK_CUDA_ARCHITECTURES "AUTO" CACHE STRING "Compute capabilities to compile kernels for: AUTO, ALL or a list")
set(CUZK_CUDA_SUPPORTED 75 80 86 89 90 100 120)

# The capabilities of the machine's cards, "86;90"; empty where there is no driver or no card.
function(cuzk_cards_here result)
  find_program(CUZK_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(CUZK_NVIDIA_SMI)
  set(capabilities "")
  if(CUZK_NVIDIA_SMI)
    execute_process(COMMAND "${CUZK_NVIDIA_SMI}" --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE said RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed)
      string(REGEX MATCHALL "[0-9]+\\.[0-9]" capabilities "${said}")
      list(TRANSFORM capabilities REPLACE "\\." "")
      list(REMOVE_DUPLICATES capabilities)
    endif()
  endif()
  set(${result} "${capabilities}" PARENT_SCOPE)
endfunction()

# What CUZK_CUDA_ARCHITECTURES stands for, in ascending order.
function(cuzk_cuda_architectures result)
  set(list "${CUZK_CUDA_ARCHITECTURES}")
  if(list STREQUAL "AUTO")
    cuzk_cards_here(list)
    if(NOT list)
      set(list ALL)
    endif()
  endif()
  if(list STREQUAL "ALL")
    set(list ${CUZK_CUDA_SUPPORTED})
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.8)
      message(STATUS "nvcc ${CMAKE_CUDA_COMPILER_VERSION} does not know the capabilities 100 and 120")
      list(REMOVE_ITEM list 100 120)
    endif()
  endif()
  list(SORT list COMPARE NATURAL)
  foreach(capability IN LISTS list)
    if(NOT capability MATCHES "^[0-9]+$" OR capability LESS 75)
      message(FATAL_ERROR "CUZK_CUDA_ARCHITECTURES: ${capability} is not AUTO, ALL or a capability from 75 (7.5) on")
    endif()
  endforeach()
  set(${result} "${list}" PARENT_SCOPE)
endfunction()

if(NOT CUZK_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES OFF)  # the flags below say it
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    cuzk_cuda_architectures(CUZK_CUDA_ARCHITECTURES)
    list(GET CUZK_CUDA_ARCHITECTURES 0 lowest)
    list(GET CUZK_CUDA_ARCHITECTURES -1 last)
    list(TRANSFORM CUZK_CUDA_ARCHITECTURES PREPEND "sm_" OUTPUT_VARIABLE code)
    list(JOIN code "," code)
    string(APPEND CMAKE_CUDA_FLAGS " --generate-code=arch=compute_${lowest},code=[${code}]"
                                   " --generate-code=arch=compute_${last},code=[compute_${last}] --threads=0")
    # Debian 12's CMake does not know yet that nvcc 12 and later speak C++20.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    find_package(CUDAToolkit REQUIRED)
    set(CUZK_HAVE_CUDA ON)
    list(JOIN CUZK_CUDA_ARCHITECTURES " " said)
    message(STATUS "kernels for the capabilities ${said}")
  elseif(CUZK_CUDA STREQUAL "ON" OR "$ENV{CUZK_REQUIRE_CUDA}" STREQUAL "1")
    message(FATAL_ERROR "the CUDA back end was asked for, but nvcc was not found")
  else()
    message(STATUS "no nvcc: building the CPU device alone")
  endif()
endif()
