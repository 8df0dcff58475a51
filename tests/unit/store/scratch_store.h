#pragma once
// A folder for a job store, what tests put into it, and changes behind the store's back.

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "core/base/file.h"
#include "core/store/job_store.h"
#include "tests/unit/groth16/scratch_dir.h"

namespace cuzk::testing_support {

/// The most bytes of requests in tests that are not about them.
inline constexpr uint64_t kPlenty = uint64_t{8} << 30;

/// A job that is to be accepted, and its request: two partitions of tests/unit/engine's small circuit.
struct Unfinished {
  explicit Unfinished(const std::string& id) : job{.id = id, .kind = filecoin::Kind::kPorep, .priority = 2} {
    request = {.kind = static_cast<uint64_t>(filecoin::Kind::kPorep), .registered_proof = 5, .vanilla_proof = "2"};
    job.digest = store::PayloadDigest(request);
  }
  StatusOr<int64_t> AcceptBy(store::JobStore& store) const { return store.Accept(job, request, kPlenty); }

  store::StoredJob job;
  filecoin::VanillaRequest request;
};

class ScratchStore {
 public:
  const std::filesystem::path& path() const { return directory_; }
  const ScratchDir& scratch() const { return scratch_; }
  StatusOr<std::unique_ptr<store::JobStore>> TryOpen() const {
    return store::JobStore::Open({.directory = directory_});
  }
  std::unique_ptr<store::JobStore> Open() const {
    auto store = TryOpen();
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  /// Runs SQL on the database; if a store is open that writes at the moment, when it has done so.
  void Alter(const std::string& sql) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open((directory_ / "jobs.sqlite").c_str(), &database), SQLITE_OK);
    sqlite3_busy_timeout(database, 300'000);
    // As a transaction that waits for its lock at once: a statement that reads first does not wait to write.
    const std::string whole = "BEGIN IMMEDIATE; " + sql + "; COMMIT";
    EXPECT_EQ(sqlite3_exec(database, whole.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  /// Rows of a table as other programs see them: those that were committed.
  int Rows(const std::string& table) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open((directory_ / "jobs.sqlite").c_str(), &database), SQLITE_OK);
    sqlite3_busy_timeout(database, 300'000);
    int rows = 0;
    const auto read = [](void* into, int, char** values, char**) {
      *static_cast<int*>(into) = std::stoi(values[0]);
      return 0;
    };
    const std::string query = "SELECT count(*) FROM " + table;
    EXPECT_EQ(sqlite3_exec(database, query.c_str(), read, &rows, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
    return rows;
  }
  /// Payload files, and what is left of writing one.
  size_t Payloads() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      count += entry.path().filename().string().find(".payload") != std::string::npos;
    }
    return count;
  }
  void Remove() const { std::filesystem::remove_all(directory_); }
  /// A completed job in the store: its payload file's name, and what was in it.
  std::pair<std::filesystem::path, std::string> Complete(const std::string& id = "a") const {
    auto store = Open();
    const Unfinished unfinished(id);
    store::StoredJob job = unfinished.job;
    job.row = *unfinished.AcceptBy(*store);
    const std::filesystem::path file = directory_ / StrCat(job.row, ".payload");
    std::string payload = *ReadFile(file);
    job.state = store::RowState::kCompleted;
    job.proof = std::string(2 * 192, 'p');
    EXPECT_TRUE(store->Finish(job).ok());
    return {file, payload};
  }

 private:
  ScratchDir scratch_;
  const std::filesystem::path directory_ = scratch_ / "state";
};

/// SQL that changes one byte of a proof.
inline constexpr const char* kFlippedProof = "proof=CAST(substr(proof,1,100)||x'00'||substr(proof,102) AS BLOB)";

}  // namespace cuzk::testing_support
