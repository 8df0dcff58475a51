# What is installed where, by `cmake --install BUILD [--prefix DIR]`, also under $DESTDIR.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # installs what is built; the tests and benchmarks need not be

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
# So are the completions of the shells.
foreach(program cuzkd cuzkctl)
  foreach(shell bash zsh)
    set(script "${manual}/${program}.${shell}")
    add_custom_command(OUTPUT "${script}" COMMAND ${program} --print-completion ${shell} > "${script}"
      DEPENDS ${program} VERBATIM)
    list(APPEND pages "${script}")
  endforeach()
  install(FILES "${manual}/${program}.bash" DESTINATION share/bash-completion/completions RENAME ${program})
  install(FILES "${manual}/${program}.zsh" DESTINATION share/zsh/vendor-completions RENAME _${program})
endforeach()
add_custom_target(manual ALL DEPENDS ${pages})

set(unpacked "${CMAKE_SOURCE_DIR}/systemd")
install(TARGETS cuzkd cuzkctl RUNTIME DESTINATION bin)
install(FILES "${unpacked}/cuzkd.sysusers" DESTINATION lib/sysusers.d RENAME cuzkd.conf)
install(FILES "${unpacked}/cuzkd.tmpfiles" DESTINATION lib/tmpfiles.d RENAME cuzkd.conf)
install(FILES "${manual}/cuzkd.8.gz" DESTINATION share/man/man8)
install(FILES "${manual}/cuzkd.toml.5.gz" DESTINATION share/man/man5)
install(FILES "${manual}/cuzkctl.1.gz" DESTINATION share/man/man1)
install(FILES README.md CHANGELOG.md docs/INSTALL.md docs/CURIO.md docs/RUNNING.md docs/TROUBLESHOOTING.md docs/METRICS.md
        docs/PERFORMANCE.md docs/UPGRADE.md DESTINATION share/doc/cuzkd)
# The board, the alert rules and the balancer's file.
install(DIRECTORY config/ DESTINATION share/doc/cuzkd/examples PATTERN cuzkd.toml EXCLUDE)
# The settings and the unit, which depend on the prefix.
install(CODE "set(CUZK_SETTINGS \"${CMAKE_SOURCE_DIR}/config/cuzkd.toml\")\nset(CUZK_UNIT \"${unpacked}/cuzkd.service\")")
install(SCRIPT "${CMAKE_CURRENT_LIST_DIR}/InstallByPrefix.cmake")
