#include "daemon/settings/convert_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/base/settings/settings.h"
#include "daemon/settings/options.h"

namespace cuzk::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Fate = ConvertedKey::Fate;

// Every key that an operator of the incumbent may have, those of old documents included.
constexpr std::string_view kEveryKey = R"([daemon]
listen = "0.0.0.0:9820"
status_listen = "0.0.0.0:9821"
[srs]
param_cache = "/data/zk/params"
preload = ["porep-32g", "snap-32g"]
[memory]
total_budget = "256GiB"
safety_margin = "5GiB"
eviction_min_idle = "5m"
pinned_budget = "50GiB"
working_memory_budget = "100GiB"
[gpus]
devices = []
gpu_threads = 32
gpu_workers_per_device = 2
[scheduler]
max_batch_size = 1
max_batch_wait_ms = 10000
sort_by_type = true
[synthesis]
threads = 7
partition_workers = 12
[pipeline]
enabled = true
synthesis_lookahead = 1
synthesis_concurrency = 1
[logging]
level = "warn"
format = "json"
)";

Conversion Convert(std::string_view toml) {
  StatusOr<Conversion> conversion = ConvertSettings(toml, "old.toml");
  EXPECT_TRUE(conversion.ok()) << conversion.status();
  return conversion.ok() ? *conversion : Conversion{};
}

// What the daemon reads from the file that was made.
Settings Read(const std::string& toml) {
  std::string path = StrCat(::testing::TempDir(), "convert_settings_", getpid(), ".toml");
  std::ofstream(path) << toml;
  StatusOr<Settings> settings = Settings::Load({.file = path});
  EXPECT_TRUE(settings.ok()) << settings.status() << "\n" << toml;
  std::remove(path.c_str());
  if (!settings.ok()) return Settings::Defaults();
  EXPECT_TRUE(MakeOptions(*settings).ok()) << MakeOptions(*settings).status() << "\n" << toml;
  return *settings;
}

ConvertedKey Only(std::string_view toml) {
  Conversion conversion = Convert(toml);
  EXPECT_EQ(conversion.keys.size(), 1u);
  return conversion.keys.empty() ? ConvertedKey{} : conversion.keys[0];
}

TEST(ConvertSettingsTest, EveryKeyIsNamedAndTheResultIsAccepted) {
  Conversion conversion = Convert(kEveryKey);
  EXPECT_EQ(conversion.keys.size(), IncumbentKeys().size());
  for (std::string_view key : IncumbentKeys()) EXPECT_THAT(conversion.toml, HasSubstr(StrCat("# ", key, " (line ")));
  for (const ConvertedKey& key : conversion.keys) {
    EXPECT_NE(key.fate, Fate::kUnknown) << key.key;
    EXPECT_NE(key.fate, Fate::kNotUnderstood) << key.key << key.told;
    EXPECT_FALSE(key.told.empty());
  }
  Settings settings = Read(conversion.toml);
  EXPECT_EQ(settings.Text("listen"), "0.0.0.0:9820");
  EXPECT_TRUE(settings.Bool("grpc.allow_plaintext"));
  EXPECT_EQ(settings.Text("http.listen"), "0.0.0.0:9821");
  EXPECT_EQ(settings.Text("params.directory"), "/data/zk/params");
  EXPECT_THAT(settings.List("params.preload"), ::testing::ElementsAre("porep-32g", "snap-32g"));
  EXPECT_EQ(settings.Size("memory.budget"), uint64_t{256} << 30);
  EXPECT_EQ(settings.Integer("devices.workers"), 2u);
  EXPECT_EQ(settings.Integer("synthesis.threads"), 7u);
  EXPECT_EQ(settings.Text("log.level"), "warning");
  EXPECT_EQ(settings.Text("log.format"), "json");
  // What is not carried over stays at its default.
  EXPECT_EQ(settings.Origin("synthesis.partitions"), "default");
}

TEST(ConvertSettingsTest, KeysKeepTheOrderOfTheFile) {
  Conversion conversion = Convert(kEveryKey);
  EXPECT_EQ(conversion.keys.front().key, "daemon.listen");
  EXPECT_EQ(conversion.keys.back().key, "logging.format");
}

TEST(ConvertSettingsTest, UnknownKeysAreNamed) {
  Conversion conversion = Convert("top = 1\n[memory]\ntotal_bugdet = \"1GiB\"\n[else]\nx = { y = 1 }\n");
  ASSERT_EQ(conversion.keys.size(), 3u);
  for (const ConvertedKey& key : conversion.keys) EXPECT_EQ(key.fate, Fate::kUnknown);
  EXPECT_THAT(conversion.toml, HasSubstr("memory.total_bugdet (line 3): UNKNOWN"));
  EXPECT_THAT(conversion.toml, HasSubstr("else.x (line 5): UNKNOWN"));
  Read(conversion.toml);
}

