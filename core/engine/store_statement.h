#pragma once
// One SQL statement of the job store, and the turn to make it. For the store's own files.

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/engine/store.h"

namespace cuzk::engine {

/// A prepared statement; positions count from 1 for parameters, from 0 for columns.
class JobStore::Statement {
 public:
  Statement(JobStore& store, const char* sql) : store_(store) {
    prepared_ = sqlite3_prepare_v2(store.database_, sql, -1, &statement_, nullptr) == SQLITE_OK;
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& Bind(int64_t value) { return Bound(sqlite3_bind_int64(statement_, ++position_, value)); }
  /// The bytes must live until the statement is destroyed.
  Statement& BindText(std::string_view text) {
    return Bound(sqlite3_bind_text64(statement_, ++position_, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8));
  }
  Statement& BindBlob(ByteSpan bytes) {
    return Bound(sqlite3_bind_blob64(statement_, ++position_, bytes.data(), bytes.size(), SQLITE_STATIC));
  }
  /// True with a row, false at the end.
  StatusOr<bool> Step() {
    if (!bound_) return store_.Error("a value of a statement");  // no call since then: the message is still its own
    int code = prepared_ ? sqlite3_step(statement_) : SQLITE_ERROR;
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return store_.Error("statement");
  }
  Status Run() { return Step().status(); }

  int64_t Int(int column) { return sqlite3_column_int64(statement_, column); }
  std::string Bytes(int column) {
    const void* data = sqlite3_column_blob(statement_, column);
    int size = sqlite3_column_bytes(statement_, column);
    return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), static_cast<size_t>(size));
  }

 private:
  Statement& Bound(int code) {
    bound_ = bound_ && (!prepared_ || code == SQLITE_OK);
    return *this;
  }

  JobStore& store_;
  sqlite3_stmt* statement_ = nullptr;
  bool prepared_ = false, bound_ = true;
  int position_ = 0;
};

/// The right to use the database: one at a time. The call is open once its turn has come: whoever waits behind others
/// is no sign of a disk that hangs.
class JobStore::Turn {
 public:
  /// Waits for its turn, and without `patience` for as long as it takes.
  Turn(JobStore& store, std::string_view operation, std::optional<std::chrono::milliseconds> patience = std::nullopt)
      : store_(store) {
    {
      std::unique_lock lock(store_.mutex_);
      auto is_free = [this] { return !store_.taken_; };
      if (!patience) {
        store_.free_.wait(lock, is_free);
      } else if (!store_.free_.wait_for(lock, *patience, is_free)) {
        return;
      }
      store_.taken_ = mine_ = true;
    }
    call_.emplace(store_.calls_);
    if (store_.options_.seam) store_.options_.seam(operation);
  }
  ~Turn() {
    if (!mine_) return;
    call_.reset();
    std::lock_guard lock(store_.mutex_);
    store_.taken_ = false;
    store_.free_.notify_one();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  /// False once its patience has ended.
  bool mine() const { return mine_; }

 private:
  JobStore& store_;
  std::optional<StoreCalls::Call> call_;
  bool mine_ = false;
};

/// What never changes about a job.
Bytes32 SealOf(const StoredJob& job);
/// Whether a job that was completed has the proof that was stored.
bool IsStoredProof(std::string_view proof, std::string_view digest);

}  // namespace cuzk::engine
