#include "daemon/ctl/output/terminal.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

namespace cuzk::daemon {
namespace {

void Write(std::string_view text) {
  while (!text.empty()) {
    ssize_t wrote = write(STDOUT_FILENO, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;  // the terminal has gone: the next wait says so
    text.remove_prefix(static_cast<size_t>(wrote));
  }
}

// The other screen, no cursor, no wrapping of long lines; and back.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";

// The letter that scrolls as the key does whose escape sequence follows; 0 for any other key.
char KeyOfSequence() {
  char rest[8];
  const ssize_t got = read(STDIN_FILENO, rest, sizeof rest);  // returns at once, with nothing after a lone Escape
  const std::string_view sequence(rest, got > 0 ? static_cast<size_t>(got) : 0);
  constexpr std::pair<std::string_view, char> kKeys[] = {{"[A", 'k'}, {"[B", 'j'},  {"OA", 'k'},
                                                         {"OB", 'j'}, {"[5~", 'b'}, {"[6~", ' '},
                                                         {"[H", 'g'}, {"OH", 'g'},  {"[1~", 'g'}};
  for (const auto& [known, key] : kKeys) {
    if (sequence == known) return key;
  }
  return 0;
}

}  // namespace

struct Screen::Saved {
  termios before{};
  int signals = -1;
};

bool IsScreen() {
  const char* term = std::getenv("TERM");
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && term && *term && std::string_view(term) != "dumb";
}

Screen::Screen(std::unique_ptr<Saved> saved) : saved_(std::move(saved)) {}

StatusOr<std::unique_ptr<Screen>> Screen::Take() {
  auto saved = std::make_unique<Saved>();
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  saved->signals = signalfd(-1, &signals, SFD_CLOEXEC);
  if (saved->signals < 0 || tcgetattr(STDIN_FILENO, &saved->before) != 0) {
    return absl::InternalError("the state of the terminal cannot be read");
  }
  termios raw = saved->before;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) != 0) return absl::InternalError("the terminal cannot be configured");
  Write(kEnter);
  return std::unique_ptr<Screen>(new Screen(std::move(saved)));
}

Screen::~Screen() {
  Write(kLeave);
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved_->before);
  close(saved_->signals);
}

ScreenSize Screen::size() const {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void Screen::Draw(const std::vector<std::string>& lines) {
  std::string frame = "\x1b[H";
  for (size_t i = 0; i < lines.size(); ++i) frame += StrCat(i > 0 ? "\r\n" : "", lines[i], "\x1b[K");
  Write(frame + "\x1b[J");
}

ScreenEvent Screen::Wait(std::chrono::milliseconds longest) {
  pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {saved_->signals, POLLIN, 0}};
  if (poll(sources, 2, static_cast<int>(longest.count())) <= 0) return {};
  if (sources[1].revents != 0) {
    signalfd_siginfo info{};
    if (read(saved_->signals, &info, sizeof info) != sizeof info) return {ScreenEvent::Kind::kEnd};
    return {info.ssi_signo == SIGWINCH ? ScreenEvent::Kind::kResize : ScreenEvent::Kind::kEnd};
  }
  char key = 0;
  // Readable without a byte: the terminal has gone.
  if (read(STDIN_FILENO, &key, 1) != 1) return {ScreenEvent::Kind::kEnd};
  return {ScreenEvent::Kind::kKey, key == '\x1b' ? KeyOfSequence() : key};
}

}  // namespace cuzk::daemon
