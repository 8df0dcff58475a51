#include "daemon/http/history_json.h"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace cuzk::daemon {
namespace {

TEST(HistoryJsonTest, EndedJobsAreToldAndUnfinishedOnesAreNot) {
  engine::ListedJob ended{.state = engine::JobState::kCancelled};
  ended.facts.id = "a\"</script>\n";
  ended.facts.number = 7;
  ended.facts.kind = filecoin::Kind::kSnap;
  ended.facts.error = "cancelled by request";
  ended.facts.stage = "device";
  ended.facts.finished_ms = 1000;
  ended.facts.times.total_ms = 45;
  const engine::ListedJob live{.state = engine::JobState::kRunning, .live = engine::JobStatus{}};
  engine::JobList recent;
  recent.jobs = {live, ended};
  const std::string text = HistoryJson(recent, absl::UnavailableError("the disk hangs"), 3500, "{\"x\":1}");
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.parse(text).value();
  ASSERT_EQ(root["recent"].get_array().value().size(), 1u);
  const auto job = root["recent"].at(0);
  EXPECT_EQ(job["job_id"].get_string().value(), "a\"</script>\n");
  EXPECT_EQ(job["state"].get_string().value(), "cancelled");
  EXPECT_EQ(job["stage"].get_string().value(), "device");
  EXPECT_EQ(job["error"].get_string().value(), "cancelled by request");
  EXPECT_EQ(job["ended_secs_ago"].get_double().value(), 2.5);
  EXPECT_EQ(job["times_ms"]["total"].get_uint64().value(), 45u);
  EXPECT_EQ(root["failed"].get_array().value().size(), 0u);
  EXPECT_EQ(root["trouble"].get_string().value(), "the disk hangs");
  EXPECT_EQ(root["day"]["x"].get_uint64().value(), 1u);
}

}  // namespace
}  // namespace cuzk::daemon
