#include "daemon/sockets/address.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace cuzk::daemon {
namespace {

constexpr size_t kLongestSocketName = sizeof(sockaddr_un::sun_path) - 1;

StatusOr<Address> ParseTcp(std::string_view text) {
  size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon), port;
  if (colon != std::string_view::npos) port = text.substr(colon + 1);
  bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  bool plain = !host.empty() && host.find_first_of(":[]/ ") == std::string_view::npos;
  unsigned number = 0;
  for (char c : port) {
    if (c < '0' || c > '9' || number > 65535)
      return absl::InvalidArgumentError(StrCat("\"", text, "\": the port is not a number from 0 to 65535"));
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  if (port.empty() || number > 65535 || !(bracketed || plain)) {
    return absl::InvalidArgumentError(StrCat("\"", text, "\" is not an address: unix:PATH or HOST:PORT"));
  }
  if (bracketed) host = host.substr(1, host.size() - 2);
  return Address{.kind = Address::Kind::kTcp, .host = std::string(host), .port = number};
}

// Whether a connection to the socket is accepted.
bool SomebodyAnswers(const std::string& path) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  bool answered = connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0 || errno != ECONNREFUSED;
  close(fd);
  return answered;
}

}  // namespace

bool Address::IsLocal() const {
  if (kind != Kind::kTcp) return true;
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string Address::Target() const {
  switch (kind) {
    case Kind::kUnixPath:
      return StrCat("unix:", path);
    case Kind::kUnixAbstract:
      return StrCat("unix-abstract:", path);
    case Kind::kTcp:
      break;
  }
  return host.find(':') == std::string::npos ? StrCat(host, ":", port) : StrCat("[", host, "]:", port);
}

StatusOr<Address> ParseAddress(std::string_view text) {
  Address address;
  std::string_view path = text;
  if (path.starts_with("dns:///")) return ParseTcp(text.substr(7));
  if (path.starts_with("unix-abstract:")) {
    address.kind = Address::Kind::kUnixAbstract;
    path.remove_prefix(14);
  } else if (path.starts_with("unix:")) {
    address.kind = Address::Kind::kUnixPath;
    path.remove_prefix(path.starts_with("unix://") ? 7 : 5);
    if (text.starts_with("unix://") && !path.starts_with("/")) {
      return absl::InvalidArgumentError(StrCat("\"", text, "\": unix:// needs an absolute path"));
    }
  } else {
    return ParseTcp(text);
  }
  if (path.empty()) return absl::InvalidArgumentError(StrCat("\"", text, "\": the path is empty"));
  if (path.size() > kLongestSocketName) {
    return absl::InvalidArgumentError(StrCat("\"", text, "\": the path of a socket may have ", kLongestSocketName,
                                             " bytes, this one has ", path.size()));
  }
  address.path = path;
  return address;
}

StatusOr<std::vector<Address>> ParseAddresses(std::string_view text) {
  std::vector<Address> addresses;
  while (true) {
    size_t comma = text.find(',');
    CUZK_ASSIGN_OR_RETURN(Address address, ParseAddress(text.substr(0, comma)));
    addresses.push_back(std::move(address));
    if (comma == std::string_view::npos) return addresses;
    text.remove_prefix(comma + 1);
  }
}

bool Collide(const Address& a, const Address& b) {
  if (a.kind != b.kind) return false;
  if (a.kind != Address::Kind::kTcp) return a.path == b.path;
  auto name = [](const Address& x) { return x.host == "localhost" ? std::string("127.0.0.1") : x.host; };
  auto every = [](const Address& x) { return x.host == "0.0.0.0" || x.host == "::"; };
  return a.port == b.port && a.port != 0 && (name(a) == name(b) || every(a) || every(b));
}

Status CheckSocketPath(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  struct stat info {};
  if (!folder.empty() && (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))) {
    return absl::FailedPreconditionError(StrCat("listen: the directory ", folder.string(), " does not exist"));
  }
  if (!folder.empty() && access(folder.c_str(), W_OK | X_OK) != 0) {
    return absl::PermissionDeniedError(StrCat("listen: the directory ", folder.string(), " is not writable"));
  }
  if (lstat(path.c_str(), &info) != 0) return absl::OkStatus();
  if (!S_ISSOCK(info.st_mode)) {
    return absl::FailedPreconditionError(StrCat("listen: ", path, " exists and is not a socket"));
  }
  if (SomebodyAnswers(path)) {
    return absl::AbortedError(StrCat("listen: another process answers at ", path));
  }
  return absl::OkStatus();
}

BoundSocket::BoundSocket(std::string path)
    : path_(std::move(path)), file_(open(path_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)) {}

BoundSocket::BoundSocket(BoundSocket&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

BoundSocket::~BoundSocket() {
  if (file_ >= 0) close(file_);
}

void BoundSocket::Remove() const {
  struct stat bound {
  }, there{};
  if (file_ < 0 || fstat(file_, &bound) != 0 || lstat(path_.c_str(), &there) != 0) return;
  if (bound.st_dev == there.st_dev && bound.st_ino == there.st_ino) unlink(path_.c_str());
}

}  // namespace cuzk::daemon
