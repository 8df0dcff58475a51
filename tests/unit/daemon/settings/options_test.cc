#include "daemon/settings/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/settings/check_config.h"

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;

Settings With(std::vector<std::pair<std::string, std::string>> flags) {
  StatusOr<Settings> settings = Settings::Load({.flags = std::move(flags)});
  EXPECT_TRUE(settings.ok()) << settings.status();
  return *std::move(settings);
}

std::string Refusal(std::string name, std::string value) {
  StatusOr<DaemonOptions> options = MakeOptions(With({{std::move(name), std::move(value)}}));
  EXPECT_EQ(options.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(options.status().message());
}

TEST(OptionsTest, FractionsOfASecondAreRefusedWhereSecondsCount) {
  for (const char* name : {"jobs.max_time", "jobs.result_age"}) {
    EXPECT_THAT(Refusal(name, "900ms"), HasSubstr(name));
    EXPECT_TRUE(MakeOptions(With({{std::string(name), "2000ms"}})).ok());
  }
}

TEST(OptionsTest, TheDefaultsAreThoseOfTheContract) {
  StatusOr<DaemonOptions> options = MakeOptions(Settings::Defaults());
  ASSERT_TRUE(options.ok()) << options.status();
  ASSERT_EQ(options->server.listen.size(), 1u);
  EXPECT_EQ(options->server.listen[0].Target(), "unix:/run/cuzkd/cuzkd.sock");
  EXPECT_EQ(options->server.socket_mode, 0660u);
  EXPECT_GE(options->server.max_message_bytes, uint64_t{256} << 20);
  EXPECT_EQ(options->http->Target(), "127.0.0.1:9821");
  EXPECT_EQ(options->engine.parameter_directory, "/var/tmp/filecoin-proof-parameters");
  EXPECT_FALSE(options->engine.allow_development);
  EXPECT_GT(options->memory_budget, uint64_t{64} << 20);
}

TEST(OptionsTest, QuarantineIsOnUnlessItIsTurnedOff) {
  EXPECT_EQ(MakeOptions(Settings::Defaults())->engine.quarantine_errors, 5u);
  EXPECT_TRUE(MakeOptions(Settings::Defaults())->device_stall.has_value());
  StatusOr<DaemonOptions> off = MakeOptions(With({{"devices.quarantine", "false"}}));
  ASSERT_TRUE(off.ok()) << off.status();
  EXPECT_EQ(off->engine.quarantine_errors, 0u);
  EXPECT_FALSE(off->device_stall.has_value());
}

TEST(OptionsTest, KindsThatAreNoneAreRefused) {
  EXPECT_THAT(Refusal("devices.kinds", "0=windows"), HasSubstr("there is no kind \"windows\""));
  for (const char* row : {"0", "0=", "=window", "window"}) {
    EXPECT_THAT(Refusal("devices.kinds", row), HasSubstr("is not CARD=KIND+KIND")) << row;
  }
}

TEST(OptionsTest, EverySettingReachesItsPart) {
  StatusOr<DaemonOptions> options = MakeOptions(With({{"listen", "127.0.0.1:1,unix:/a"},
                                                      {"listen_mode", "0600"},
                                                      {"grpc.max_message", "300MiB"},
                                                      {"grpc.max_calls", "9"},
                                                      {"grpc.threads", "33"},
                                                      {"grpc.ingress_memory", "1GiB"},
                                                      {"grpc.reflection", "false"},
                                                      {"grpc.keepalive", "7s"},
                                                      {"grpc.keepalive_timeout", "8s"},
                                                      {"grpc.least_ping_interval", "9s"},
                                                      {"tls.certificate", "/c"},
                                                      {"tls.key", "/k"},
                                                      {"tls.client_ca", "/a"},
                                                      {"params.evict_idle", "5m"},
                                                      {"params.verify", "always"},
                                                      {"devices.wait", "7m"},
                                                      {"params.ready_before_preload", "true"},
                                                      {"legacy_metrics", "true"},
                                                      {"http.listen", ""},
                                                      {"params.directory", "/p"},
                                                      {"params.allow_development", "true"},
                                                      {"params.preload", "porep-2k,snap-32g"},
                                                      {"devices.use", "cpu"},
                                                      {"devices.cards", "1,GPU-a"},
                                                      {"devices.kinds", "0=window+winning,GPU-b=snap"},
                                                      {"devices.quarantine_errors", "6"},
                                                      {"devices.quarantine_stall", "9s"},
                                                      {"devices.memory", "20GiB"},
                                                      {"devices.workers", "3"},
                                                      {"synthesis.threads", "5"},
                                                      {"synthesis.partitions", "4"},
                                                      {"memory.budget", "7GiB"},
                                                      {"jobs.queue", "11"},
                                                      {"jobs.results", "12"},
                                                      {"jobs.result_age", "2h"},
                                                      {"jobs.drain", "90s"},
                                                      {"jobs.max_time", "3h"},
                                                      {"jobs.cancel_abandoned", "true"},
                                                      {"jobs.state_directory", "/s"},
                                                      {"jobs.stored", "1GiB"},
                                                      {"jobs.losses", "5"},
                                                      {"log.level", "debug"},
                                                      {"log.format", "json"}}));
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->server.listen.size(), 2u);
  EXPECT_EQ(options->server.socket_mode, 0600u);
  EXPECT_EQ(options->server.max_message_bytes, uint64_t{300} << 20);
  EXPECT_EQ(options->engine.max_request_bytes, uint64_t{300} << 20);
  EXPECT_EQ(options->server.max_calls_per_connection, 9u);
  EXPECT_EQ(options->server.max_threads, 33u);
  EXPECT_EQ(options->server.ingress_bytes, uint64_t{1} << 30);
  EXPECT_FALSE(options->server.reflection);
  EXPECT_EQ(options->server.keepalive, std::chrono::seconds(7));
  EXPECT_EQ(options->server.keepalive_timeout, std::chrono::seconds(8));
  EXPECT_EQ(options->server.least_ping_interval, std::chrono::seconds(9));
  EXPECT_EQ(options->server.tls.certificate, "/c");
  EXPECT_EQ(options->server.tls.key, "/k");
  EXPECT_EQ(options->server.tls.client_ca, "/a");
  EXPECT_EQ(options->evict_idle, std::chrono::minutes(5));
  EXPECT_TRUE(options->ready_before_preload);
  EXPECT_TRUE(options->legacy_metrics);
  EXPECT_FALSE(options->http.has_value());
  EXPECT_EQ(options->engine.parameter_directory, "/p");
  EXPECT_TRUE(options->engine.allow_development);
  EXPECT_THAT(options->preload, ::testing::ElementsAre("porep-2k", "snap-32g"));
  EXPECT_EQ(options->devices.use, "cpu");
  EXPECT_EQ(options->devices_wait, std::chrono::minutes(7));
  EXPECT_EQ(options->engine.digest, prover::DigestPolicy::kAlways);
  EXPECT_THAT(options->devices.cards, ::testing::ElementsAre("1", "GPU-a"));
  EXPECT_EQ(options->devices.memory_bytes, uint64_t{20} << 30);
  ASSERT_EQ(options->device_kinds.size(), 2u);
  EXPECT_EQ(options->device_kinds[0].kinds,
            (std::set<filecoin::Kind>{filecoin::Kind::kWindow, filecoin::Kind::kWinning}));
  EXPECT_EQ(options->device_kinds[1].card, "GPU-b");
  EXPECT_EQ(options->engine.quarantine_errors, 6u);
  EXPECT_EQ(options->device_stall, std::chrono::seconds(9));
  EXPECT_EQ(options->engine.workers_per_device, 3u);
  EXPECT_EQ(options->pool_threads, 5u);
  EXPECT_EQ(options->engine.synthesis_threads, 4u);
  EXPECT_EQ(options->memory_budget, uint64_t{6} << 30);  // the rest is for arriving messages
  EXPECT_EQ(options->engine.max_unfinished_jobs, 11u);
  EXPECT_EQ(options->engine.max_results, 12u);
  EXPECT_EQ(options->engine.result_age, std::chrono::hours(2));
  EXPECT_EQ(options->drain, std::chrono::seconds(90));
  EXPECT_EQ(options->engine.max_job_time, std::chrono::hours(3));
  EXPECT_TRUE(options->cancel_abandoned);
  EXPECT_EQ(options->engine.state_directory, "/s");
  EXPECT_EQ(options->engine.max_stored_bytes, uint64_t{1} << 30);
  EXPECT_EQ(options->engine.max_losses, 5u);
  EXPECT_EQ(options->log.level, LogLevel::kDebug);
  EXPECT_TRUE(options->log.json);
}

