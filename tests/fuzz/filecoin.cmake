set(vectors "${CMAKE_SOURCE_DIR}/tests/vectors/filecoin")
cuzk_fuzz(filecoin_c1 LINK cuzk::filecoin CORPUS "${vectors}/porep/2KiB-v1_1-1000-84/c1.json")
cuzk_fuzz(filecoin_post LINK cuzk::filecoin CORPUS
  "${vectors}/window/2KiB-window_v1_2-1000-1of1-part0/vanilla-85.bin"
  "${vectors}/winning/2KiB-winning-1000-a/vanilla-149.bin")
cuzk_fuzz(filecoin_update LINK cuzk::filecoin CORPUS
  "${vectors}/snap/2KiB-snap-1000-85/partition-0.bin"
  "${vectors}/snap/8MiB-snap-1000-98/partition-2.bin")
