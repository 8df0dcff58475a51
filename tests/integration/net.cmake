# The daemon with a device that misbehaves, and the tests of the daemon's manners. Included where cuzkd is built.
add_executable(cuzk_faulty_daemon net_faulty_daemon.cc)
target_link_libraries(cuzk_faulty_daemon PRIVATE cuzk::daemon cuzk_test_doubles)
add_library(cuzk_nvml SHARED net_nvml.cc)
set_target_properties(cuzk_nvml PROPERTIES OUTPUT_NAME nvidia-ml SOVERSION 1
                      LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/doubles")
target_link_libraries(cuzk_nvml PRIVATE cuzk_flags)
add_library(cuzk_few_threads SHARED net_threads.cc)
set_target_properties(cuzk_few_threads PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/doubles")
target_link_libraries(cuzk_few_threads PRIVATE cuzk_flags ${CMAKE_DL_LIBS})

cuzk_daemon_test(net_tls_test ARGUMENTS "${modules}" FIXTURES ${parameters} grpcjs)         # net_tls_test.py
cuzk_daemon_test(net_reload_test FIXTURES ${parameters})                                    # net_reload_test.py
cuzk_daemon_test(net_supervision_test FIXTURES ${parameters})                               # net_supervision_test.py
cuzk_daemon_test(net_manners_test ARGUMENTS "${modules}" FIXTURES ${parameters} grpcjs)     # net_manners_test.py
cuzk_daemon_test(net_viewers_test ARGUMENTS "${modules}" FIXTURES ${parameters} grpcjs)     # net_viewers_test.py
cuzk_daemon_test(net_threads_test ARGUMENTS "$<TARGET_FILE:cuzk_few_threads>" "${modules}"  # net_threads_test.py
                 FIXTURES ${parameters} grpcjs)
cuzk_daemon_test(engine_store_test FIXTURES ${parameters})                                  # engine_store_test.py
cuzk_daemon_test(net_log_test FIXTURES ${parameters})                                       # net_log_test.py
cuzk_daemon_test(net_xid_test ARGUMENTS "${CMAKE_BINARY_DIR}/doubles")                      # net_xid_test.py
cuzk_daemon_test(net_unit_test ARGUMENTS "${CMAKE_SOURCE_DIR}")                             # net_unit_test.py
cuzk_daemon_test(contract_rows_test ARGUMENTS "${modules}" FIXTURES ${parameters} grpcjs)   # contract_rows_test.py
# As many ended jobs as the row says.
add_test(NAME contract_rows_many COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/contract_rows_test.py"
         "${bin}" "${vectors}" "${CUZK_TEST_PARAMETERS}" "${modules}" Rows.test_S08_ended_jobs_are_bounded)
set_tests_properties(contract_rows_many PROPERTIES LABELS long FIXTURES_REQUIRED "${parameters};grpcjs" PROCESSORS 2
                     TIMEOUT 3600 ENVIRONMENT CUZK_TINY_JOBS=100000)
