#include "core/base/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "core/base/settings/settings_text.h"
#include "core/base/text.h"

namespace cuzk {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MetricsTest, NamesFollowTheConventions) {
  std::set<std::string_view> names;
  for (const MetricRow& row : MetricTable()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.name.starts_with("cuzk_") || row.name.starts_with("process_")) << row.name;
    EXPECT_EQ(row.name.ends_with("_total"), row.type == MetricType::kCounter) << row.name;
    EXPECT_EQ(row.buckets.empty(), row.type != MetricType::kHistogram) << row.name;
    for (const BucketRow& bucket : row.buckets) {
      EXPECT_TRUE(std::is_sorted(bucket.bounds.begin(), bucket.bounds.end())) << row.name;
      EXPECT_EQ(bucket.label.empty(), &bucket == &row.buckets.back()) << row.name;
    }
    for (std::string_view unbounded : {"job", "miner", "sector", "request"}) {
      EXPECT_EQ(row.labels.find(unbounded), std::string_view::npos) << row.name;
    }
  }
}

TEST(MetricsTest, EachTypeIsWrittenAsPrometheusReadsIt) {
  Metrics metrics;
  metrics.Increment(MetricId::kProofsCompleted, {"porep_c2"});
  metrics.Increment(MetricId::kProofsCompleted, {"porep_c2"}, 2);
  metrics.Set(MetricId::kQueueDepth, {}, 4);
  metrics.Observe(MetricId::kProofDuration, {"winning_post"}, 2.5);
  metrics.Increment(MetricId::kGrpcRequests, {"Prove", "OK"});
  std::string text = metrics.Text();
  EXPECT_THAT(
      text,
      HasSubstr(
          "# TYPE cuzk_proofs_completed_total counter\ncuzk_proofs_completed_total{proof_kind=\"porep_c2\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("\ncuzk_queue_depth 4\n"));
  EXPECT_THAT(text, HasSubstr("cuzk_proof_duration_seconds_bucket{proof_kind=\"winning_post\",le=\"2\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("cuzk_proof_duration_seconds_bucket{proof_kind=\"winning_post\",le=\"3\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("cuzk_proof_duration_seconds_count{proof_kind=\"winning_post\"} 1\n"));
  // Each kind is counted around what the chain allows it.
  metrics.Observe(MetricId::kProofDuration, {"window_post"}, 1700);
  metrics.Observe(MetricId::kProofDuration, {"snap_update"}, 40);
  text = metrics.Text();
  EXPECT_THAT(text, HasSubstr("cuzk_proof_duration_seconds_bucket{proof_kind=\"window_post\",le=\"1500\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("cuzk_proof_duration_seconds_bucket{proof_kind=\"window_post\",le=\"1800\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("cuzk_proof_duration_seconds_bucket{proof_kind=\"snap_update\",le=\"45\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("proof_kind=\"winning_post\",le=\"1800\"")));
  EXPECT_THAT(text, HasSubstr("cuzk_grpc_requests_total{grpc_code=\"OK\",grpc_method=\"Prove\"} 1\n"));
}

TEST(MetricsTest, ACounterNeverGoesDown) {
  Metrics metrics;
  metrics.RaiseTo(MetricId::kPartitionsRetried, {}, 5);
  metrics.RaiseTo(MetricId::kPartitionsRetried, {}, 3);
  EXPECT_THAT(metrics.Text(), HasSubstr("\ncuzk_partitions_retried_total 5\n"));
}

TEST(MetricsTest, WhatIsNotSetAnyMoreIsGone) {
  Metrics metrics;
  metrics.SetAll(MetricId::kParametersBytes, {{"porep-2k", 1}, {"snap-2k", 1}});
  metrics.SetAll(MetricId::kParametersBytes, {{"snap-2k", 2}});
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("porep-2k")));
  EXPECT_THAT(metrics.Text(), HasSubstr("cuzk_parameters_bytes{circuit=\"snap-2k\"} 2\n"));
  metrics.SetAll(MetricId::kParametersBytes, {{"porep-2k", 3}});
  EXPECT_THAT(metrics.Text(), HasSubstr("cuzk_parameters_bytes{circuit=\"porep-2k\"} 3\n"));
}

TEST(MetricsTest, ManyThreadsCountRight) {
  Metrics metrics;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&metrics] {
      for (int i = 0; i < 1000; ++i) {
        metrics.Increment(MetricId::kProofsFailed, {"snap_update"});
        metrics.SetAll(MetricId::kParametersBytes, {{"snap-2k", 2}, {i % 2 == 0 ? "porep-2k" : "wpost-2k", 1}});
        if (i % 100 == 0) metrics.Text();
      }
    });
  }
  threads.clear();
  EXPECT_THAT(metrics.Text(), HasSubstr("cuzk_proofs_failed_total{proof_kind=\"snap_update\"} 4000\n"));
}

TEST(MetricsTest, TheProcessIsMeasured) {
  Metrics metrics;
  UpdateProcessMetrics(metrics);
  std::string text = metrics.Text();
  for (const MetricRow& row : MetricTable()) {
    if (!row.name.starts_with("process_")) continue;
    EXPECT_THAT(text, HasSubstr(StrCat("\n", row.name, " "))) << row.name;
  }
  EXPECT_THAT(text, Not(HasSubstr("process_threads 0\n")));
}

TEST(MetricsDeathTest, WrongLabelsEndTheProcess) {
  Metrics metrics;
  EXPECT_DEATH(metrics.Increment(MetricId::kProofsFailed), "");
  EXPECT_DEATH(metrics.Increment(MetricId::kQueueDepth), "");
}

TEST(MetricsTest, EveryLabelIsExplainedOnceAndUsed) {
  std::set<std::string> used, explained;
  for (const MetricRow& row : MetricTable()) {
    for (const std::string& label : SplitList(row.labels)) used.insert(label);
  }
  for (const LabelRow& row : LabelTable()) EXPECT_TRUE(explained.insert(std::string(row.name)).second) << row.name;
  EXPECT_EQ(used, explained);
}

}  // namespace
}  // namespace cuzk
