#include "daemon/app/process/last_words.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "core/base/log_writer.h"
#include "core/base/thread.h"
#include "daemon/common/exit_code.h"

namespace cuzk::daemon {
namespace {

/// Made while there is memory.
const std::string& Words() {
  static const std::string words =
      StrCat("cuzkd: the system refuses memory or a thread (", ThreadLimits(), "): ending; accepted jobs are kept\n");
  return words;
}

void End() {
  (void)!write(STDERR_FILENO, Words().data(), Words().size());
  _exit(static_cast<int>(DaemonExit::kTemporary));
}

[[noreturn]] void Terminate() {
  try {
    if (const std::exception_ptr current = std::current_exception()) std::rethrow_exception(current);
  } catch (const std::bad_alloc&) {
    End();
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) End();
  } catch (...) {
  }
  std::abort();
}

}  // namespace

void TellWhatIsShort() {
  (void)Words();
  std::set_terminate(&Terminate);
}

}  // namespace cuzk::daemon
