# Run by CPack before it packs: what the tarball has and the Debian package has not.
if(CPACK_GENERATOR STREQUAL "TGZ")
  # The licences of others refer to texts that every Debian has; that of Apache is the only one that asks to be handed on.
  file(COPY "${CPACK_CUZK_INSTALL_SCRIPT}" ${CPACK_CUZK_LICENCES} DESTINATION "${CPACK_TEMPORARY_DIRECTORY}")
  file(REMOVE_RECURSE "${CPACK_TEMPORARY_DIRECTORY}/usr/share/lintian")
endif()
