#include "tests/doubles/scripted_cards.h"

#include <cstdlib>
#include <fstream>
#include <utility>

#include "core/prover/cpu/cpu_device.h"
#include "core/prover/device/driver_error.h"

namespace cuzk::testing_support {
namespace {

/// A faulty device together with the CPU device that it stands before, under a card's name.
class Card final : public FaultyDevice {
 public:
  Card(std::unique_ptr<prover::Device> inner, int ordinal, std::string uuid)
      : FaultyDevice(*inner), owned_(std::move(inner)), ordinal_(ordinal), uuid_(std::move(uuid)) {}
  int ordinal() const override { return ordinal_; }
  prover::DeviceIdentity identity() const override { return {.uuid = uuid_}; }

 private:
  std::unique_ptr<prover::Device> owned_;
  const int ordinal_;
  const std::string uuid_;
};

bool IsNumber(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

std::vector<std::string> ScriptedCards::Words() const {
  std::ifstream file(script_);
  std::vector<std::string> words;
  for (std::string word; file >> word;) words.push_back(word);
  return words;
}

std::string ScriptedCards::WordOf(int ordinal) const {
  const std::vector<std::string> words = Words();
  const size_t at = static_cast<size_t>(ordinal) + 1;
  return at < words.size() ? words[at] : "101";
}

StatusOr<int> ScriptedCards::Count() {
  const std::vector<std::string> words = Words();
  if (words.empty()) return absl::NotFoundError("libcuda.so.1 is not there");
  if (IsNumber(words[0])) return prover::DriverError("cuInit", std::atoi(words[0].c_str()));
  return static_cast<int>(words.size()) - 1;
}

std::string ScriptedCards::Uuid(int ordinal) { return StrCat("GPU-double-", ordinal); }

StatusOr<std::unique_ptr<prover::Device>> ScriptedCards::Open(int ordinal, uint64_t, ThreadPool& pool) {
  const std::string word = WordOf(ordinal);
  if (IsNumber(word)) return prover::DriverError("cudaDeviceGetStreamPriorityRange", std::atoi(word.c_str()));
  auto card = std::make_unique<Card>(prover::MakeCpuDevice({.pool = &pool}), ordinal, Uuid(ordinal));
  std::lock_guard lock(mutex_);
  if (opened_.size() <= static_cast<size_t>(ordinal)) opened_.resize(static_cast<size_t>(ordinal) + 1);
  opened_[static_cast<size_t>(ordinal)] = card.get();
  return card;
}

Status ScriptedCards::Test(prover::Device& card, ThreadPool&) {
  const std::string word = WordOf(card.ordinal());
  if (word == "wrong") return absl::DataLossError("the proof of a circuit of 1000 rows is wrong");
  if (word == "full") return absl::ResourceExhaustedError("out of memory");
  return absl::OkStatus();
}

FaultyDevice* ScriptedCards::Opened(int ordinal) const {
  std::lock_guard lock(mutex_);
  return static_cast<size_t>(ordinal) < opened_.size() ? opened_[static_cast<size_t>(ordinal)] : nullptr;
}

}  // namespace cuzk::testing_support
