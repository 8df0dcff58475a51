// Whole partitions of production size on one card, with parameters made there. Every proof is verified.
//
//   cuzk_device_partitions REQUEST [WORD ...]      REQUEST: a request directory, or KIND:SIZE, which is made on the
//   spot cuzk_device_partitions mixed FOLDER TIMES      TIMES proofs of all 2 KiB requests below FOLDER in turn
//
//   pipeline=N   N partitions written while two workers prove
//   two=N one=N  N partitions from kept witnesses, by two workers and by one
//   plain=N      the same with two workers in the plain layout
//   pageable=N   the same with one worker from ordinary memory
//   read         copying and widening one partition, in both layouts
//   copies       copies of the plain layout's rows beside idle and busy processors, page-locked and pageable
//   capped=G,W,N N partitions by W workers with G GB of device memory; the last words
//   file=FOLDER  a parameter file made with the card; then loaded, and one partition proved

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/device/partition_trials.h"

namespace cuzk::gpu::testing {
namespace {

Status RunCapped(Trials& trials, const std::string& value) {
  CUZK_ASSIGN_OR_RETURN(const CappedTrial trial, CappedTrial::Parse(value));
  return trials.Capped(trial);
}

Status Run(const std::string& request, const std::vector<std::pair<std::string, std::string>>& words) {
  CUZK_ASSIGN_OR_RETURN(auto trials, Trials::Make(request));
  for (const auto& [word, value] : words) {
    std::printf("== %s %s\n", word.c_str(), value.c_str());
    const auto times = static_cast<uint32_t>(std::atoi(value.c_str()));
    Status status;
    if (word == "pipeline")
      status = trials->Pipeline(times);
    else if (word == "two")
      status = trials->Kept(r1cs::Layout::kNarrow, 2, times);
    else if (word == "one")
      status = trials->Kept(r1cs::Layout::kNarrow, 1, times);
    else if (word == "plain")
      status = trials->Kept(r1cs::Layout::kPlain, 2, times);
    else if (word == "pageable")
      status = trials->Pageable(times);
    else if (word == "read")
      status = trials->Read();
    else if (word == "copies")
      status = trials->Copies();
    else if (word == "capped")
      status = RunCapped(*trials, value);
    else if (word == "file")
      status = trials->File(value);
    else
      return absl::InvalidArgumentError(StrCat("what is ", word, "?"));
    if (!status.ok()) std::printf("FAILED %s: %s\n", word.c_str(), status.ToString().c_str());
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

Status Main(int argc, char** argv) {
  if (argc < 2) return absl::InvalidArgumentError("see the head of partition_bench.cc for what to say");
  if (std::strcmp(argv[1], "mixed") == 0) {
    if (argc != 4) return absl::InvalidArgumentError("mixed FOLDER TIMES");
    return ProveMixed(argv[2], static_cast<uint32_t>(std::atoi(argv[3])));
  }
  std::vector<std::pair<std::string, std::string>> words;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equal = word.find('=');
    words.emplace_back(word.substr(0, equal), equal == std::string::npos ? "" : word.substr(equal + 1));
  }
  return Run(argv[1], words);
}

}  // namespace
}  // namespace cuzk::gpu::testing

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  cuzk::Status status = cuzk::gpu::testing::Main(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
