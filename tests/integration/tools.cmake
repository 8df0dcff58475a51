# The operator's tools: what cuzkctl shows, the package, the balancer, the commands of the documents.
add_library(cuzk_cuda_driver SHARED tools_cuda_driver.cc)
set_target_properties(cuzk_cuda_driver PROPERTIES OUTPUT_NAME cuda SOVERSION 1
                      LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/doubles")
target_link_libraries(cuzk_cuda_driver PRIVATE cuzk_flags)

cuzk_daemon_test(tools_command_test ARGUMENTS "${CMAKE_BINARY_DIR}/doubles"
                 FIXTURES ${parameters})                                              # tools_command_test.py
cuzk_daemon_test(tools_top_test FIXTURES ${parameters})                               # tools_top_test.py
cuzk_daemon_test(tools_tour_test ARGUMENTS "${CMAKE_SOURCE_DIR}" FIXTURES ${parameters})  # tools_tour_test.py
# The package is made once, of the programs that are built.
set(package "${CMAKE_BINARY_DIR}/test_package")
add_test(NAME tools_package_made COMMAND "${CMAKE_CPACK_COMMAND}" --config "${CMAKE_BINARY_DIR}/CPackConfig.cmake"
         -B "${package}")
set_tests_properties(tools_package_made PROPERTIES LABELS "integration;long" FIXTURES_SETUP package TIMEOUT 1800)
cuzk_daemon_test(tools_package_test ARGUMENTS "${CMAKE_SOURCE_DIR}" "${package}" FIXTURES package)  # tools_package_test.py
cuzk_daemon_test(tools_balancer_test ARGUMENTS "${CMAKE_SOURCE_DIR}" FIXTURES parameters_winning)  # tools_balancer_test.py
cuzk_daemon_test(tools_operations_test ARGUMENTS "${CMAKE_SOURCE_DIR}" "${package}"
                 FIXTURES parameters_winning package)                                 # tools_operations_test.py
# A machine of its own, made with debootstrap from the mirror in /etc/apt.
cuzk_daemon_test(tools_machine_test ARGUMENTS "${package}" FIXTURES package)          # tools_machine_test.py
set_tests_properties(tools_machine_test PROPERTIES LABELS long)
