#pragma once
// Moving over: from the settings file of the daemon that Curio ships ("the incumbent") to ours. What can be carried
// over is, and what became of every key is told.

#include <string>
#include <string_view>
#include <vector>

#include "core/base/settings/settings.h"
#include "core/base/status.h"

namespace cuzk::daemon {

/// What became of one key of the incumbent's file.
struct ConvertedKey {
  enum class Fate { kCarried, kReplaced, kMeaningless, kUnknown, kNotUnderstood } fate{};
  std::string key;   ///< "memory.total_budget"
  std::string told;  ///< which setting of ours, and why
};

struct Conversion {
  std::string toml;                ///< our settings file; its comments tell the same as `keys`
  std::vector<ConvertedKey> keys;  ///< every key of the file, in the order of the lines
};

/// Every key of the incumbent that is known here, as "section.key".
std::vector<std::string_view> IncumbentKeys();

/// `name` names the file in texts. The result is accepted by Settings::Load and MakeOptions. InvalidArgument, with file
/// and line: it is not TOML, or it is a settings file of ours already.
StatusOr<Conversion> ConvertSettings(std::string_view toml, std::string_view name);

/// An error of Settings::Load; if the file is one of the incumbent's, with how to convert it.
Status WithConverterAdvice(const Status& status, const SettingSources& sources);

}  // namespace cuzk::daemon
