# Run while installing: the settings (CUZK_SETTINGS) and the unit (CUZK_UNIT). Under /usr and /usr/local the settings are
# in /etc, where the programs look for them; another prefix has its own etc, which the unit names. Settings that are there
# already are the operator's.
string(REGEX REPLACE "(.)/+$" "\\1" prefix "${CMAKE_INSTALL_PREFIX}")
set(program "${prefix}/bin/cuzkd")
if(prefix MATCHES "^/usr(/local)?$")
  set(settings "/etc/cuzkd")
else()
  set(settings "${prefix}/etc/cuzkd")
  string(APPEND program " --config ${settings}/cuzkd.toml")
endif()

if(EXISTS "$ENV{DESTDIR}${settings}/cuzkd.toml")
  message(STATUS "Kept: $ENV{DESTDIR}${settings}/cuzkd.toml")
else()
  file(INSTALL "${CUZK_SETTINGS}" DESTINATION "${settings}")
endif()

file(READ "${CUZK_UNIT}" unit)
string(REPLACE "ExecStart=/usr/bin/cuzkd\n" "ExecStart=${program}\n" unit "${unit}")
if(NOT unit MATCHES "\nExecStart=${prefix}/bin/cuzkd")
  message(FATAL_ERROR "${CUZK_UNIT} has no line ExecStart=/usr/bin/cuzkd")
endif()
set(folder "$ENV{DESTDIR}${prefix}/lib/systemd/system")
file(MAKE_DIRECTORY "${folder}")
file(WRITE "${folder}/cuzkd.service" "${unit}")
file(CHMOD "${folder}/cuzkd.service" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
message(STATUS "Installing: ${folder}/cuzkd.service")
