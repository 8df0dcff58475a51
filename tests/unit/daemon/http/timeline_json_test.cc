#include "daemon/http/timeline_json.h"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace cuzk::daemon {
namespace {

using engine::TimelineBar;
using std::chrono::milliseconds;

std::shared_ptr<const TimelineBar> Bar(std::string track, int begin_ms, int end_ms, uint64_t key) {
  const engine::TimePoint origin{};
  return std::make_shared<const TimelineBar>(TimelineBar{.track = std::move(track),
                                                         .name = "msm h",
                                                         .begin = origin + milliseconds(begin_ms),
                                                         .end = origin + milliseconds(end_ms),
                                                         .job_key = key,
                                                         .job_id = key == 0 ? "" : "a\"</script>\n",
                                                         .partition = 3});
}

TEST(TimelineJsonTest, BarsLieOnTheirTracks) {
  std::string text = TimelineJson(
      {Bar("device 0 worker 1", 1000, 2500, 7), Bar("loader 0", 10, 20, 0), Bar("device 0 worker 1", 3000, 3001, 8)},
      engine::TimePoint{} + milliseconds(4000));
  simdjson::dom::parser parser;
  simdjson::dom::element root = parser.parse(text).value();
  EXPECT_EQ(root["now"].get_double().value(), 4);
  EXPECT_GT(root["window_secs"].get_double().value(), 0);
  ASSERT_EQ(root["tracks"].get_array().value().size(), 2u);
  auto worker = root["tracks"].at(0);
  EXPECT_EQ(worker["name"].get_string().value(), "device 0 worker 1");
  ASSERT_EQ(worker["bars"].get_array().value().size(), 2u);
  auto bar = worker["bars"].at(0);
  EXPECT_EQ(bar["name"].get_string().value(), "msm h");
  EXPECT_EQ(bar["job_id"].get_string().value(), "a\"</script>\n");
  EXPECT_EQ(bar["key"].get_uint64().value(), 7u);
  EXPECT_EQ(bar["partition"].get_uint64().value(), 3u);
  EXPECT_EQ(bar["begin"].get_double().value(), 1);
  EXPECT_EQ(bar["end"].get_double().value(), 2.5);
  EXPECT_TRUE(root["tracks"].at(1)["bars"].at(0)["job_id"].is_null());
  EXPECT_TRUE(root["tracks"].at(1)["bars"].at(0)["partition"].is_null());
}

TEST(TimelineJsonTest, NothingIsAnEmptyList) {
  simdjson::dom::parser parser;
  simdjson::dom::element root = parser.parse(TimelineJson({}, engine::TimePoint{})).value();
  EXPECT_EQ(root["tracks"].get_array().value().size(), 0u);
}

}  // namespace
}  // namespace cuzk::daemon
