# What operators look at: alert rules and board, metrics, the live page in a browser.
cuzk_daemon_test(view_alerts_test ARGUMENTS "${CMAKE_SOURCE_DIR}")                          # view_alerts_test.py
cuzk_daemon_test(view_metrics_test ARGUMENTS "${CMAKE_SOURCE_DIR}" FIXTURES ${parameters})  # view_metrics_test.py
cuzk_daemon_test(view_page_test FIXTURES ${parameters})                                     # view_page_test.py
set_tests_properties(view_alerts_test PROPERTIES PROCESSORS 1)
