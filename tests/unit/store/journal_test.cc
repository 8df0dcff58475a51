// The write-ahead log of the job store while another program reads the database.

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "tests/unit/store/scratch_store.h"

namespace cuzk::store {
namespace {

using testing_support::Unfinished;

/// Another program's connection.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& directory) {
    EXPECT_EQ(sqlite3_open((directory / "jobs.sqlite").c_str(), &database_), SQLITE_OK);
  }
  ~Reader() { sqlite3_close(database_); }
  void Run(const char* sql) {
    EXPECT_EQ(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database_);
  }

 private:
  sqlite3* database_ = nullptr;
};

class JournalTest : public testing::Test {
 protected:
  uint64_t JournalBytes() const { return std::filesystem::file_size(scratch_.path() / "jobs.sqlite-wal"); }
  /// Writes that many bytes as the error of one job, other ones each time: SQLite does not write what is there already.
  void Write(JobStore& store, uint64_t bytes) {
    StoredJob job = Unfinished("a").job;
    job.row = 1;
    job.state = RowState::kFailed;
    job.error = std::string(bytes, static_cast<char>('a' + ++written_ % 26));
    EXPECT_TRUE(store.Finish(job).ok());
  }

  testing_support::ScratchStore scratch_;
  int written_ = 0;
};

TEST_F(JournalTest, IsBoundedAgainOnceAReaderThatStaysOpenHasRead) {
  auto store = scratch_.Open();
  ASSERT_TRUE(Unfinished("a").AcceptBy(*store).ok());
  Reader reader(scratch_.path());
  reader.Run("BEGIN; SELECT count(*) FROM jobs");
  for (int i = 0; i < 20; ++i) Write(*store, 1 << 20);
  EXPECT_GT(JournalBytes(), 4 * kJournalBytes);  // the reader may still look at what it began with
  reader.Run("COMMIT");
  for (int i = 0; i < 3; ++i) Write(*store, 1 << 20);
  EXPECT_LE(JournalBytes(), 2 * kJournalBytes);
  // A reader that stays open without a transaction is no hindrance.
  for (int i = 0; i < 20; ++i) {
    Write(*store, 1 << 20);
    EXPECT_LE(JournalBytes(), 2 * kJournalBytes);
  }
}

}  // namespace
}  // namespace cuzk::store
