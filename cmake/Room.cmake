# A room is one folder, one static library and one include root. The include root holds a link to that folder alone,
# so a room can include only itself and the rooms it links: the arrows of docs/ARCHITECTURE.md are enforced here, and
# tests/integration/house_test.py reads every #include as well. A room inside a room is a room of its own, whose target is
# named after both: core/algebra/field is cuzk::algebra_field.
#
#   cuzk_room(core/algebra/curve SOURCES curve.cc ... PUBLIC cuzk::algebra_field PRIVATE OpenSSL::Crypto)
#
# COLD: nothing in it is worth optimizing (Precompiled.cmake).
# SOURCES are relative to the room's folder, also where the call stands in the CMakeLists.txt of the room around it.
function(cuzk_room path)
  cmake_parse_arguments(ARG "COLD" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  string(REGEX REPLACE "^core/" "" name "${path}")
  string(REPLACE "/" "_" name "${name}")
  set(root "${CMAKE_BINARY_DIR}/rooms/${name}")
  get_filename_component(parent "${root}/${path}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/${path}" "${root}/${path}" SYMBOLIC)
  if(ARG_SOURCES)
    set(sources)
    foreach(source ${ARG_SOURCES})
      if(NOT IS_ABSOLUTE "${source}")
        set(source "${CMAKE_SOURCE_DIR}/${path}/${source}")
      endif()
      list(APPEND sources "${source}")
    endforeach()
    add_library(cuzk_${name} STATIC ${sources})
    target_include_directories(cuzk_${name} PUBLIC "${root}")
    target_link_libraries(cuzk_${name} PUBLIC cuzk_flags ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
    if(ARG_COLD)
      target_compile_options(cuzk_${name} PRIVATE ${CUZK_COLD_OPTIONS})
      cuzk_use_headers(cuzk_${name} ${CUZK_COLD_HEADERS})
    else()
      cuzk_use_headers(cuzk_${name} hot)
    endif()
  else()
    add_library(cuzk_${name} INTERFACE)
    target_include_directories(cuzk_${name} INTERFACE "${root}")
    target_link_libraries(cuzk_${name} INTERFACE cuzk_flags ${ARG_PUBLIC})
  endif()
  add_library(cuzk::${name} ALIAS cuzk_${name})
endfunction()

# A room that is nothing but the rooms inside it.
function(cuzk_room_of path)
  string(REGEX REPLACE "^core/" "" name "${path}")
  string(REPLACE "/" "_" name "${name}")
  add_library(cuzk_${name} INTERFACE)
  target_link_libraries(cuzk_${name} INTERFACE ${ARGN})
  add_library(cuzk::${name} ALIAS cuzk_${name})
endfunction()
