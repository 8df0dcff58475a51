# The daemon with a device that misbehaves, and the tests of the daemon's manners. Included where cuzkd is built.
add_executable(cuzk_faulty_daemon net_faulty_daemon.cc)
target_link_libraries(cuzk_faulty_daemon PRIVATE cuzk::daemon cuzk_test_doubles)

cuzk_daemon_test(net_tls_test ARGUMENTS "${modules}" FIXTURES ${parameters} grpcjs)         # net_tls_test.py
cuzk_daemon_test(net_reload_test FIXTURES ${parameters})                                    # net_reload_test.py
cuzk_daemon_test(net_supervision_test FIXTURES ${parameters})                               # net_supervision_test.py
cuzk_daemon_test(net_manners_test ARGUMENTS "${modules}" FIXTURES ${parameters} grpcjs)     # net_manners_test.py
cuzk_daemon_test(net_log_test FIXTURES ${parameters})                                       # net_log_test.py
cuzk_daemon_test(net_unit_test ARGUMENTS "${CMAKE_SOURCE_DIR}")                             # net_unit_test.py
cuzk_daemon_test(contract_rows_test ARGUMENTS "${modules}" FIXTURES ${parameters} grpcjs)   # contract_rows_test.py
