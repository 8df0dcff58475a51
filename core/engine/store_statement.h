#pragma once
// One SQL statement of the job store. For the store's own files.

#include <sqlite3.h>

#include <cstdint>
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

  Statement& Bind(int64_t value) {
    sqlite3_bind_int64(statement_, ++position_, value);
    return *this;
  }
  Statement& Bind(const std::optional<int64_t>& value) {
    if (value) return Bind(*value);
    sqlite3_bind_null(statement_, ++position_);
    return *this;
  }
  /// The bytes must live until the statement is destroyed.
  Statement& BindText(std::string_view text) {
    sqlite3_bind_text64(statement_, ++position_, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
  }
  Statement& BindBlob(ByteSpan bytes) {
    sqlite3_bind_blob64(statement_, ++position_, bytes.data(), bytes.size(), SQLITE_STATIC);
    return *this;
  }
  /// True with a row, false at the end.
  StatusOr<bool> Step() {
    int code = prepared_ ? sqlite3_step(statement_) : SQLITE_ERROR;
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return store_.Error("statement");
  }
  Status Run() { return Step().status(); }

  int64_t Int(int column) { return sqlite3_column_int64(statement_, column); }
  bool IsNull(int column) { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string Bytes(int column) {
    const void* data = sqlite3_column_blob(statement_, column);
    int size = sqlite3_column_bytes(statement_, column);
    return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), static_cast<size_t>(size));
  }

 private:
  JobStore& store_;
  sqlite3_stmt* statement_ = nullptr;
  bool prepared_ = false;
  int position_ = 0;
};

}  // namespace cuzk::engine
