# The Debian package and the tarball: `./dev package`, or `cpack` in the build folder. Both hold the same files, and need
# glibc 2.34 or later and systemd.
include(Licences)
set(package "${CMAKE_BINARY_DIR}/package")
execute_process(COMMAND date -R "-d@$ENV{SOURCE_DATE_EPOCH}" OUTPUT_VARIABLE CUZK_DATE ERROR_QUIET
                OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT CUZK_DATE)
  execute_process(COMMAND git -C "${CMAKE_SOURCE_DIR}" log -1 --format=%cD OUTPUT_VARIABLE CUZK_DATE ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT CUZK_DATE)
  execute_process(COMMAND date -R OUTPUT_VARIABLE CUZK_DATE OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
configure_file("${unpacked}/package/changelog.in" "${package}/changelog" @ONLY)
execute_process(COMMAND gzip -9nf "${package}/changelog" COMMAND_ERROR_IS_FATAL ANY)
install(FILES "${unpacked}/package/copyright" "${package}/changelog.gz" DESTINATION share/doc/cuzkd)
install(DIRECTORY "${licences}" DESTINATION share/doc/cuzkd)
install(FILES "${unpacked}/package/lintian-overrides" DESTINATION share/lintian/overrides RENAME cuzkd)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_SET_DESTDIR ON)  # for /etc
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_NAME cuzkd)
set(CPACK_PACKAGE_VERSION "${CUZK_VERSION}")
set(CPACK_PACKAGE_CONTACT "The cuzkd authors <authors@cuzkd.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Filecoin Groth16 proving daemon")
# The summary goes before it.
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Turns Filecoin vanilla proofs into Groth16 proofs over BLS12-381, for storage
providers who run Curio: PoRep seal commits, SnapDeals updates, WindowPoSt
partitions and WinningPoSt. It serves Curio's interface by gRPC, and proves on
NVIDIA cards where the build and the machine have them, else on the CPU.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
# glibc is the floor of cmake/static/glibc_floor.cc, which a test holds; systemd has systemd-sysusers and
# systemd-tmpfiles, which make the user.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.34), systemd (>= 249)")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "haproxy, prometheus")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  "${unpacked}/package/postinst" "${unpacked}/package/prerm" "${unpacked}/package/postrm"
  "${unpacked}/package/conffiles")
# The tarball has its script beside the files.
set(CPACK_PACKAGE_FILE_NAME "cuzkd-${CUZK_VERSION}-linux-x86_64")
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/PackTarball.cmake")
set(CPACK_CUZK_INSTALL_SCRIPT "${unpacked}/tarball/install.sh")
set(CPACK_CUZK_LICENCES "${CMAKE_SOURCE_DIR}/LICENSE" "${CMAKE_SOURCE_DIR}/LICENSE-APACHE" "${CMAKE_SOURCE_DIR}/LICENSE-MIT")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
include(CPack)
