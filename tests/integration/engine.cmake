add_executable(cuzk_engine_proof_test engine_proof_test.cc)
target_link_libraries(cuzk_engine_proof_test PRIVATE
  cuzk::engine cuzk::filecoin cuzk::prover cuzk_test_support GTest::gtest_main)
target_compile_definitions(cuzk_engine_proof_test PRIVATE CUZK_TEST_PARAMETERS="${CUZK_TEST_PARAMETERS}")
add_test(NAME engine_small_proofs COMMAND cuzk_engine_proof_test "--gtest_filter=*Small*")
set_tests_properties(engine_small_proofs PROPERTIES LABELS integration PROCESSORS 2 TIMEOUT 1800
                     FIXTURES_REQUIRED "parameters_window;parameters_winning")
add_test(NAME engine_all_proofs COMMAND cuzk_engine_proof_test "--gtest_filter=*All*")
set_tests_properties(engine_all_proofs PROPERTIES LABELS integration PROCESSORS 2 TIMEOUT 1800
                     FIXTURES_REQUIRED "parameters_window;parameters_winning;parameters_snap;parameters_porep")
add_test(NAME engine_allocations COMMAND cuzk_engine_proof_test "--gtest_filter=*Allocation*")
set_tests_properties(engine_allocations PROPERTIES LABELS long PROCESSORS 2 TIMEOUT 3600
                     FIXTURES_REQUIRED "parameters_window;parameters_winning")

# A thousand jobs; CUZK_STORM_JOBS asks for another number.
add_executable(cuzk_engine_storm_test engine_storm_test.cc ../unit/engine/storm.cc)
target_link_libraries(cuzk_engine_storm_test PRIVATE
  cuzk::engine cuzk::filecoin cuzk::prover cuzk_test_doubles cuzk_test_support GTest::gtest_main)
target_compile_definitions(cuzk_engine_storm_test PRIVATE CUZK_TEST_PARAMETERS="${CUZK_TEST_PARAMETERS}")
add_test(NAME engine_storm COMMAND cuzk_engine_storm_test)
set_tests_properties(engine_storm PROPERTIES LABELS long PROCESSORS 2 TIMEOUT 7200
                     FIXTURES_REQUIRED "parameters_window;parameters_winning;parameters_snap;parameters_porep")
# Two hundred kills of a process that proves and stores.
add_test(NAME engine_kills COMMAND cuzk_engine_test "--gtest_filter=*KilledAtRandomMoments*")
set_tests_properties(engine_kills PROPERTIES LABELS long TIMEOUT 3600 ENVIRONMENT CUZK_STORE_KILLS=200)