TEST(ConvertSettingsTest, WhatTheIncumbentGuessedIsNotUnderstood) {
  for (const char* toml :
       {"[memory]\ntotal_budget = \"256 gib\"", "[memory]\ntotal_budget = 7", "[daemon]\nlisten = \"nowhere\"",
        "[daemon]\nstatus_listen = \"unix:/a\"", "[srs]\nparam_cache = 1", "[srs]\npreload = \"porep-32g\"",
        "[srs]\nparam_cache = \"a\\u0007b\"", "[gpus]\ndevices = 0", "[gpus]\ndevices = [\"a\"]",
        "[gpus]\ngpu_workers_per_device = -1", "[logging]\nlevel = \"cuzk_core=debug,info\""}) {
    ConvertedKey key = Only(toml);
    EXPECT_EQ(key.fate, Fate::kNotUnderstood) << toml << ": " << key.told;
    Read(Convert(toml).toml);
  }
}

TEST(ConvertSettingsTest, ValuesThatNeedAWord) {
  EXPECT_THAT(Only("[gpus]\ndevices = [0, 2]").told, HasSubstr("CUDA_VISIBLE_DEVICES=0,2"));
  EXPECT_THAT(Only("[gpus]\ngpu_workers_per_device = 9").told, HasSubstr("8"));
  EXPECT_THAT(Only("[srs]\npreload = [\"porep-33g\", \"snap-64g\"]").told, HasSubstr("no circuit porep-33g"));
  EXPECT_THAT(Only("[daemon]\nlisten = \"unix:///run/curio/cuzk.sock\"").told, HasSubstr("/run/cuzkd"));
  EXPECT_THAT(Only("[logging]\nlevel = \"trace\"").told, HasSubstr("debug"));
}

TEST(ConvertSettingsTest, PlaintextIsAllowedOnlyWhereItWasServed) {
  Settings local = Read(Convert("[daemon]\nlisten = \"127.0.0.1:9820\"\nstatus_listen = \"\"").toml);
  EXPECT_FALSE(local.Bool("grpc.allow_plaintext"));
  EXPECT_FALSE(local.Bool("http.allow_remote"));
  EXPECT_EQ(local.Text("http.listen"), "");
  EXPECT_TRUE(Read(Convert("[daemon]\nstatus_listen = \"0.0.0.0:1\"").toml).Bool("http.allow_remote"));
}

TEST(ConvertSettingsTest, TextsCannotLeaveTheirComment) {
  Conversion conversion = Convert("\"a\\nlisten = 'unix:/evil'\" = 1\n");
  EXPECT_EQ(Read(conversion.toml).Origin("listen"), "default");
}

TEST(ConvertSettingsTest, NoTomlIsRefusedWithItsLine) {
  StatusOr<Conversion> conversion = ConvertSettings("[daemon]\nlisten =\n", "old.toml");
  EXPECT_EQ(conversion.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(conversion.status().message()), HasSubstr("old.toml:2"));
}

TEST(ConvertSettingsTest, AnEmptyFileGivesTheDefaults) {
  Conversion conversion = Convert("");
  EXPECT_TRUE(conversion.keys.empty());
  EXPECT_EQ(Read(conversion.toml).Origin("listen"), "default");
}

TEST(ConvertSettingsTest, AFileOfOursIsRefused) {
  StatusOr<Conversion> once = ConvertSettings(kEveryKey, "cuzk.toml");
  ASSERT_TRUE(once.ok()) << once.status();
  for (const std::string& ours : {once->toml, std::string("[jobs]\nqueue = 3\n"), std::string("listen = \"a:1\"\n"),
                                  ConvertSettings("", "x")->toml}) {
    Status twice = ConvertSettings(ours, "cuzkd.toml").status();
    EXPECT_TRUE(absl::IsInvalidArgument(twice)) << ours;
    EXPECT_THAT(std::string(twice.message()), HasSubstr("cuzkd.toml is already a settings file of cuzkd"));
  }
  // A file of both is the incumbent's with keys that it does not have.
  EXPECT_TRUE(ConvertSettings("[jobs]\nqueue = 3\n[srs]\npreload = []\n", "x").ok());
}

TEST(ConvertSettingsTest, WhoGivesTheIncumbentsFileToUsIsToldHowToConvertIt) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "incumbent.toml";
  auto told = [&](std::string_view text) {
    std::ofstream(file) << text;
    const SettingSources sources{.file = file};
    return std::string(WithConverterAdvice(Settings::Load(sources).status(), sources).message());
  };
  EXPECT_THAT(told(kEveryKey), HasSubstr(StrCat("cuzkd --convert-settings ", file.string())));
  EXPECT_THAT(told("[jobs]\nqeue = 3\n"), Not(HasSubstr("--convert-settings")));
  EXPECT_THAT(told("[jobs\n"), Not(HasSubstr("--convert-settings")));
  EXPECT_EQ(told("[jobs]\nqueue = 3\n"), "");
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace cuzk::daemon
