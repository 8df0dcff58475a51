#pragma once
// One SQLite database and its statements. For the store's own files.

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace cuzk::store {

/// The most bytes that the journal (jobs.sqlite-wal) keeps when no reader is in a transaction; while one is, SQLite
/// cannot write over what that reader may still read.
inline constexpr uint64_t kJournalBytes = uint64_t{4} << 20;

/// Used by one thread at a time. Every commit is flushed to disk.
class Database {
 public:
  /// Opens jobs.sqlite of the folder, or makes it, readable by this user alone. Never follows a link to the file.
  static StatusOr<std::unique_ptr<Database>> Open(const std::filesystem::path& directory);
  /// Opens a further connection to a database that is open, which writes nothing.
  static StatusOr<std::unique_ptr<Database>> OpenToRead(const std::filesystem::path& directory);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Status Execute(const std::string& sql);
  /// What the latest call on this database came to: RESOURCE_EXHAUSTED for a full disk, DATA_LOSS for a damaged file,
  /// ABORTED while another program has it locked, otherwise INTERNAL.
  Status Error(std::string_view what) const;
  /// The row that the latest INSERT made.
  int64_t LastRow() const { return sqlite3_last_insert_rowid(handle_); }
  /// How many rows the latest INSERT, UPDATE or DELETE changed.
  int64_t Changes() const { return sqlite3_changes(handle_); }
  std::filesystem::path path() const { return directory_ / "jobs.sqlite"; }
  const std::filesystem::path& directory() const { return directory_; }

 private:
  friend class Statement;
  explicit Database(std::filesystem::path directory) : directory_(std::move(directory)) {}
  Status Connect();

  const std::filesystem::path directory_;
  sqlite3* handle_ = nullptr;
};

/// ABORTED if another program has the folder's database locked, after waiting for it as any statement does. Takes the
/// lock for a moment and writes nothing; what else may be wrong with the database is not looked for.
Status TryToLock(const std::filesystem::path& directory);

/// A prepared statement; positions count from 1 for parameters, from 0 for columns. An error of preparing or binding is
/// returned by the first Step.
class Statement {
 public:
  Statement(Database& database, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& Bind(int64_t value);
  /// The bytes must live until the statement is destroyed.
  Statement& BindText(std::string_view text);
  Statement& BindBlob(ByteSpan bytes);
  /// True with a row, false at the end.
  StatusOr<bool> Step();
  Status Run() { return Step().status(); }

  int64_t Int(int column) { return sqlite3_column_int64(statement_, column); }
  std::string Bytes(int column);

 private:
  Statement& Bound(int code);

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  bool prepared_ = false, bound_ = true;
  int position_ = 0;
};

}  // namespace cuzk::store
