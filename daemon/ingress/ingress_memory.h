#pragma once
// What clients make the daemon hold before their requests are jobs: connections, open calls and messages that arrive.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "core/base/mutex.h"

namespace cuzk::daemon {

/// The account of grpc.ingress_memory. A message counts twice, as it is received and as it is parsed, from its first
/// bytes until a handler has the parsed one or its call ends. Thread-safe.
class IngressMemory {
 public:
  /// Messages up to this size may use all of the capacity, larger ones all but an eighth: status, health and
  /// WinningPoSt get through beside large messages.
  static constexpr uint64_t kSmallMessage = uint64_t{1} << 20;
  /// What a message costs beside its bytes.
  static constexpr uint64_t kMessageBytes = 64;

  explicit IngressMemory(uint64_t capacity) : capacity_(capacity) {}
  IngressMemory(const IngressMemory&) = delete;
  IngressMemory& operator=(const IngressMemory&) = delete;

  /// Takes room for something other than a message; false, and nothing taken, if there is none.
  bool Take(uint64_t bytes);
  void Return(uint64_t bytes);

  /// The largest message that this account can ever take.
  uint64_t LargestMessage() const;
  /// A message of that length begins on a connection; false, and nothing taken, if it has no room now.
  bool Arrive(int connection, uint64_t length);
  /// A handler has the parsed message. `peer` is gRPC's name of the connection, "fd:12". Every message of one length on
  /// one connection is the same to this account.
  void Parsed(std::string_view peer, uint64_t length);
  /// A call ended: of the messages of that length on that connection, at most `left` still count.
  void Limit(int connection, uint64_t length, size_t left);
  /// The connection is closed: none of its messages count.
  void Gone(int connection);

  uint64_t in_use() const;
  /// Whether kLargePeak was in use lately and no more than half of that peak is now: a time to give memory back to the
  /// system. True kFallen times for each peak, since what is freed is freed a little later than it is counted. To be
  /// asked about once a second.
  bool HasFallen();
  static constexpr int kFallen = 10;
  static constexpr uint64_t kLargePeak = uint64_t{32} << 20;

 private:
  uint64_t MostForLarge() const { return capacity_ - capacity_ / 8; }
  uint64_t Cost(uint64_t length) const;
  void Release(uint64_t length, size_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint64_t capacity_;
  mutable Mutex mutex_;
  int fallen_ ABSL_GUARDED_BY(mutex_) = 0;     // true answers left
  uint64_t peak_ ABSL_GUARDED_BY(mutex_) = 0;  // since HasFallen
  uint64_t in_use_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t large_ ABSL_GUARDED_BY(mutex_) = 0;                                  // of large messages alone
  std::map<int, std::map<uint64_t, size_t>> arriving_ ABSL_GUARDED_BY(mutex_);  // by connection and length, how many
};

}  // namespace cuzk::daemon
