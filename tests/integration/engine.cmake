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
