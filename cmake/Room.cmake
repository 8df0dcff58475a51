# A room is one folder, one static library and one include root. The include root holds a link to that folder alone,
# so a room can include only itself and the rooms it links: the arrows of docs/ARCHITECTURE.md are enforced here, and
# tests/integration/house_test.py reads every #include as well.
#
#   cuzk_room(core/algebra SOURCES fr.cc ... PUBLIC cuzk::base PRIVATE OpenSSL::Crypto)
function(cuzk_room path)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  get_filename_component(name ${path} NAME)
  set(root "${CMAKE_BINARY_DIR}/rooms/${name}")
  get_filename_component(parent "${root}/${path}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/${path}" "${root}/${path}" SYMBOLIC)
  if(ARG_SOURCES)
    add_library(cuzk_${name} STATIC ${ARG_SOURCES})
    target_include_directories(cuzk_${name} PUBLIC "${root}")
    target_link_libraries(cuzk_${name} PUBLIC cuzk_flags ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  else()
    add_library(cuzk_${name} INTERFACE)
    target_include_directories(cuzk_${name} INTERFACE "${root}")
    target_link_libraries(cuzk_${name} INTERFACE cuzk_flags ${ARG_PUBLIC})
  endif()
  add_library(cuzk::${name} ALIAS cuzk_${name})
endfunction()