TEST(OptionsTest, ArrivingMessagesAreAPartOfTheBudget) {
  StatusOr<DaemonOptions> small = MakeOptions(With({{"memory.budget", "8GiB"}}));
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small->server.ingress_bytes, uint64_t{2} << 30);
  EXPECT_EQ(small->memory_budget, uint64_t{6} << 30);
  StatusOr<DaemonOptions> large = MakeOptions(With({{"memory.budget", "256GiB"}}));
  ASSERT_TRUE(large.ok());
  EXPECT_EQ(large->server.ingress_bytes, uint64_t{4} << 30);
  EXPECT_EQ(large->memory_budget, uint64_t{252} << 30);
  EXPECT_FALSE(MakeOptions(With({{"memory.budget", "1GiB"}, {"grpc.ingress_memory", "2GiB"}})).ok());
}

TEST(OptionsTest, ABudgetAboveTheMachinesMemoryIsToldWithBothNumbers) {
  StatusOr<DaemonOptions> options = MakeOptions(With({{"memory.budget", "8GiB"}}));
  ASSERT_TRUE(options.ok());
  const uint64_t kGiB = uint64_t{1} << 30;
  EXPECT_EQ(BudgetNote(*options, {.machine_bytes = 8 * kGiB}), "");
  EXPECT_THAT(BudgetNote(*options, {.machine_bytes = 8 * kGiB - 1}),
              AllOf(HasSubstr("memory.budget: 8192 MiB"), HasSubstr("8191 MiB that this machine has")));
  EXPECT_THAT(
      BudgetNote(*options, {.machine_bytes = 64 * kGiB, .cgroup_bytes = 4 * kGiB, .cgroup_source = "/g/memory.max"}),
      HasSubstr("4096 MiB that /g/memory.max allows"));
}

