// bench: how many proofs a daemon makes in a while, of requests that are sent over and over.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <thread>

#include "core/base/log.h"
#include "core/base/mutex.h"
#include "core/base/random.h"
#include "core/base/thread.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/connection/client.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/ctl/output/interrupt_note.h"
#include "daemon/ctl/output/progress_view.h"

namespace cuzk::daemon {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchFlags {
  std::vector<std::string> requests;
  unsigned count = 10, at_once = 2;
};

/// A proof of each request is made before the clock starts, so that parameters are loaded. Then `at_once` callers take
/// turns at the requests until `count` proofs are made, a job fails, or a call does.
class Bench {
 public:
  Bench(const Session& session, const BenchFlags& flags) : session_(session), flags_(flags), view_(session.json) {
    std::array<uint8_t, 8> number{};
    FillRandom(number);
    name_ = StrCat("bench-", ToHex(number));  // other jobs have other ids
  }

  StatusOr<ControlExit> Run() {
    const InterruptNote note(
        [this] { return StrCat("jobs of this bench that were submitted continue; their ids begin with ", name_); });
    CUZK_ASSIGN_OR_RETURN(client_, Client::Connect(session_));
    for (const std::string& directory : flags_.requests) {
      v1::ProveRequest request;
      CUZK_ASSIGN_OR_RETURN(*request.mutable_submit(), ReadRequest(session_.settings, directory, name_));
      requests_.push_back(std::move(request));
    }
    for (size_t i = 0; i < requests_.size() && MayGoOn(); ++i) {
      ShowFirst(i);
      Prove(requests_[i], StrCat(name_, "-first-", i));
    }
    TakeSizes();
    begin_ = Clock::now();
    {
      std::vector<std::jthread> callers;
      for (unsigned i = 0; i < flags_.at_once; ++i) {
        StatusOr<std::jthread> caller = StartThread("a caller of the bench", [this] { TakeTurns(); });
        if (!caller.ok()) {
          MutexLock lock(mutex_);
          failed_.Update(caller.status());  // the others end after their present proof
          break;
        }
        callers.push_back(*std::move(caller));
      }
    }
    seconds_ = std::chrono::duration<double>(Clock::now() - begin_).count();
    MutexLock lock(mutex_);
    view_.Finish();
    if (!results_.empty()) Report();
    if (!failed_.ok()) return failed_;
    return wrong_.empty() ? ControlExit::kOk : Wrong();
  }

 private:
  void ShowFirst(size_t request) {
    MutexLock lock(mutex_);
    view_.Show(StrCat("first proof of request ", request + 1, " of ", requests_.size(), ", which loads parameters"), 0);
  }

  /// Of the first proofs, which do not count otherwise.
  void TakeSizes() {
    MutexLock lock(mutex_);
    sizes_.assign(results_.size(), 0);
    std::transform(results_.begin(), results_.end(), sizes_.begin(), [](const auto& r) { return r.proof().size(); });
    results_.clear();
  }

  bool MayGoOn() {
    MutexLock lock(mutex_);
    return failed_.ok() && wrong_.empty();
  }

  void TakeTurns() {
    while (MayGoOn()) {
      unsigned number;
      {
        MutexLock lock(mutex_);
        if (begun_ == flags_.count) return;
        number = begun_++;
      }
      Prove(requests_[number % requests_.size()], StrCat(name_, "-", number), sizes_[number % requests_.size()]);
    }
  }

  void Prove(v1::ProveRequest request, const std::string& id, std::optional<size_t> size = std::nullopt) {
    request.mutable_submit()->set_request_id(id);
    grpc::ClientContext context;
    v1::ProveResponse response;
    Status called = FromDaemon(client_.proving->Prove(&context, request, &response));
    const v1::AwaitProofResponse& result = response.result();
    MutexLock lock(mutex_);
    if (!called.ok()) {
      failed_.Update(called);
    } else if (result.status() != v1::AwaitProofResponse::COMPLETED) {
      wrong_ = StrCat(id, ": ", v1::AwaitProofResponse::Status_Name(result.status()), ": ", result.error_message());
    } else if (result.proof().empty() || (size && *size != result.proof().size())) {
      wrong_ = StrCat(id, ": a proof of ", result.proof().size(), " bytes");
    } else {
      results_.push_back(result);
      if (size) ShowMeasured();
    }
  }

