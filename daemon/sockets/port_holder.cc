#include "daemon/sockets/port_holder.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <vector>

namespace cuzk::daemon {
namespace {

constexpr std::string_view kListening = "0A";  // the state as /proc/net/tcp writes it

std::vector<std::string> Words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// Inodes of the listening TCP sockets with that port.
void AddTcp(const char* table, unsigned port, std::set<std::string>& inodes) {
  std::ifstream in(table);
  std::string line;
  while (std::getline(in, line)) {
    // "0: 0100007F:2652 00000000:0000 0A ... uid timeout inode": the port is in hexadecimal digits.
    const std::vector<std::string> words = Words(line);
    if (words.size() < 10 || words[3] != kListening) continue;
    const size_t colon = words[1].rfind(':');
    unsigned local = 0;
    if (colon == std::string::npos) continue;
    const char* end = words[1].data() + words[1].size();
    if (std::from_chars(words[1].data() + colon + 1, end, local, 16).ec != std::errc()) continue;
    if (local == port) inodes.insert(words[9]);
  }
}

/// Inodes of the Unix sockets that were bound to that name ("@" begins an abstract one).
void AddUnix(const std::string& name, std::set<std::string>& inodes) {
  std::ifstream in("/proc/net/unix");
  std::string line;
  while (std::getline(in, line)) {
    const std::vector<std::string> words = Words(line);
    if (words.size() == 8 && words[7] == name) inodes.insert(words[6]);
  }
}

bool HasSocket(const std::filesystem::path& process, const std::set<std::string>& inodes) {
  std::error_code error;
  for (std::filesystem::directory_iterator file(process / "fd", error), end; !error && file != end;
       file.increment(error)) {
    std::array<char, 64> target{};
    const ssize_t size = readlink(file->path().c_str(), target.data(), target.size());
    std::string_view name(target.data(), size > 0 ? static_cast<size_t>(size) : 0);
    if (!name.starts_with("socket:[") || !name.ends_with("]")) continue;
    if (inodes.contains(std::string(name.substr(8, name.size() - 9)))) return true;
  }
  return false;
}

}  // namespace

std::string HolderOf(const Address& address) {
  std::set<std::string> inodes;
  switch (address.kind) {
    case Address::Kind::kTcp:
      AddTcp("/proc/net/tcp", address.port, inodes);
      AddTcp("/proc/net/tcp6", address.port, inodes);
      break;
    case Address::Kind::kUnixPath:
      AddUnix(address.path, inodes);
      break;
    case Address::Kind::kUnixAbstract:
      AddUnix(StrCat("@", address.path), inodes);
      break;
  }
  if (inodes.empty()) return "";
  std::error_code error;
  for (std::filesystem::directory_iterator process("/proc", error), end; !error && process != end;
       process.increment(error)) {
    const std::string pid = process->path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos || !HasSocket(process->path(), inodes)) continue;
    std::string name;
    std::ifstream comm(process->path() / "comm");
    std::getline(comm, name);
    return StrCat("process ", pid, name.empty() ? "" : StrCat(" (", name, ")"));
  }
  return "";
}

}  // namespace cuzk::daemon
