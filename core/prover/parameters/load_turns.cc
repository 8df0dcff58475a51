#include "core/prover/parameters/load_turns.h"

namespace cuzk::prover {
namespace {

/// Of a device's memory: what a plan leaves room for.
constexpr uint64_t kSmallPart = 32;

}  // namespace

LoadTurns::Turn::~Turn() {
  if (turns_ == nullptr) return;
  {
    MutexLock lock(turns_->mutex_);
    lane_->holder.reset();
    if (--turns_->levels_[level_] == 0) turns_->levels_.erase(level_);
  }
  turns_->changed_.NotifyAll();
}

bool LoadTurns::IsSmall(const Device& device, uint64_t points_bytes) {
  return points_bytes <= device.memory().total / kSmallPart;
}

std::list<LoadTurns::Waiter>::iterator LoadTurns::Next(Lane& lane) {
  auto best = lane.waiting.begin();
  for (auto it = lane.waiting.begin(); it != lane.waiting.end(); ++it) {
    if (it->passes >= kMostPasses) return it;
    if (it->urgency.level > best->urgency.level) best = it;
  }
  return best;
}

void LoadTurns::StopHolder(Lane& lane, const LoadUrgency& urgency) {
  if (!urgency.critical || !lane.holder || lane.holder->level >= urgency.level) return;
  std::stop_source holder = lane.stop;
  mutex_.Unlock();
  holder.request_stop();
  mutex_.Lock();
}

StatusOr<LoadTurns::Turn> LoadTurns::Enter(const Device& device, bool small, const LoadUrgency& urgency,
                                           const std::stop_token& stop) {
  MutexLock lock(mutex_);
  std::unique_ptr<Lane>& made = lanes_[{&device, small}];
  if (!made) made = std::make_unique<Lane>();
  Lane& lane = *made;
  const auto self = lane.waiting.insert(lane.waiting.end(), Waiter{urgency});
  while ((lane.holder || Next(lane) != self) && !stop.stop_requested()) {
    StopHolder(lane, urgency);  // a new one as well
    if (lane.holder || Next(lane) != self) changed_.WaitUntil(mutex_, std::nullopt, stop);
  }
  if (lane.holder || Next(lane) != self) {
    lane.waiting.erase(self);
    changed_.NotifyAll();  // it may have been this one's turn
    return absl::CancelledError("cancelled while waiting to load parameters");
  }
  for (auto it = lane.waiting.begin(); it != self; ++it) it->passes++;
  lane.waiting.erase(self);
  lane.holder = urgency;
  lane.stop = std::stop_source();
  levels_[urgency.level]++;
  return Turn(this, &lane, urgency.level, lane.stop);
}

void LoadTurns::LetPass(unsigned level, const std::stop_token& stop) {
  MutexLock lock(mutex_);
  ++paused_;
  while (!levels_.empty() && levels_.rbegin()->first > level && !stop.stop_requested()) {
    changed_.WaitUntil(mutex_, std::nullopt, stop);
  }
  --paused_;
}

size_t LoadTurns::paused() const {
  MutexLock lock(mutex_);
  return paused_;
}

size_t LoadTurns::waiting() const {
  MutexLock lock(mutex_);
  size_t waiting = 0;
  for (const auto& [key, lane] : lanes_) waiting += lane->waiting.size();
  return waiting;
}

}  // namespace cuzk::prover
