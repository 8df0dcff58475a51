// cuzkd with a device that misbehaves on demand; for tests alone, never installed. Commands arrive as datagrams at the
// unix socket that the variable FAULTY_CUZKD names, each is answered "ok" when it is in force:
//   hold                      partitions wait inside the device
//   hold-loads                parameters wait before they are loaded
//   hang                      partitions wait inside the device and cannot be stopped there
//   release                   ends all of these
//   delay MILLISECONDS        every partition takes so much longer
//   fail N                    the next N partitions end with an error of the device
//   lose                      the device is lost
//   wrong N                   the next N partitions are computed wrong
//   corrupt N                 one byte of the next N proofs is changed between assembly and verification
//   hang-store OPERATION      so named operations of the job store (core/store/job_store.h) wait inside it, as on a
//   disk
//                             that hangs; without a name: no longer
//   waiting                   answered with the number of partitions that wait inside
//   card N COMMAND            a command for another device than the first
// Other variables: FAULTY_CUZKD_HOLD_LOADS holds loads from the start; FAULTY_CUZKD_CARD makes the device pass for the
// first card, of that UUID; FAULTY_CUZKD_LEFT_OUT is the UUID of a second card, which fails its self-test;
// FAULTY_CUZKD_SCRIPT is a file that says what the driver does (tests/doubles/scripted_cards.h), and FAULTY_CUZKD_PCI a
// folder that stands for /sys/bus/pci/devices: with them the daemon picks its devices itself, from these cards.
// FAULTY_CUZKD_STORE_PATIENCE are the milliseconds after which a store that does not answer is told.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/check.h"
#include "daemon/app/program.h"
#include "tests/doubles/faulty_device.h"
#include "tests/doubles/scripted_cards.h"

namespace {

using cuzk::testing_support::FaultKind;
using cuzk::testing_support::FaultPoint;
using cuzk::testing_support::FaultyDevice;

// A faulty device together with the one that it stands before.
class OwningFaultyDevice : public FaultyDevice {
 public:
  explicit OwningFaultyDevice(std::unique_ptr<cuzk::prover::Device> inner)
      : FaultyDevice(*inner), owned_(std::move(inner)) {}
  int ordinal() const override { return card_ != nullptr ? 0 : FaultyDevice::ordinal(); }
  cuzk::prover::DeviceIdentity identity() const override {
    return card_ != nullptr ? cuzk::prover::DeviceIdentity{.uuid = card_} : FaultyDevice::identity();
  }

 private:
  std::unique_ptr<cuzk::prover::Device> owned_;
  const char* const card_ = std::getenv("FAULTY_CUZKD_CARD");
};

// A job store on a disk that hangs.
class HangingStore {
 public:
  void Hang(const std::string& operation) {
    std::lock_guard lock(mutex_);
    hanging_ = operation;
    changed_.notify_all();
  }
  void Enter(std::string_view operation) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return hanging_ != operation; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string hanging_;  // guarded by mutex_
};

struct Faults {
  std::vector<FaultyDevice*> devices;
  std::atomic<int> corruptions = 0;
  HangingStore store;
};

std::string Obey(Faults& faults, const std::string& text) {
  std::istringstream in(text);
  std::string command;
  unsigned number = 0;
  size_t card = 0;
  in >> command;
  if (command == "card") in >> card >> command;
  FaultyDevice& device = *faults.devices.at(card);
  if (command == "hang-store") {
    std::string operation;
    in >> operation;
    faults.store.Hang(operation);
  }
  in >> number;
  if (command == "hold") device.Hold();
  if (command == "hang") device.Hang();
  if (command == "release") device.Release();
  if (command == "hold-loads") device.HoldLoads();
  if (command == "delay") device.set_delay(std::chrono::milliseconds(number));
  if (command == "fail")
    device.Add({FaultPoint::kStart, FaultKind::kInternal, device.calls(FaultPoint::kStart), number});
  if (command == "wrong")
    device.Add({FaultPoint::kFinish, FaultKind::kCorruptH, device.calls(FaultPoint::kFinish), number});
  if (command == "lose") device.Lose();
  if (command == "corrupt") faults.corruptions = static_cast<int>(number);
  if (command == "waiting") return std::to_string(device.waiting());
  return "ok";
}

void Listen(const std::string& path, Faults& faults) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  CUZK_CHECK(path.size() < sizeof name.sun_path);
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  unlink(path.c_str());  // of a daemon before this one
  CUZK_CHECK(bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0);
  while (true) {
    std::array<char, 256> text{};
    sockaddr_un from{};
    socklen_t length = sizeof from;
    const ssize_t got = recvfrom(fd, text.data(), text.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (got < 0) continue;
    const std::string answer = Obey(faults, std::string(text.data(), static_cast<size_t>(got)));
    sendto(fd, answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from), length);
  }
}

}  // namespace

int main(int argc, char** argv) {
  static Faults faults;  // the listening thread ends with the process
  cuzk::daemon::DaemonSeams seams;
  std::unique_ptr<cuzk::testing_support::ScriptedCards> cards;
  if (const char* script = std::getenv("FAULTY_CUZKD_SCRIPT")) {
    cards = std::make_unique<cuzk::testing_support::ScriptedCards>(script);
    const char* pci = std::getenv("FAULTY_CUZKD_PCI");
    seams.sources = cuzk::daemon::DeviceSources{cards.get(), pci != nullptr ? pci : "/nonexistent"};
  }
  seams.devices = [&cards](cuzk::daemon::DeviceChoice& choice) {
    for (auto& device : choice.devices) {
      if (cards != nullptr && device->ordinal() >= 0) {
        faults.devices.push_back(cards->Opened(device->ordinal()));
        continue;
      }
      auto faulty = std::make_unique<OwningFaultyDevice>(std::move(device));
      faults.devices.push_back(faulty.get());
      device = std::move(faulty);
    }
    if (const char* path = std::getenv("FAULTY_CUZKD")) {
      std::thread([path = std::string(path)] { Listen(path, faults); }).detach();
    }
    if (std::getenv("FAULTY_CUZKD_HOLD_LOADS") != nullptr) faults.devices.at(0)->HoldLoads();
    if (const char* uuid = std::getenv("FAULTY_CUZKD_LEFT_OUT")) {
      choice.left_out.push_back({1, uuid, "card 1 failed its self-test and is not used"});
    }
  };
  seams.engine.after_assembly = [](const std::string&, uint32_t, std::span<uint8_t> proof) {
    if (faults.corruptions > 0 && faults.corruptions-- > 0) proof[proof.size() / 2] ^= 1;
  };
  seams.engine.store = [](std::string_view operation) { faults.store.Enter(operation); };
  if (const char* patience = std::getenv("FAULTY_CUZKD_STORE_PATIENCE")) {
    seams.engine.store_patience = std::chrono::milliseconds(std::atoi(patience));
  }
  return cuzk::daemon::RunDaemon(argc, argv, seams);
}
