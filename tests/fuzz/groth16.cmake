cuzk_fuzz(groth16_parameters LINK cuzk::groth16 CORPUS "${CMAKE_SOURCE_DIR}/tests/vectors/groth16/toy.params")
