#include "daemon/http/day_record.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/filecoin/types/registry.h"
#include "daemon/common/json_writer.h"

namespace cuzk::daemon {
namespace {

constexpr int64_t kSlotsAnHour = std::chrono::hours(1) / DayRecord::kSlot;

int64_t NumberOf(TimePoint time) { return time.time_since_epoch() / DayRecord::kSlot; }

/// The place of a kind in the arrays.
size_t IndexOf(filecoin::Kind kind) {
  const auto kinds = filecoin::Kinds();
  return static_cast<size_t>(
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& row) { return row.kind == kind; }) - kinds.begin());
}

uint32_t Since(uint64_t before, uint64_t now) { return now > before ? static_cast<uint32_t>(now - before) : 0; }

}  // namespace

void DayRecord::Add(const engine::EngineStatus& status, TimePoint now) {
  MutexLock lock(mutex_);
  const bool first = !latest_;
  const double passed = first ? 0 : Seconds(now - *latest_);
  latest_ = now;
  Slot& slot = slots_[static_cast<size_t>(NumberOf(now)) % kSlots];
  if (slot.number != NumberOf(now)) slot = {.number = NumberOf(now)};
  slot.seconds += passed;
  uint32_t waiting = 0;
  for (const auto& [kind, counts] : status.kinds) {
    waiting += counts.pending;
    engine::KindStatus& before = before_.kinds[kind];
    if (!first) {
      slot.proofs[IndexOf(kind)] += Since(before.completed_total, counts.completed_total);
      slot.failed += Since(before.failed_total, counts.failed_total);
    }
    before = counts;
  }
  slot.waiting = std::max(slot.waiting, waiting);
  devices_ = std::min(status.devices.size(), kMostDevices);
  before_.busy.resize(devices_);
  for (size_t i = 0; i < devices_; ++i) {
    const double total = status.devices[i].busy_seconds_total;
    if (!first) slot.busy_seconds[i] += static_cast<float>(std::max(0.0, total - before_.busy[i]));
    before_.busy[i] = total;
  }
  if (status.budget.limit_bytes > 0) {
    const double share = static_cast<double>(status.budget.used_bytes) / static_cast<double>(status.budget.limit_bytes);
    slot.memory = std::max(slot.memory, static_cast<float>(share));
  }
}

std::vector<DayRecord::Slot> DayRecord::InOrder(int64_t last) const {
  MutexLock lock(mutex_);
  std::vector<Slot> slots;
  for (int64_t number = last - static_cast<int64_t>(kSlots) + 1; number <= last; ++number) {
    const Slot& slot = slots_[static_cast<size_t>(number) % kSlots];
    slots.push_back(slot.number == number ? slot : Slot{});
  }
  return slots;
}

std::string DayRecord::Json(TimePoint now) const {
  const std::vector<Slot> slots = InOrder(NumberOf(now));
  size_t devices = 0;
  {
    MutexLock lock(mutex_);
    devices = devices_;
  }
  JsonWriter json;
  // An item for each slot.
  auto series = [&](const std::function<void(const Slot&)>& write) {
    json.BeginArray();
    for (const Slot& slot : slots) slot.number < 0 ? static_cast<void>(json.Null()) : write(slot);
    json.EndArray();
  };
  auto last_hour = [&](const std::function<uint32_t(const Slot&)>& of) {
    return std::accumulate(slots.end() - kSlotsAnHour, slots.end(), uint64_t{0},
                           [&](uint64_t sum, const Slot& slot) { return sum + of(slot); });
  };
  json.BeginObject().Member("slot_secs", std::chrono::seconds(kSlot).count()).Key("last_hour").BeginObject();
  for (const filecoin::KindRow& kind : filecoin::Kinds()) {
    json.Member(kind.name, last_hour([&](const Slot& slot) { return slot.proofs[IndexOf(kind.kind)]; }));
  }
  json.EndObject().Member("failed_last_hour", last_hour([](const Slot& slot) { return slot.failed; }));
  json.Key("proofs").BeginObject();
  for (const filecoin::KindRow& kind : filecoin::Kinds()) {
    json.Key(kind.name);
    series([&](const Slot& slot) { json.Value(slot.proofs[IndexOf(kind.kind)]); });
  }
  json.EndObject().Key("failed");
  series([&](const Slot& slot) { json.Value(slot.failed); });
  json.Key("busy").BeginArray();
  for (size_t i = 0; i < devices; ++i) {
    series([&](const Slot& slot) {
      json.Value(slot.seconds > 0 ? std::min(1.0, static_cast<double>(slot.busy_seconds[i]) / slot.seconds) : 0.0);
    });
  }
  json.EndArray().Key("waiting");
  series([&](const Slot& slot) { json.Value(slot.waiting); });
  json.Key("memory");
  series([&](const Slot& slot) { json.Value(static_cast<double>(slot.memory)); });
  return json.EndObject().text();
}

}  // namespace cuzk::daemon
