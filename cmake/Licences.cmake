# The licences of what CUZK_STATIC makes part of the programs, gathered into build/.../package/licences: the copyright file
# of each package whose archive or header is used. Needs dpkg, as the package does.
set(licences "${CMAKE_BINARY_DIR}/package/licences")
file(REMOVE_RECURSE "${licences}")
file(MAKE_DIRECTORY "${licences}")

get_property(archives GLOBAL PROPERTY CUZK_LINKED_ARCHIVES)
list(FILTER archives EXCLUDE REGEX "libg(test|mock)|libbenchmark|libprotoc[.]")
foreach(name libstdc++.a libgcc_eh.a libc_nonshared.a)  # of the compiler and of glibc
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=${name} OUTPUT_VARIABLE path
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND archives "${path}")
endforeach()
# Headers alone: spdlog, fmt, toml++, CLI11.
set(headers /usr/include/spdlog/spdlog.h /usr/include/fmt/core.h "${CUZK_TOMLPLUSPLUS}/toml++/toml.h"
    /usr/include/CLI/CLI.hpp)
set(files ${archives} ${headers})
set(real)
foreach(file ${files})
  get_filename_component(file "${file}" REALPATH)
  list(APPEND real "${file}")
endforeach()
list(REMOVE_DUPLICATES real)
execute_process(COMMAND dpkg-query -S ${real} OUTPUT_VARIABLE owners OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "(:[a-z0-9]+)?: [^\n]*" "" owners "${owners}")
string(REPLACE "\n" ";" owners "${owners}")
list(REMOVE_DUPLICATES owners)
foreach(owner ${owners})
  get_filename_component(copyright "/usr/share/doc/${owner}/copyright" REALPATH)
  configure_file("${copyright}" "${licences}/${owner}" COPYONLY)
endforeach()
get_property(sources GLOBAL PROPERTY CUZK_LINKED_SOURCES)
foreach(source ${sources})
  configure_file("${CUZK_SOURCES}/${source}/debian/copyright" "${licences}/${source}" COPYONLY)
endforeach()
if(CUZK_HAVE_CUDA)
  file(WRITE "${licences}/cuda" "The programs hold parts of the NVIDIA CUDA Toolkit ${CMAKE_CUDA_COMPILER_VERSION}, "
    "its static runtime library libcudart_static.a, which attachment A of its end user licence agreement lets be distributed:\n"
    "https://docs.nvidia.com/cuda/eula/\n")
endif()
