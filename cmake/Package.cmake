# What is installed where, and the Debian package of it: `./dev package`, or `cpack` in the build folder.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # packs what is built; the tests and benchmarks need not be

# The manual pages are printed by the programs, so they say what the programs do.
set(manual "${CMAKE_BINARY_DIR}/manual")
file(MAKE_DIRECTORY "${manual}")
set(pages)
function(cuzk_manual page program)
  add_custom_command(OUTPUT "${manual}/${page}.gz"
    COMMAND ${program} --print-man ${ARGN} > "${manual}/${page}"
    COMMAND gzip -9nf < "${manual}/${page}" > "${manual}/${page}.gz"
    DEPENDS ${program} VERBATIM)
  set(pages ${pages} "${manual}/${page}.gz" PARENT_SCOPE)
endfunction()
cuzk_manual(cuzkd.8 cuzkd cuzkd)
cuzk_manual(cuzkd.toml.5 cuzkd cuzkd.toml)
cuzk_manual(cuzkctl.1 cuzkctl)
add_custom_target(manual ALL DEPENDS ${pages})

file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/package")
execute_process(COMMAND gzip -9nc "${CMAKE_SOURCE_DIR}/systemd/package/changelog"
                OUTPUT_FILE "${CMAKE_BINARY_DIR}/package/changelog.gz" COMMAND_ERROR_IS_FATAL ANY)

set(unpacked "${CMAKE_SOURCE_DIR}/systemd")
install(TARGETS cuzkd cuzkctl RUNTIME DESTINATION bin)
install(FILES "${unpacked}/cuzkd.service" DESTINATION lib/systemd/system)
install(FILES "${unpacked}/cuzkd.sysusers" DESTINATION lib/sysusers.d RENAME cuzkd.conf)
install(FILES "${unpacked}/cuzkd.tmpfiles" DESTINATION lib/tmpfiles.d RENAME cuzkd.conf)
install(FILES config/cuzkd.toml DESTINATION /etc/cuzkd)
install(FILES "${manual}/cuzkd.8.gz" DESTINATION share/man/man8)
install(FILES "${manual}/cuzkd.toml.5.gz" DESTINATION share/man/man5)
install(FILES "${manual}/cuzkctl.1.gz" DESTINATION share/man/man1)
install(FILES README.md docs/OPERATIONS.md "${unpacked}/package/copyright" "${CMAKE_BINARY_DIR}/package/changelog.gz"
        DESTINATION share/doc/cuzkd)
# The board, the alert rules and the balancer's file.
install(DIRECTORY config/ DESTINATION share/doc/cuzkd/examples PATTERN cuzkd.toml EXCLUDE)
install(FILES "${unpacked}/package/lintian-overrides" DESTINATION share/lintian/overrides RENAME cuzkd)

set(CPACK_GENERATOR DEB)
set(CPACK_SET_DESTDIR ON)  # for /etc
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_NAME cuzkd)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "The cuzkd authors <authors@cuzkd.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Filecoin Groth16 proving daemon")
# The summary goes before it.
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Turns Filecoin vanilla proofs into Groth16 proofs over BLS12-381, for storage
providers who run Curio: PoRep seal commits, SnapDeals updates, WindowPoSt
partitions and WinningPoSt. It serves Curio's interface by gRPC, and proves on
NVIDIA cards where the build and the machine have them, else on the CPU.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# systemd: systemd-sysusers and systemd-tmpfiles, which make the user.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "systemd (>= 252)")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "haproxy, prometheus")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  "${unpacked}/package/postinst" "${unpacked}/package/prerm" "${unpacked}/package/postrm"
  "${unpacked}/package/conffiles")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
include(CPack)
