#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "core/base/text.h"
#include "daemon/ctl/top/screen.h"
#include "daemon/ctl/top/state.h"

namespace cuzk::daemon {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr std::string_view kMetrics =
    "# HELP cuzk_memory_budget_bytes What the budget allows.\n"
    "cuzk_memory_budget_bytes 10737418240\n"
    "cuzk_memory_used_bytes{class=\"pinned\"} 1073741824\n"
    "cuzk_memory_used_bytes{class=\"parameters\"} 4294967296\n"
    "cuzk_pinned_pool_total_bytes 2147483648\n"
    "cuzk_pinned_pool_used_bytes 1073741824\n"
    "cuzk_gpu_busy_seconds_total{gpu=\"0\",gpu_uuid=\"GPU-1\"} ";

cuzkd::v1::JobProgress Job(const std::string& id, const std::string& state, double fraction) {
  cuzkd::v1::JobProgress job;
  job.set_job_id(id);
  job.set_kind("porep");
  job.set_state(state);
  job.set_stage("device");
  job.set_partitions_total(10);
  job.set_partitions_done(3);
  job.set_fraction(fraction);
  job.set_seconds_left(17.6);
  job.set_priority(2);
  return job;
}

v1::GetStatusResponse Status() {
  v1::GetStatusResponse status;
  v1::GPUStatus* gpu = status.add_gpus();
  gpu->set_name("a card");
  gpu->set_vram_total_bytes(uint64_t{8} << 30);
  gpu->set_vram_free_bytes(uint64_t{2} << 30);
  gpu->set_current_job_id("porep-1");
  v1::QueueStatus* queue = status.add_queues();
  queue->set_proof_kind("porep-c2");
  queue->set_pending(2);
  queue->set_in_progress(1);
  v1::SRSStatus* srs = status.add_loaded_srs();
  srs->set_circuit_id("porep-32g");
  srs->set_ref_count(1);
  srs->set_size_bytes(uint64_t{3} << 30);
  status.set_total_proofs_completed(5);
  status.set_uptime_seconds(60);
  return status;
}

TEST(MetricSamplesTest, SumsByNameAndLabel) {
  MetricSamples samples(StrCat(kMetrics, "12.5\n"));
  EXPECT_EQ(samples.Sum("cuzk_memory_used_bytes"), 5368709120.0);
  EXPECT_EQ(samples.Sum("cuzk_memory_used_bytes", "class", "pinned"), 1073741824.0);
  EXPECT_EQ(samples.Sum("cuzk_gpu_busy_seconds_total", "gpu", "0"), 12.5);
  EXPECT_EQ(samples.Sum("cuzk_gpu_busy_seconds_total", "uuid", "GPU-1"), std::nullopt);
  EXPECT_EQ(samples.Sum("cuzk_memory_used"), std::nullopt);
  EXPECT_EQ(MetricSamples("").Sum("x"), std::nullopt);
}

TEST(TopStateTest, BusyIsWhatTheDeviceDidBetweenTwoAnswers) {
  TopState state("a");
  state.Answered(Status(), StrCat(kMetrics, "10\n"), 100);
  EXPECT_EQ(state.Picture(100).devices[0].busy, std::nullopt);
  state.Answered(Status(), StrCat(kMetrics, "11\n"), 104);
  EXPECT_EQ(state.Picture(104).devices[0].busy, 0.25);
  state.Answered(Status(), StrCat(kMetrics, "0\n"), 105);  // another daemon
  EXPECT_EQ(state.Picture(105).devices[0].busy, 0.0);
}

TEST(TopStateTest, EndedJobsStayForAWhileAndComeLast) {
  TopState state("a");
  state.Watched(Job("first", "running", 0.1), 1);
  state.Watched(Job("second", "queued", 0), 1);
  state.Watched(Job("first", "completed", 1), 5);
  TopPicture picture = state.Picture(6);
  ASSERT_EQ(picture.jobs.size(), 2u);
  EXPECT_EQ(picture.jobs[0].progress.job_id(), "second");
  EXPECT_EQ(picture.jobs[1].progress.state(), "completed");
  EXPECT_EQ(picture.jobs[1].age_seconds, 4);  // it does not grow old once it has ended
  // The same id again is another job.
  state.Watched(Job("first", "queued", 0), 7);
  EXPECT_EQ(state.Picture(8).jobs.size(), 3u);
  EXPECT_EQ(state.Picture(16).jobs.size(), 2u);
  state.WatchRestarted();
  EXPECT_TRUE(state.Picture(17).jobs.empty());
}

TEST(TopStateTest, TroubleKeepsTheLastPicture) {
  TopState state("a");
  state.Answered(Status(), kMetrics, 1);
  state.Failed("gone");
  EXPECT_EQ(state.Picture(2).trouble, "gone");
  EXPECT_EQ(state.Picture(2).completed, 5u);
  state.Answered(Status(), kMetrics, 3);
  EXPECT_EQ(state.Picture(4).trouble, "");
}

TopPicture Whole() {
  TopState state("unix:/run/cuzkd/cuzkd.sock");
  state.Answered(Status(), StrCat(kMetrics, "10\n"), 1);
  state.Answered(Status(), StrCat(kMetrics, "10.935\n"), 2);
  state.Watched(Job("porep-1000-84", "running", 0.42), 2);
  for (int i = 0; i < 40; ++i) state.Watched(Job(StrCat("waiting-", i, "-\xc3\xa4\x1b[31m"), "queued", 0), 2);
  return state.Picture(2);
}

std::vector<std::string> Texts(const TopPicture& picture, size_t width, size_t height, TopView view = {}) {
  std::vector<std::string> texts;
  for (const TopLine& line : DrawTop(picture, view, width, height)) texts.push_back(line.text);
  return texts;
}

TEST(TopScreenTest, ShowsWhatItIsFor) {
  std::vector<std::string> lines = Texts(Whole(), 120, 0);
  EXPECT_THAT(lines, Contains(HasSubstr("5 completed")));
  EXPECT_THAT(lines, Contains(HasSubstr("5.0 of 10.0 GiB")));
  EXPECT_THAT(lines, Contains(HasSubstr("1.0 of 2.0 GiB leased")));
  EXPECT_THAT(lines, Contains(HasSubstr("porep: 2 waiting, 1 running")));
  EXPECT_THAT(lines, Contains(HasSubstr("a card  busy 93 %  memory 6.0 of 8.0 GiB  porep-1")));
  EXPECT_THAT(lines, Contains(HasSubstr("porep-32g 3.0 GiB in use")));
  EXPECT_THAT(lines,
              Contains(::testing::ContainsRegex("porep-1000-84 .*porep .*device .*3/10 .*42 % .*18 s .*normal")));
}

TEST(TopScreenTest, FitsEverySizeAndHidesControlCharacters) {
  TopPicture picture = Whole();
  for (size_t width : {1, 8, 20, 40, 80, 200}) {
    for (size_t height : {1, 2, 5, 10, 24, 60}) {
      std::vector<std::string> lines = Texts(picture, width, height, {.keys = true});
      EXPECT_LE(lines.size(), height);
      for (const std::string& line : lines) {
        size_t columns = 0;
        for (char c : line) {
          EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20) << line;
          columns += (static_cast<unsigned char>(c) & 0xC0) == 0x80 ? 0 : 1;
        }
        EXPECT_LE(columns, width) << line;
      }
    }
  }
  EXPECT_THAT(Texts(picture, 80, 7).back(), HasSubstr("more lines"));
}

