#include "core/base/settings/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/base/file.h"

namespace cuzk {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SettingsTest : public ::testing::Test {
 protected:
  std::filesystem::path File(std::string_view content) {
    std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "cuzkd.toml";
    EXPECT_TRUE(WriteFile(path, AsBytes(content)).ok());
    return path;
  }
  std::string Refusal(const SettingSources& sources) {
    StatusOr<Settings> settings = Settings::Load(sources);
    EXPECT_FALSE(settings.ok());
    EXPECT_EQ(settings.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(settings.status().message());
  }
  std::string FileRefusal(std::string_view content) { return Refusal({.file = File(content)}); }
};

TEST_F(SettingsTest, EveryRowIsWellFormed) {
  std::set<std::string> names, variables;
  for (const SettingRow& row : SettingTable()) {
    EXPECT_TRUE(names.insert(std::string(row.name)).second) << row.name;
    EXPECT_TRUE(variables.insert(EnvironmentName(row.name)).second) << row.name;
    EXPECT_THAT(std::string(row.description), ::testing::EndsWith(".")) << row.name;
    EXPECT_EQ(Settings::Defaults().Origin(row.name), "default");
  }
}

// A value that differs from the default can be given to each row in each way, and is told apart from it.
TEST_F(SettingsTest, EveryRowCanBeSetInEveryWay) {
  for (const SettingRow& row : SettingTable()) {
    std::string value;
    switch (row.type) {
      case SettingType::kText:
        value = row.choices.empty() ? "other" : std::string(row.choices.substr(0, row.choices.find('|')));
        break;
      case SettingType::kBool:
        value = row.default_value == "true" ? "false" : "true";
        break;
      case SettingType::kInteger:
        value = "8";
        break;
      case SettingType::kSize:
        value = "7MiB";
        break;
      case SettingType::kDuration:
        value = "7s";
        break;
      case SettingType::kMode:
        value = "0600";
        break;
      case SettingType::kList:
        value = "a,b";
        break;
    }
    std::string name(row.name);
    StatusOr<Settings> flag = Settings::Load({.flags = {{name, value}}});
    StatusOr<Settings> variable = Settings::Load({.environment = {{EnvironmentName(name), value}}});
    ASSERT_TRUE(flag.ok() && variable.ok()) << flag.status() << variable.status();
    std::string written = flag->FileText(row);
    StatusOr<Settings> file = Settings::Load({.file = File(StrCat(name, " = ", written, "\n"))});
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(variable->FileText(row), written);
    EXPECT_EQ(file->FileText(row), written);
    EXPECT_THAT(file->Origin(name), HasSubstr("cuzkd.toml:1"));
  }
}

TEST_F(SettingsTest, FlagBeatsOurVariableBeatsTheEcosystemsBeatsFileBeatsDefault) {
  SettingSources sources;
  EXPECT_EQ(Settings::Load(sources)->Text("params.directory"), "/var/tmp/filecoin-proof-parameters");
  sources.file = File("[params]\ndirectory = \"/file\"\n");
  EXPECT_EQ(Settings::Load(sources)->Text("params.directory"), "/file");
  sources.environment["FIL_PROOFS_PARAMETER_CACHE"] = "/ecosystem";
  EXPECT_EQ(Settings::Load(sources)->Origin("params.directory"), "environment FIL_PROOFS_PARAMETER_CACHE");
  sources.environment["CUZK_PARAMS_DIRECTORY"] = "/ours";
  EXPECT_EQ(Settings::Load(sources)->Text("params.directory"), "/ours");
  sources.flags.emplace_back("params.directory", "/flag");
  EXPECT_EQ(Settings::Load(sources)->Text("params.directory"), "/flag");
  EXPECT_EQ(Settings::Load(sources)->Origin("params.directory"), "flag --params.directory");
}

TEST_F(SettingsTest, TheEcosystemsVariablesAreTranslated) {
  auto level = [](const char* text) {
    return Settings::Load({.environment = {{"RUST_LOG", text}}})->Text("log.level");
  };
  EXPECT_EQ(level("trace"), "debug");
  EXPECT_EQ(level("WARN"), "warning");
  EXPECT_EQ(level("off"), "error");
  EXPECT_EQ(level("bellperson=debug"), "info");
  EXPECT_EQ(level("bellperson=debug,error,storage_proofs=info"), "error");
  for (const char* text : {"", "1", "yes"}) {
    StatusOr<Settings> settings = Settings::Load({.environment = {{"BELLMAN_NO_GPU", text}}});
    ASSERT_TRUE(settings.ok()) << settings.status();
    EXPECT_EQ(settings->Text("devices.use"), "cpu");
    EXPECT_EQ(settings->Origin("devices.use"), "environment BELLMAN_NO_GPU");
  }
  EXPECT_THAT(Refusal({.environment = {{"CUZK_GPU_THREADS", "32"}}}), HasSubstr("CUZK_SYNTHESIS_THREADS"));
}

TEST_F(SettingsTest, ReloadingTakesWhatMayChangeAndNamesTheRest) {
  Settings running = *Settings::Load({.flags = {{"jobs.queue", "5"}, {"listen", "unix:/a"}}});
  Settings next = *Settings::Load({.flags = {{"jobs.queue", "6"}, {"listen", "unix:/b"}, {"log.level", "info"}}});
  ReloadChanges changes;
  Settings now = running.Reloaded(next, changes);
  EXPECT_THAT(changes.applied, ::testing::ElementsAre("jobs.queue"));
  EXPECT_THAT(changes.need_restart, ::testing::ElementsAre("listen"));
  EXPECT_EQ(now.Integer("jobs.queue"), 6u);
  EXPECT_EQ(now.Text("listen"), "unix:/a");
  EXPECT_EQ(now.Origin("log.level"), "flag --log.level");
}

TEST_F(SettingsTest, MistakesInAFileAreRefusedWithFileAndLine) {
  EXPECT_THAT(FileRefusal("[params]\n\ndirectry = \"/x\"\n"),
              HasSubstr("cuzkd.toml:3: there is no setting \"params.directry\""));
  EXPECT_THAT(FileRefusal("[srs]\npreload = []\n"), HasSubstr("cuzkd.toml:1: there is no section \"srs\""));
  EXPECT_THAT(FileRefusal("listn = \"x\"\n"), HasSubstr("cuzkd.toml:1: there is no setting \"listn\""));
  EXPECT_THAT(FileRefusal("[memory]\nbudget = \"256 gib\"\n"),
              HasSubstr("cuzkd.toml:2: memory.budget: expected a size"));
  EXPECT_THAT(FileRefusal("[memory]\nbudget = 5\n"), HasSubstr("cuzkd.toml:2: memory.budget: expected a size"));
  EXPECT_THAT(FileRefusal("[jobs]\nqueue = -1\n"), HasSubstr("cuzkd.toml:2: jobs.queue"));
  EXPECT_THAT(FileRefusal("[jobs]\ndrain = \"2 h\"\n"), HasSubstr("cuzkd.toml:2: jobs.drain: expected a duration"));
  EXPECT_THAT(FileRefusal("[params]\nallow_development = \"yes\"\n"),
              HasSubstr("cuzkd.toml:2: params.allow_development"));
  EXPECT_THAT(FileRefusal("[log]\nlevel = \"loud\"\n"), HasSubstr("expected one of debug|info|warning|error, not"));
  EXPECT_THAT(FileRefusal("[log]\nlevel = \"info\"\nlevel = \"info\"\n"), HasSubstr("cuzkd.toml:3"));
  EXPECT_THAT(FileRefusal("[log\n"), HasSubstr("cuzkd.toml:1"));
  EXPECT_THAT(FileRefusal("[params]\npreload = [\"a\", 1]\n"), HasSubstr("cuzkd.toml:2: params.preload"));
  EXPECT_THAT(FileRefusal(std::string((1 << 20) + 1, '#')),
              HasSubstr("cuzkd.toml: has 1048577 bytes; at most 1048576"));
}

TEST_F(SettingsTest, UnknownFlagsAndVariablesAreRefused) {
  EXPECT_THAT(Refusal({.flags = {{"speed", "1"}}}), HasSubstr("--speed"));
  EXPECT_THAT(Refusal({.environment = {{"CUZK_GPU_THREADS", "32"}}}), HasSubstr("CUZK_GPU_THREADS"));
  EXPECT_THAT(Refusal({.environment = {{"CUZK_JOBS_QUEUE", "many"}}}), StartsWith("CUZK_JOBS_QUEUE: jobs.queue"));
  EXPECT_THAT(Refusal({.flags = {{"listen", "unix:/a\nb"}}}), HasSubstr("control character"));
  SettingSources builds{
      .environment = {{"CUZK_FIXTURES", "x"}, {"CUZK_REQUIRE_CUDA", "1"}, {"CUZK_CPU_ARITHMETIC", "scalar"}}};
  EXPECT_TRUE(Settings::Load(builds).ok());
}

TEST_F(SettingsTest, AMissingFileIsRefusedUnlessItMayBeMissing) {
  SettingSources sources{.file = "/nonexistent/cuzkd.toml"};
  EXPECT_EQ(Settings::Load(sources).status().code(), absl::StatusCode::kNotFound);
  sources.file_may_be_missing = true;
  EXPECT_TRUE(Settings::Load(sources).ok());
}

TEST_F(SettingsTest, SizesAreStrict) {
  EXPECT_EQ(*ParseSize("0B"), 0u);
  EXPECT_EQ(*ParseSize("256GiB"), 256ull << 30);
  EXPECT_EQ(*ParseSize("16777215TiB"), 16777215ull << 40);
  for (const char* bad : {"", "256", "256 GiB", "256gib", "256GB", "GiB", "-1GiB", "1.5GiB", "16777216TiB", "1e3B",
                          "99999999999999999999B"}) {
    EXPECT_FALSE(ParseSize(bad).ok()) << bad;
  }
  for (uint64_t bytes : {0ull, 1ull, 1024ull, 256ull << 20, (1ull << 40) + 1})
    EXPECT_EQ(*ParseSize(FormatSize(bytes)), bytes);
}

TEST_F(SettingsTest, DurationsAreStrict) {
  EXPECT_EQ(*ParseDuration("2h"), std::chrono::hours(2));
  EXPECT_EQ(*ParseDuration("200ms"), milliseconds(200));
  for (const char* bad : {"", "5", "5 s", "5S", "5d", "1m30s", "-1s", "99999999999999h"}) {
    EXPECT_FALSE(ParseDuration(bad).ok()) << bad;
  }
}

// With every default uncommented the example is a file that sets every row to its default.
TEST_F(SettingsTest, TheExampleFileIsTrue) {
  std::string example = PrintDefaults(), uncommented;
  size_t from = 0;
  while (from < example.size()) {
    size_t end = example.find('\n', from);
    std::string line = example.substr(from, end - from);
    EXPECT_LE(line.size(), 120u) << line;
    if (line.size() > 1 && line[0] == '#' && line[1] != ' ') line.erase(0, 1);
    uncommented += line + "\n";
    from = end + 1;
  }
  ASSERT_TRUE(Settings::Load({.file = File(example)}).ok());
  StatusOr<Settings> settings = Settings::Load({.file = File(uncommented)});
  ASSERT_TRUE(settings.ok()) << settings.status();
  for (const SettingRow& row : SettingTable()) {
    EXPECT_EQ(settings->FileText(row), Settings::Defaults().FileText(row));
    EXPECT_THAT(settings->Origin(row.name), StartsWith("file ")) << row.name;
  }
}

TEST_F(SettingsTest, ThePrintedConfigurationGivesTheSameSettings) {
  StatusOr<Settings> settings =
      Settings::Load({.flags = {{"params.directory", "/a \"b\"\\c"}, {"params.preload", "a, b"}}});
  ASSERT_TRUE(settings.ok());
  StatusOr<Settings> again = Settings::Load({.file = File(PrintConfig(*settings))});
  ASSERT_TRUE(again.ok()) << again.status();
  for (const SettingRow& row : SettingTable()) EXPECT_EQ(again->FileText(row), settings->FileText(row));
  EXPECT_THAT(again->List("params.preload"), ::testing::ElementsAre("a", "b"));
}

}  // namespace
}  // namespace cuzk
