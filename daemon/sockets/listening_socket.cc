#include "daemon/sockets/listening_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>

#include "daemon/sockets/port_holder.h"

namespace cuzk::daemon {
namespace {

constexpr int kOne = 1;

Status BindError(int error, const Address& address, std::string_view setting) {
  const std::string begin = StrCat(setting, ": cannot listen on ", address.Target(), ": ");
  if (error == EADDRINUSE) {
    const std::string holder = HolderOf(address);
    return absl::AbortedError(StrCat(begin, holder.empty() ? "another process" : holder, " listens there"));
  }
  if (error == EADDRNOTAVAIL) return absl::AbortedError(StrCat(begin, "this machine does not have the address now"));
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(StrCat(begin, std::strerror(error)));
  if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM) {
    return absl::ResourceExhaustedError(StrCat(begin, std::strerror(error)));
  }
  return absl::FailedPreconditionError(StrCat(begin, std::strerror(error)));
}

using Resolved = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

StatusOr<Resolved> Resolve(const Address& address, std::string_view setting) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.host.c_str(), StrCat(address.port).c_str(), &wanted, &found);
  if (error == 0) return Resolved(found, &freeaddrinfo);
  const std::string text = StrCat(setting, ": cannot listen on ", address.Target(), ": ", gai_strerror(error));
  return error == EAI_AGAIN ? absl::AbortedError(text) : absl::FailedPreconditionError(text);
}

unsigned PortOf(int fd) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0) return 0;
  return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(name).sin6_port
                                          : reinterpret_cast<sockaddr_in&>(name).sin_port);
}

/// Binds without listening. Returns errno, 0 if it is bound.
int BindTcp(const addrinfo& found, const Address& address, Descriptor& fd) {
  fd.Reset(socket(found.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.open()) return errno;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &kOne, sizeof kOne);
  // "::" takes both families; a name that stands for addresses of both has a socket for each.
  const int only = address.host == "::" ? 0 : 1;
  if (found.ai_family == AF_INET6) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
  return bind(fd.get(), found.ai_addr, found.ai_addrlen) == 0 ? 0 : errno;
}

/// Every socket of an address gets the port that its first one was given.
void SetPort(addrinfo& found, unsigned port) {
  const uint16_t number = htons(static_cast<uint16_t>(port));
  if (found.ai_family == AF_INET6) reinterpret_cast<sockaddr_in6*>(found.ai_addr)->sin6_port = number;
  if (found.ai_family == AF_INET) reinterpret_cast<sockaddr_in*>(found.ai_addr)->sin_port = number;
}

StatusOr<ListeningSocket> ListenTcp(const Address& address, std::string_view setting) {
  ListeningSocket listening{.address = address};
  CUZK_ASSIGN_OR_RETURN(const Resolved found, Resolve(address, setting));
  int missing = EAFNOSUPPORT;
  for (addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
    SetPort(*each, listening.address.port);
    Descriptor fd;
    const int error = BindTcp(*each, address, fd);
    // A name may stand for an address of a family that is switched off.
    if (error == EAFNOSUPPORT || error == EADDRNOTAVAIL) {
      missing = error;
      continue;
    }
    if (error != 0 || listen(fd.get(), SOMAXCONN) != 0) {
      return BindError(error != 0 ? error : errno, listening.address, setting);
    }
    listening.address.port = PortOf(fd.get());
    listening.sockets.push_back(std::move(fd));
  }
  if (listening.sockets.empty()) return BindError(missing, address, setting);
  return listening;
}

/// A socket is made beside its path and renamed, so that the path always leads to a socket that is served. The path
/// itself where that leaves no room for the longer name.
std::string NameBeside(const std::string& path) {
  std::string name = StrCat(path, ".", getpid());
  return name.size() < sizeof(sockaddr_un::sun_path) ? name : path;
}

StatusOr<ListeningSocket> ListenUnix(const Address& address, unsigned mode, std::string_view setting) {
  const bool abstract = address.kind == Address::Kind::kUnixAbstract;
  if (!abstract) CUZK_RETURN_IF_ERROR(CheckSocketPath(address.path));
  ListeningSocket listening{.address = address};
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.open()) return BindError(errno, address, setting);
  const std::string bound = abstract ? address.path : NameBeside(address.path);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path + (abstract ? 1 : 0), bound.data(), bound.size());
  // A path ends with a zero, an abstract name with its length.
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + bound.size() + 1);
  if (!abstract) unlink(bound.c_str());
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&name), size) != 0) return BindError(errno, address, setting);
  // No client can connect before the socket listens, and by then it has its mode.
  if (!abstract && chmod(bound.c_str(), mode) != 0) return BindError(errno, address, setting);
  if (listen(fd.get(), SOMAXCONN) != 0) return BindError(errno, address, setting);
  if (!abstract && bound != address.path && std::rename(bound.c_str(), address.path.c_str()) != 0) {
    const int failed = errno;
    unlink(bound.c_str());
    return BindError(failed, address, setting);
  }
  if (!abstract) listening.file.emplace(address.path);
  listening.sockets.push_back(std::move(fd));
  return listening;
}

}  // namespace

StatusOr<ListeningSocket> Listen(const Address& address, unsigned mode, std::string_view setting) {
  return address.kind == Address::Kind::kTcp ? ListenTcp(address, setting) : ListenUnix(address, mode, setting);
}

}  // namespace cuzk::daemon
