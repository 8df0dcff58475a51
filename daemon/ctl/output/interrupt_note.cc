#include "daemon/ctl/output/interrupt_note.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "core/base/log.h"
#include "core/base/log_writer.h"
#include "core/base/text.h"
#include "core/base/thread.h"

namespace cuzk::daemon {
namespace {

// SIGINT and SIGTERM, unless the process ignores them, as a shell's background jobs do with SIGINT.
sigset_t EndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&signals, signal);
  }
  return signals;
}

// The text as a shell takes it for one word.
std::string ShellWord(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:/@%+=";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

InterruptNote::InterruptNote(std::function<std::string()> text) : text_(std::move(text)) {
  const sigset_t signals = EndingSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signals_ = signalfd(-1, &signals, SFD_CLOEXEC);
  end_ = eventfd(0, EFD_CLOEXEC);
  StatusOr<std::jthread> thread = StartThread("the answer to Ctrl-C", [this] { Wait(); });
  if (thread.ok()) {
    thread_ = *std::move(thread);
  } else {  // the signals end the program as they always do, without the note
    Restore();
  }
}

void InterruptNote::Restore() {
  const sigset_t signals = EndingSignals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  close(signals_);
  close(end_);
}

InterruptNote::~InterruptNote() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  if (write(end_, &one, sizeof one) != sizeof one) return;  // cannot be: the counter is 0
  thread_.join();
  Restore();
}

void InterruptNote::Wait() {
  pollfd sources[] = {{signals_, POLLIN, 0}, {end_, POLLIN, 0}};
  while (poll(sources, 2, -1) < 0) continue;
  signalfd_siginfo info{};
  if (sources[0].revents == 0 || read(signals_, &info, sizeof info) != sizeof info) return;
  const std::string text = text_();
  if (!text.empty()) WriteWithin(STDERR_FILENO, StrCat("\ncuzkctl: ", text, "\n"), std::chrono::seconds(1));
  // Ends the process as the signal does by itself, so that a shell sees why.
  const int signal = static_cast<int>(info.ssi_signo);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
}

std::string JobContinues(const std::string& id, bool cancelled) {
  const std::string name = ShellWord(EscapeControl(id));
  if (cancelled) return StrCat("the daemon cancels the job ", name, " now, because jobs.cancel_abandoned is set");
  return StrCat("the job ", name, " continues; wait for it with: cuzkctl await ", name,
                " --out FILE; or cancel it with: cuzkctl cancel ", name);
}

}  // namespace cuzk::daemon
