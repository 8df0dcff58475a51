#include "core/memory/budget.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace cuzk::memory {

std::string_view MemoryClassName(MemoryClass memory_class) {
  switch (memory_class) {
    case MemoryClass::kRequests:
      return "requests";
    case MemoryClass::kWitnesses:
      return "witnesses";
    case MemoryClass::kPinned:
      return "pinned";
    case MemoryClass::kParameters:
      return "parameters";
  }
  CUZK_CHECK(false);
}

Reservation::Reservation(Reservation&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), class_(other.class_), bytes_(std::exchange(other.bytes_, 0)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    Release();
    budget_ = std::exchange(other.budget_, nullptr);
    class_ = other.class_;
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Reservation::~Reservation() { Release(); }

void Reservation::ShrinkTo(uint64_t bytes) {
  if (budget_ == nullptr || bytes >= bytes_) return;
  budget_->GiveBack(class_, bytes_ - bytes);
  bytes_ = bytes;
}

void Reservation::Release() {
  ShrinkTo(0);
  budget_ = nullptr;
}

Registration& Registration::operator=(Registration&& other) noexcept {
  if (this != &other) {
    if (end_) end_();
    end_ = std::exchange(other.end_, nullptr);
  }
  return *this;
}

Registration::~Registration() {
  if (end_) end_();
}

Budget::Budget(BudgetOptions options) : options_(std::move(options)) { counters_.limit_bytes = options_.limit_bytes; }

Budget::~Budget() { CUZK_CHECK(counters_.used_bytes == 0); }

bool Budget::Take(MemoryClass memory_class, uint64_t bytes, uint64_t class_limit, Shortage* shortage) {
  MutexLock lock(mutex_);
  size_t index = static_cast<size_t>(memory_class);
  uint64_t held = counters_.used_by_class[index];
  if (class_limit != 0 && held != 0 && (held > class_limit || bytes > class_limit - held)) {
    *shortage = {.bytes = bytes, .of_class = true};
    return false;
  }
  uint64_t available = options_.limit_bytes - counters_.used_bytes;
  if (bytes > available) {
    *shortage = {.bytes = bytes - available};
    return false;
  }
  counters_.used_bytes += bytes;
  counters_.used_by_class[index] += bytes;
  counters_.reservations_total[index]++;
  counters_.peak_bytes = std::max(counters_.peak_bytes, counters_.used_bytes);
  return true;
}

void Budget::GiveBack(MemoryClass memory_class, uint64_t bytes) {
  {
    MutexLock lock(mutex_);
    size_t index = static_cast<size_t>(memory_class);
    CUZK_CHECK(counters_.used_by_class[index] >= bytes && counters_.used_bytes >= bytes);
    counters_.used_bytes -= bytes;
    counters_.used_by_class[index] -= bytes;
  }
  NotifyChange();
}

StatusOr<Reservation> Budget::TryReserve(MemoryClass memory_class, uint64_t bytes, uint64_t class_limit) {
  Shortage shortage;
  bool possible = bytes <= options_.limit_bytes && !(options_.refuse && options_.refuse(memory_class, bytes));
  if (possible) {
    if (Take(memory_class, bytes, class_limit, &shortage)) return Reservation(this, memory_class, bytes);
    // What is idle belongs to other classes: dropping it makes no room under the limit of this one.
    if (!shortage.of_class) {
      Call(reclaimers_, shortage.bytes);
      if (Take(memory_class, bytes, class_limit, &shortage)) return Reservation(this, memory_class, bytes);
    }
  }
  uint64_t used, used_by_class;
  {
    MutexLock lock(mutex_);
    size_t index = static_cast<size_t>(memory_class);
    counters_.refusals_total[index]++;
    used = counters_.used_bytes;
    used_by_class = counters_.used_by_class[index];
  }
  std::string text = StrCat(bytes, " bytes for ", MemoryClassName(memory_class));
  if (possible && shortage.of_class) {
    return absl::UnavailableError(StrCat(text, " do not fit into their part of the memory budget: ", used_by_class,
                                         " of ", class_limit, " bytes are in use"));
  }
  text = StrCat(text, " do not fit into the memory budget: ", used, " of ", options_.limit_bytes, " bytes are in use");
  return possible ? absl::UnavailableError(text) : absl::ResourceExhaustedError(text);
}

StatusOr<Reservation> Budget::Reserve(MemoryClass memory_class, uint64_t bytes, std::stop_token stop) {
  for (;;) {
    if (stop.stop_requested()) return absl::CancelledError("stopped while waiting for memory");
    uint64_t seen = ChangeCount();
    auto reservation = TryReserve(memory_class, bytes);
    if (reservation.ok() || !absl::IsUnavailable(reservation.status())) return reservation;
    CUZK_RETURN_IF_ERROR(WaitForRoom(memory_class, seen, stop));
  }
}

Status Budget::WaitForRoom(MemoryClass memory_class, uint64_t seen, std::stop_token stop) {
  MutexLock lock(mutex_);
  auto self = waiters_.insert(waiters_.end(), Waiter{memory_class, seen});
  while (changes_ == seen && !self->refused && !stop.stop_requested()) {
    changed_.WaitUntil(mutex_, std::nullopt, stop);
  }
  const bool refused = self->refused, changed = changes_ != seen;
  waiters_.erase(self);
  if (refused) {
    return absl::ResourceExhaustedError(StrCat("what is needed for ", MemoryClassName(memory_class),
                                               " does not fit into the memory budget: ", counters_.used_bytes, " of ",
                                               options_.limit_bytes, " bytes are in use and will not be released"));
  }
  return changed ? absl::OkStatus() : absl::CancelledError("stopped while waiting for memory");
}

uint64_t Budget::Waiting(MemoryClass memory_class) const {
  MutexLock lock(mutex_);
  return static_cast<uint64_t>(
      std::count_if(waiters_.begin(), waiters_.end(), [=, changes = changes_](const Waiter& waiter) {
        return waiter.memory_class == memory_class && waiter.seen == changes && !waiter.refused;
      }));
}

bool Budget::RefuseWaiting(MemoryClass memory_class) {
  {
    MutexLock lock(mutex_);
    auto latest = std::find_if(waiters_.rbegin(), waiters_.rend(), [=, changes = changes_](const Waiter& waiter) {
      return waiter.memory_class == memory_class && waiter.seen == changes && !waiter.refused;
    });
    if (latest == waiters_.rend()) return false;
    latest->refused = true;
  }
  changed_.NotifyAll();
  return true;
}

uint64_t Budget::ChangeCount() const {
  MutexLock lock(mutex_);
  return changes_;
}

bool Budget::WaitForChange(uint64_t seen, std::stop_token stop) const {
  MutexLock lock(mutex_);
  while (changes_ == seen && !stop.stop_requested()) changed_.WaitUntil(mutex_, std::nullopt, stop);
  return changes_ != seen;
}

void Budget::NotifyChange() {
  {
    MutexLock lock(mutex_);
    ++changes_;
  }
  changed_.NotifyAll();
  Call(listeners_, 0);
}

Registration Budget::Add(HookList& list, std::function<void(uint64_t)> call) {
  WriterLock lock(list.mutex);
  uint64_t id = list.next_id++;
  list.hooks.push_back({id, std::move(call)});
  return Registration([&list, id] {
    WriterLock lock(list.mutex);
    std::erase_if(list.hooks, [id](const Hook& hook) { return hook.id == id; });
  });
}

void Budget::Call(HookList& list, uint64_t argument) {
  ReaderLock lock(list.mutex);
  for (const Hook& hook : list.hooks) hook.call(argument);
}

Registration Budget::AddListener(std::function<void()> listener) {
  return Add(listeners_, [listener = std::move(listener)](uint64_t) { listener(); });
}

Registration Budget::AddReclaimer(std::function<void(uint64_t)> reclaim) {
  return Add(reclaimers_, std::move(reclaim));
}

BudgetSnapshot Budget::Snapshot() const {
  MutexLock lock(mutex_);
  return counters_;
}

}  // namespace cuzk::memory
