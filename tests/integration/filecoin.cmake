# Recorded requests against recorded witnesses; the production sizes take minutes and run under `long` alone.
add_executable(cuzk_witness_test filecoin_witness_test.cc filecoin_made_test.cc filecoin_parameters_test.cc)
target_link_libraries(cuzk_witness_test PRIVATE
  cuzk::filecoin cuzk::circuit cuzk::groth16 simdjson::simdjson cuzk_test_support GTest::gtest_main)
add_test(NAME witness COMMAND cuzk_witness_test "--gtest_filter=-*Big*")
set_tests_properties(witness PROPERTIES LABELS integration PROCESSORS 2 TIMEOUT 1800)
add_test(NAME witness_big COMMAND cuzk_witness_test "--gtest_filter=*Big*")
set_tests_properties(witness_big PROPERTIES LABELS long PROCESSORS 2 TIMEOUT 7200)