TEST(TopScreenTest, TroubleComesFirst) {
  TopPicture picture;
  picture.address = "a:1";
  picture.trouble = "nobody";
  EXPECT_EQ(Texts(picture, 80, 24)[0], "NO ANSWER from a:1: nobody");
  EXPECT_THAT(Texts(picture, 80, 24), Contains("no jobs"));
}

TEST(TopScreenTest, TheSectorsNumberIsSeenOnANarrowTerminal) {
  TopState state("a");
  state.Watched(Job("porep-1234567-987654", "running", 0.4), 2);
  state.Watched(Job("a-very-long-id-that-somebody-chose-987655", "running", 0.4), 2);
  const std::vector<std::string> lines = Texts(state.Picture(2), 80, 24);
  EXPECT_THAT(lines, Contains(HasSubstr("porep-1234567-987654 ")));
  EXPECT_THAT(lines, Contains(HasSubstr("-987655 ")));
}

TEST(TopScreenTest, JobsAreSortedAsChosenAndEndedOnesStayLast) {
  TopState state("a");
  auto watch = [&](const std::string& id, const std::string& kind, uint32_t priority, double fraction, double age,
                   const std::string& text = "running") {
    cuzkd::v1::JobProgress job = Job(id, text, fraction);
    job.set_kind(kind);
    job.set_priority(priority);
    job.set_age_seconds(age);
    state.Watched(job, 100);
  };
  watch("one", "porep", 2, 0.1, 30);
  watch("two", "winning", 4, 0.2, 10);
  watch("three", "snap", 2, 0.9, 20);
  watch("four", "porep", 4, 1, 90, "completed");
  auto order = [&](TopView::Order by) {
    std::string ids;
    for (const std::string& line : Texts(state.Picture(101), 80, 0, {.order = by})) {
      for (const char* id : {"one", "two", "three", "four"}) {
        if (line.starts_with(StrCat(id, " "))) ids += StrCat(id, " ");
      }
    }
    return ids;
  };
  EXPECT_EQ(order(TopView::Order::kSeen), "one two three four ");
  EXPECT_EQ(order(TopView::Order::kAge), "one three two four ");
  EXPECT_EQ(order(TopView::Order::kPriority), "two one three four ");
  EXPECT_EQ(order(TopView::Order::kKind), "one three two four ");
  EXPECT_EQ(order(TopView::Order::kDone), "three two one four ");
  TopView::Order by = TopView::Order::kSeen;
  for (int i = 0; i < 5; ++i) by = NextOrder(by);
  EXPECT_EQ(by, TopView::Order::kSeen);
}