TEST(OptionsTest, WhatOnlyTheDaemonCanSeeIsRefusedByName) {
  EXPECT_THAT(Refusal("listen", "nowhere"), HasSubstr("listen"));
  EXPECT_THAT(Refusal("http.listen", "unix:"), HasSubstr("http.listen"));
  EXPECT_THAT(Refusal("params.preload", "porep-3g"), HasSubstr("there is no circuit \"porep-3g\" ("));
  EXPECT_THAT(Refusal("params.preload", "porep-3g"), HasSubstr("params.preload); did you mean"));
  EXPECT_THAT(Refusal("params.preload", "porep-3g"), HasSubstr("porep-32g"));
}

TEST(OptionsTest, EveryRangeOfTheTableIsHeldTo) {
  for (const auto& [name, value, range] :
       std::vector<std::array<std::string, 3>>{{"grpc.max_message", "2GiB", "1B to 2147483647B"},
                                               {"grpc.threads", "1", "8 to 2147483647"},
                                               {"grpc.keepalive", "999ms", "1s to 480h"},
                                               {"jobs.queue", "0", "1 to 1000000"},
                                               {"devices.workers", "9", "1 to 8"}}) {
    const Status refused = Settings::Load({.flags = {{name, value}}}).status();
    EXPECT_EQ(std::string(refused.message()),
              StrCat("--", name, ": ", name, ": expected a value from ", range, ", not \"", value, "\""));
  }
  for (const SettingRow& row : SettingTable()) {
    if (row.range.empty()) continue;
    const size_t dots = row.range.find("..");
    ASSERT_NE(dots, std::string_view::npos) << row.name;
    for (std::string_view bound : {row.range.substr(0, dots), row.range.substr(dots + 2)}) {
      EXPECT_TRUE(Settings::Load({.flags = {{std::string(row.name), std::string(bound)}}}).ok()) << row.name;
    }
  }
}

TEST(OptionsTest, WhatNobodyCanListenOnIsRefused) {
  EXPECT_THAT(Refusal("http.listen", "unix:/run/x"), HasSubstr("http.listen: must be HOST:PORT"));
  EXPECT_THAT(Refusal("http.listen", "unix-abstract:x"), HasSubstr("http.listen: must be HOST:PORT"));
  for (const char* listen : {"unix:/a,unix:///a", "127.0.0.1:1,unix:/a,127.0.0.1:1", "[::1]:7,[::1]:7",
                             "localhost:9821", "127.0.0.1:9821"}) {
    EXPECT_THAT(Refusal("listen", listen), HasSubstr("same address")) << listen;
  }
  EXPECT_THAT(
      std::string(MakeOptions(With({{"listen", "0.0.0.0:9821"}, {"grpc.allow_plaintext", "true"}})).status().message()),
      HasSubstr("same address"));
  EXPECT_TRUE(
      MakeOptions(With({{"listen", "127.0.0.1:0,127.0.0.1:0,127.0.0.1:1,[::1]:1"}, {"http.listen", "127.0.0.1:0"}}))
          .ok());
}

TEST(OptionsTest, PlaintextIsForThisMachineUnlessAllowed) {
  EXPECT_THAT(Refusal("listen", "0.0.0.0:9820"), HasSubstr("grpc.allow_plaintext"));
  EXPECT_THAT(Refusal("http.listen", "0.0.0.0:9821"), HasSubstr("http.allow_remote"));
  EXPECT_FALSE(MakeOptions(With({{"http.listen", "0.0.0.0:9821"}, {"grpc.allow_plaintext", "true"}})).ok());
  EXPECT_TRUE(MakeOptions(With({{"http.listen", "0.0.0.0:9821"}, {"http.allow_remote", "true"}})).ok());
  EXPECT_TRUE(MakeOptions(With({{"listen", "0.0.0.0:9820"}, {"grpc.allow_plaintext", "true"}})).ok());
}

}  // namespace
}  // namespace cuzk::daemon
