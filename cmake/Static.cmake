# CUZK_STATIC: the libraries are part of the programs, which then need glibc 2.34 or later and nothing else, so that one
# package runs on every distribution. The archives are those of the distribution's -dev packages. Where it has none
# (prometheus-cpp, and simdjson on Debian 12) the library is compiled from the distribution's own source
# package, which `./dev` unpacks into CUZK_SOURCES.
set(CUZK_SOURCES "${CMAKE_SOURCE_DIR}/build/sources" CACHE PATH "Source packages of libraries that have no archive")
enable_language(C)

# NAME ALIAS SOURCES...: an archive of what no distribution has one of. Its warnings are not ours.
function(cuzk_archive name alias folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;PRIVATE_INCLUDE;DEFINITIONS" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND "${CUZK_SOURCES}/${folder}/")
  list(TRANSFORM ARG_PRIVATE_INCLUDE PREPEND "${CUZK_SOURCES}/${folder}/")
  file(GLOB sources ${ARG_SOURCES})
  if(NOT sources)
    message(FATAL_ERROR "CUZK_STATIC needs the source of ${folder} in ${CUZK_SOURCES}: `./dev package` puts it there")
  endif()
  add_library(${name} STATIC ${sources})
  add_library(${alias} ALIAS ${name})
  target_include_directories(${name} PRIVATE ${ARG_PRIVATE_INCLUDE})
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINITIONS})
  target_compile_options(${name} PRIVATE -w)
  target_link_libraries(${name} PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
  set_property(GLOBAL APPEND PROPERTY CUZK_LINKED_SOURCES "${folder}")
endfunction()

# The headers are the installed ones.
cuzk_archive(cuzk_prometheus prometheus-cpp::core prometheus-cpp
  SOURCES core/src/*.cc core/src/detail/*.cc PRIVATE_INCLUDE core/src)
find_library(CUZK_SIMDJSON_ARCHIVE NAMES libsimdjson_static.a libsimdjson.a)
if(CUZK_SIMDJSON_ARCHIVE)
  add_library(simdjson::simdjson UNKNOWN IMPORTED)
  set_target_properties(simdjson::simdjson PROPERTIES IMPORTED_LOCATION "${CUZK_SIMDJSON_ARCHIVE}")
else()
  cuzk_archive(cuzk_simdjson simdjson::simdjson simdjson SOURCES src/simdjson.cpp PRIVATE_INCLUDE include src)
endif()

# What an archive needs of others, where the package describes its shared library alone, which knows that itself.
function(cuzk_archive_needs target)
  if(TARGET ${target})
    foreach(library ${ARGN})
      if(TARGET ${library} OR NOT library MATCHES "::")
        set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${library})
      endif()
    endforeach()
  endif()
endfunction()
find_library(CUZK_ZSTD_ARCHIVE NAMES libzstd.a)  # OpenSSL of Debian 13
cuzk_archive_needs(OpenSSL::Crypto Threads::Threads ${CMAKE_DL_LIBS})
if(CUZK_ZSTD_ARCHIVE)
  cuzk_archive_needs(OpenSSL::Crypto ZLIB::ZLIB ${CUZK_ZSTD_ARCHIVE})
endif()
cuzk_archive_needs(protobuf::libprotobuf ZLIB::ZLIB Threads::Threads)
cuzk_archive_needs(SQLite::SQLite3 m Threads::Threads ${CMAKE_DL_LIBS})
cuzk_archive_needs(re2::re2 absl::base absl::fixed_array absl::flat_hash_map absl::flat_hash_set absl::inlined_vector
                   absl::optional absl::span absl::str_format absl::strings absl::synchronization
                   absl::log absl::absl_log absl::check absl::absl_check)

# Every imported target that is a shared library becomes the archive beside it, and what has none is told: only the tests
# and benchmarks may link that.
get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
set(shared "")
foreach(target ${imported})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY" OR type STREQUAL "EXECUTABLE")
    continue()
  endif()
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  foreach(suffix "" _NONE _RELEASE _RELWITHDEBINFO ${configurations})
    string(REGEX REPLACE "^([^_])" "_\\1" suffix "${suffix}")
    get_target_property(location ${target} IMPORTED_LOCATION${suffix})
    if(NOT location MATCHES "[.]so[.0-9]*$")
      continue()
    endif()
    string(REGEX REPLACE "[.]so[.0-9]*$" ".a" archive "${location}")
    if(EXISTS "${archive}")
      set_property(TARGET ${target} PROPERTY IMPORTED_LOCATION${suffix} "${archive}")
      set_property(GLOBAL APPEND PROPERTY CUZK_LINKED_ARCHIVES "${archive}")
    else()
      list(APPEND shared ${target})
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES shared)
string(REPLACE ";" " " shared "${shared}")
message(STATUS "libraries without an archive, for tests and benchmarks alone: ${shared}")

# What the programs link beside their rooms.
add_library(cuzk_glibc_floor OBJECT "${CMAKE_CURRENT_LIST_DIR}/static/glibc_floor.cc")
target_link_libraries(cuzk_glibc_floor PRIVATE cuzk_flags)