TEST(TopScreenTest, ScrollingEndsAtTheLastJob) {
  const TopPicture picture = Whole();  // 41 jobs
  TopView view{.scroll = 1000, .keys = true};
  std::vector<TopLine> lines = DrawTop(picture, view, 80, 20);
  ASSERT_EQ(lines.size(), 20u);
  EXPECT_THAT(lines[18].text, HasSubstr("waiting-39"));
  EXPECT_THAT(lines[19].text, HasSubstr("to 41 of 41"));
  EXPECT_LT(view.scroll, 41u);
  view.scroll = 1;
  lines = DrawTop(picture, view, 80, 20);
  EXPECT_THAT(lines.back().text, HasSubstr("jobs 2 to "));
  view.help = true;
  EXPECT_EQ(DrawTop(picture, view, 80, 20)[0].text, "cuzkctl top");
  // What fits is not scrolled.
  view = {.scroll = 5};
  EXPECT_EQ(DrawTop(picture, view, 80, 100).size(), DrawTop(picture, view, 80, 0).size());
  EXPECT_EQ(view.scroll, 0u);
}

TEST(TopScreenTest, FailuresAreRedAndStayWithTheirReason) {
  TopState state("a");
  cuzkd::v1::JobProgress failed = Job("bad", "failed", 0.3);
  failed.set_message("partition 3: relation\x1b[2J");
  state.Watched(failed, 1);
  EXPECT_EQ(state.Picture(100).jobs.size(), 1u);
  TopView view;
  for (const TopLine& line : DrawTop(state.Picture(100), view, 80, 24)) {
    if (!line.text.starts_with("bad ")) continue;
    EXPECT_EQ(line.look, TopLine::Look::kBad);
    EXPECT_THAT(line.text, HasSubstr("failed     partition 3: relation\\x1b"));
    EXPECT_EQ(Coloured(line), StrCat("\x1b[31m", line.text, "\x1b[0m"));
  }
  EXPECT_TRUE(state.Picture(200).jobs.empty());
}

TEST(TopStateTest, ProofsAnHourAreThoseOfTheLastMinutes) {
  TopState state("a");
  v1::GetStatusResponse status = Status();
  auto rate = [&](uint64_t completed, double seconds) {
    status.set_total_proofs_completed(completed);
    state.Answered(status, kMetrics, seconds);
    return state.Picture(seconds).proofs_per_hour;
  };
  EXPECT_EQ(rate(100, 0), std::nullopt);
  EXPECT_EQ(rate(100, 9), std::nullopt);
  EXPECT_EQ(rate(110, 100), 360.0);
  EXPECT_EQ(rate(110, 600), 60.0);
  EXPECT_EQ(rate(110, 700), 0.0);         // the ten proofs are longer ago
  EXPECT_EQ(rate(1, 710), std::nullopt);  // another daemon
}

TEST(TopScreenTest, JsonIsOneObject) {
  std::string json = TopJson(Whole());
  simdjson::dom::parser parser;
  simdjson::dom::element top;
  ASSERT_EQ(parser.parse(json).get(top), simdjson::SUCCESS) << json;
  EXPECT_EQ(static_cast<uint64_t>(top["budget_used_bytes"]), uint64_t{5} << 30);
  EXPECT_EQ(top["jobs"].get_array().size(), 41u);
  EXPECT_NEAR(static_cast<double>(top["devices"].at(0)["busy"]), 0.935, 0.001);
  EXPECT_EQ(json.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace cuzk::daemon
