# Parameter files are made once per build folder, in ${CUZK_TEST_PARAMETERS}, and shared by every test that names one of
# the fixtures parameters_window, parameters_winning, parameters_snap, parameters_porep (2 KiB; 11, 47, 656, 1115 MB),
# parameters_window_8MiB, parameters_winning_8MiB (31, 113 MB).
set(CUZK_TEST_PARAMETERS "${CMAKE_BINARY_DIR}/parameters")

add_executable(cuzk_test_parameters prover_parameters.cc)
target_link_libraries(cuzk_test_parameters PRIVATE cuzk::filecoin cuzk::circuit cuzk::groth16)
# `./dev device` carries it with its shared libraries beside it.
set_target_properties(cuzk_test_parameters PROPERTIES BUILD_RPATH "$ORIGIN" BUILD_RPATH_USE_ORIGIN ON)
target_compile_definitions(cuzk_test_parameters PRIVATE CUZK_VECTORS="${CMAKE_SOURCE_DIR}/tests/vectors")
foreach(kind window winning snap porep)
  add_test(NAME parameters_${kind} COMMAND cuzk_test_parameters "${CUZK_TEST_PARAMETERS}" ${kind} 2KiB)
  set_tests_properties(parameters_${kind} PROPERTIES LABELS integration FIXTURES_SETUP parameters_${kind}
                       PROCESSORS 2 RESOURCE_LOCK prover TIMEOUT 1800)
endforeach()

add_executable(cuzk_proof_test prover_proof_test.cc)
target_link_libraries(cuzk_proof_test PRIVATE
  cuzk::filecoin cuzk::circuit cuzk::prover simdjson::simdjson cuzk_test_support GTest::gtest_main)
target_compile_definitions(cuzk_proof_test PRIVATE CUZK_TEST_PARAMETERS="${CUZK_TEST_PARAMETERS}")
foreach(kind Window Winning)
  string(TOLOWER ${kind} lower)
  set(parameters parameters_${lower}_8MiB)
  add_test(NAME ${parameters} COMMAND cuzk_test_parameters "${CUZK_TEST_PARAMETERS}" ${lower} 8MiB)
  set_tests_properties(${parameters} PROPERTIES LABELS integration FIXTURES_SETUP ${parameters}
                       PROCESSORS 2 RESOURCE_LOCK prover TIMEOUT 1800)
  add_test(NAME proof_${lower}_8MiB COMMAND cuzk_proof_test "--gtest_filter=*${kind}8MiB*")
  set_tests_properties(proof_${lower}_8MiB PROPERTIES LABELS integration FIXTURES_REQUIRED ${parameters}
                       PROCESSORS 2 RESOURCE_LOCK prover TIMEOUT 1800)
endforeach()
foreach(kind Window Winning Snap Porep)
  string(TOLOWER ${kind} lower)
  add_test(NAME proof_${lower} COMMAND cuzk_proof_test "--gtest_filter=*${kind}2KiB*")
  set_tests_properties(proof_${lower} PROPERTIES LABELS integration FIXTURES_REQUIRED parameters_${lower}
                       PROCESSORS 2 RESOURCE_LOCK prover TIMEOUT 1800)
endforeach()
