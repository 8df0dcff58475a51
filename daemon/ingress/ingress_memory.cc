#include "daemon/ingress/ingress_memory.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

namespace cuzk::daemon {

uint64_t IngressMemory::LargestMessage() const { return MostForLarge(); }

uint64_t IngressMemory::Cost(uint64_t length) const {
  if (length > std::numeric_limits<uint64_t>::max() / 2) return length;
  return length <= kSmallMessage ? 2 * length + kMessageBytes : std::max(length, std::min(2 * length, MostForLarge()));
}

bool IngressMemory::Take(uint64_t bytes) {
  MutexLock lock(mutex_);
  if (in_use_ > capacity_ || bytes > capacity_ - in_use_) return false;
  in_use_ += bytes;
  peak_ = std::max(peak_, in_use_);
  return true;
}

void IngressMemory::Return(uint64_t bytes) {
  MutexLock lock(mutex_);
  in_use_ -= bytes;
}

bool IngressMemory::Arrive(int connection, uint64_t length) {
  const uint64_t cost = Cost(length);
  MutexLock lock(mutex_);
  if (in_use_ > capacity_ || cost > capacity_ - in_use_) return false;
  if (length > kSmallMessage) {
    if (cost > MostForLarge() - large_) return false;
    large_ += cost;
  }
  in_use_ += cost;
  peak_ = std::max(peak_, in_use_);
  ++arriving_[connection][length];
  return true;
}

void IngressMemory::Release(uint64_t length, size_t count) {
  const uint64_t cost = Cost(length) * count;
  in_use_ -= cost;
  if (length > kSmallMessage) large_ -= cost;
}

void IngressMemory::Parsed(std::string_view peer, uint64_t length) {
  static constexpr std::string_view kName = "fd:";
  int connection = -1;
  if (!peer.starts_with(kName)) return;
  const char* end = peer.data() + peer.size();
  if (std::from_chars(peer.data() + kName.size(), end, connection).ec != std::errc()) return;
  MutexLock lock(mutex_);
  auto lengths = arriving_.find(connection);
  if (lengths == arriving_.end()) return;
  auto count = lengths->second.find(length);
  if (count == lengths->second.end()) return;
  Release(length, 1);
  if (--count->second == 0) lengths->second.erase(count);
}

void IngressMemory::Limit(int connection, uint64_t length, size_t left) {
  MutexLock lock(mutex_);
  auto lengths = arriving_.find(connection);
  if (lengths == arriving_.end()) return;
  auto count = lengths->second.find(length);
  if (count == lengths->second.end() || count->second <= left) return;
  Release(length, count->second - left);
  count->second = left;
  if (left == 0) lengths->second.erase(count);
}

void IngressMemory::Gone(int connection) {
  MutexLock lock(mutex_);
  auto lengths = arriving_.find(connection);
  if (lengths == arriving_.end()) return;
  for (const auto& [length, count] : lengths->second) Release(length, count);
  arriving_.erase(lengths);
}

bool IngressMemory::HasFallen() {
  MutexLock lock(mutex_);
  if (peak_ >= kLargePeak && in_use_ <= peak_ / 2) {
    peak_ = in_use_;
    fallen_ = kFallen;
  }
  return fallen_ > 0 && fallen_-- > 0;
}

uint64_t IngressMemory::in_use() const {
  MutexLock lock(mutex_);
  return in_use_;
}

}  // namespace cuzk::daemon