  /// One bar for all callers; in a log, a line for each tenth.
  void ShowMeasured() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const double fraction = static_cast<double>(results_.size()) / flags_.count;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    view_.Show("proofs", fraction,
               StrCat(results_.size(), " of ", flags_.count, ", ",
                      std::lround(static_cast<double>(results_.size()) / seconds * 3600), " an hour"));
  }

  ControlExit Wrong() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (session_.json) {
      JsonWriter json;
      PrintLine(json.BeginObject().Member("error", wrong_).Member("code", "FAILED").EndObject().text());
      return ControlExit::kFailed;
    }
    std::fprintf(stderr, "cuzkctl: %s\n", EscapeControl(wrong_).c_str());
    return ControlExit::kFailed;
  }

  /// Of the milliseconds that `field` gives, in seconds: least, middle and most.
  std::array<double, 3> Spread(uint64_t (v1::AwaitProofResponse::*field)() const) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::vector<uint64_t> all;
    for (const v1::AwaitProofResponse& result : results_) all.push_back((result.*field)());
    std::sort(all.begin(), all.end());
    auto seconds = [](uint64_t ms) { return static_cast<double>(ms) / 1000; };
    return {seconds(all.front()), seconds(all[all.size() / 2]), seconds(all.back())};
  }

  void Report() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    struct Row {
      const char *text, *key;
      std::array<double, 3> seconds;
    };
    const Row rows[] = {
        {"waiting in the queue", "queue_wait", Spread(&v1::AwaitProofResponse::queue_wait_ms)},
        {"writing witnesses", "synthesis", Spread(&v1::AwaitProofResponse::synthesis_ms)},
        {"kernels on the device", "device", Spread(&v1::AwaitProofResponse::gpu_compute_ms)},
        {"from submission to proof", "total", Spread(&v1::AwaitProofResponse::total_ms)},
    };
    uint64_t partitions = 0;
    for (const v1::AwaitProofResponse& result : results_) partitions += result.proof().size() / filecoin::kProofBytes;
    const double per_hour = static_cast<double>(results_.size()) / seconds_ * 3600;
    if (session_.json) {
      JsonWriter json;
      json.BeginObject().Member("proofs", results_.size()).Member("partitions", partitions);
      json.Member("at_once", flags_.at_once).Member("seconds", seconds_).Member("proofs_per_hour", per_hour);
      json.Member("seconds_per_partition", seconds_ / static_cast<double>(partitions));
      for (const Row& row : rows) {
        json.Key(StrCat(row.key, "_seconds")).BeginObject().Member("least", row.seconds[0]);
        json.Member("median", row.seconds[1]).Member("most", row.seconds[2]).EndObject();
      }
      PrintLine(json.EndObject().text());
      return;
    }
    std::printf("%zu proofs of %llu partitions, %u at once, in %.3f s: %.1f an hour, %.3f s a partition\n",
                results_.size(), static_cast<unsigned long long>(partitions), flags_.at_once, seconds_, per_hour,
                seconds_ / static_cast<double>(partitions));
    std::printf("  %-30s %9s %9s %9s\n", "of one proof, in seconds", "least", "median", "most");
    for (const Row& row : rows) {
      std::printf("  %-30s %9.3f %9.3f %9.3f\n", row.text, row.seconds[0], row.seconds[1], row.seconds[2]);
    }
  }

  const Session& session_;
  const BenchFlags& flags_;
  std::string name_;
  Client client_;
  std::vector<v1::ProveRequest> requests_;
  std::vector<size_t> sizes_;  // of the proofs, by request
  Clock::time_point begin_;    // of the measurement
  double seconds_ = 0;
  Mutex mutex_;
  ProgressView view_ ABSL_GUARDED_BY(mutex_);
  unsigned begun_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<v1::AwaitProofResponse> results_ ABSL_GUARDED_BY(mutex_);
  Status failed_ ABSL_GUARDED_BY(mutex_);      // the first call that did
  std::string wrong_ ABSL_GUARDED_BY(mutex_);  // a job that failed, or a proof that is none
};

}  // namespace

void AddBench(CLI::App& program, Commands& commands) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* bench = program.add_subcommand(
      "bench", "Measure how many proofs the daemon makes in an hour, by proving requests repeatedly");
  bench->add_option("--request", flags->requests, "Request directories, which are proved in turn")->required();
  bench
      ->add_option("--count", flags->count,
                   "Number of proofs to measure; before these, each request is proved once, to load parameters")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  bench->add_option("--at-once", flags->at_once, "Number of requests that are open at the same time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  commands.push_back({bench, [flags](const Session& session) { return Bench(session, *flags).Run(); }});
}

}  // namespace cuzk::daemon
