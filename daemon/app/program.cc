#include "daemon/app/program.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "core/algebra/simd/cpu_arithmetic.h"
#include "core/base/log_writer.h"
#include "daemon/app/main_loop.h"
#include "daemon/app/process/last_words.h"
#include "daemon/settings/check_config.h"
#include "daemon/settings/command_line.h"
#include "daemon/settings/convert_settings.h"

namespace cuzk::daemon {
namespace {

int Fail(const Status& status, DaemonExit code) {
  WriteWithin(STDERR_FILENO, StrCat("cuzkd: ", EscapeControl(StrCat(status.message())), "\n"), std::chrono::seconds(1));
  return static_cast<int>(code);
}

int Obey(const CommandLine& line, const DaemonSeams& seams) {
  const std::unique_ptr<CardDriver> driver = MakeCardDriver();
  const DeviceSources cards = seams.sources.value_or(DeviceSources{.driver = driver.get()});
  if (line.task == Task::kPrintDefaults) {
    std::fputs(PrintDefaults().c_str(), stdout);
    return 0;
  }
  SettingSources sources = line.sources;
  sources.environment = ProcessEnvironment();
  StatusOr<Settings> settings = Settings::Load(sources);
  if (!settings.ok()) return Fail(WithConverterAdvice(settings.status(), sources), DaemonExit::kConfig);
  StatusOr<DaemonOptions> options = MakeOptions(*settings);
  if (!options.ok()) return Fail(options.status(), DaemonExit::kConfig);
  if (line.task == Task::kPrintConfig) {
    std::fputs((PrintConfig(*settings) + FittedSettings(*options, cards)).c_str(), stdout);
    return 0;
  }
  if (line.task == Task::kCheckConfig) {
    ConfigCheck check = CheckConfig(*options, cards);
    for (const std::string& note : check.notes) std::fprintf(stderr, "cuzkd: note: %s\n", EscapeControl(note).c_str());
    return check.status.ok() ? 0 : Fail(check.status, DaemonExitOf(check.status));
  }
  if (Status processor = algebra::CheckProcessor(); !processor.ok()) return Fail(processor, DaemonExit::kUnavailable);
  TellWhatIsShort();
  StatusOr<DaemonExit> ended = RunMainLoop(sources, *settings, *options, seams);
  return ended.ok() ? static_cast<int>(*ended) : Fail(ended.status(), DaemonExitOf(ended.status()));
}

}  // namespace

int RunDaemon(int argc, char** argv, const DaemonSeams& seams) {
  auto parsed = ParseCommandLine(argc, argv);
  const int* ended = std::get_if<int>(&parsed);
  const int code = ended ? *ended : Obey(std::get<CommandLine>(parsed), seams);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return Fail(absl::InternalError("stdout cannot be written"), DaemonExit::kInternal);
}

}  // namespace cuzk::daemon
