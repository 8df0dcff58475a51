#include "daemon/ctl/connection/reachability.h"

#include <fcntl.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/text.h"
#include "daemon/ctl/connection/tls_diagnosis.h"
#include "daemon/ctl/connection/unit_state.h"
#include "daemon/sockets/openssl_objects.h"

namespace cuzk::daemon {
namespace {

constexpr int kPatience = 3000;  // milliseconds for each step

/// A connected socket, or the error number.
class Connection {
 public:
  Connection(const sockaddr* name, socklen_t size)
      : fd_(socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    if (fd_ < 0 || connect(fd_, name, size) == 0) {
      error_ = fd_ < 0 ? errno : 0;
      return;
    }
    error_ = errno;
    if (error_ == EINPROGRESS) error_ = Await(POLLOUT) ? Pending() : ETIMEDOUT;
  }
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return fd_; }
  int error() const { return error_; }
  bool Await(short what) const {
    pollfd wanted{fd_, what, 0};
    return poll(&wanted, 1, kPatience) == 1;
  }

 private:
  int Pending() const {
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
  }
  int fd_, error_ = 0;
};

/// Addresses of a name, freed at the end.
struct Resolved {
  explicit Resolved(const Address& address) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    error = getaddrinfo(address.host.c_str(), StrCat(address.port).c_str(), &hints, &first);
  }
  ~Resolved() {
    if (first) freeaddrinfo(first);
  }
  Resolved(const Resolved&) = delete;
  Resolved& operator=(const Resolved&) = delete;
  addrinfo* first = nullptr;
  int error = 0;
};

sockaddr_un UnixName(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);  // the address was parsed: it fits
  return name;
}

// Says what a server of HTTP/2 answers to with its own settings, and reads the first bytes that come.
std::string FirstBytes(const Connection& connection) {
  constexpr std::string_view kHello("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
  if (send(connection.fd(), kHello.data(), kHello.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(kHello.size()))
    return "";
  if (!connection.Await(POLLIN)) return "";
  char bytes[16];
  const ssize_t got = recv(connection.fd(), bytes, sizeof bytes, 0);
  return got > 0 ? std::string(bytes, static_cast<size_t>(got)) : std::string();
}

// Whether a handshake of TLS gets an answer; certificates do not matter.
bool SpeaksTls(const addrinfo& where) {
  Connection connection(where.ai_addr, where.ai_addrlen);
  if (connection.error() != 0) return false;
  std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>> context(SSL_CTX_new(TLS_client_method()));
  std::unique_ptr<SSL, Freer<SSL_free>> tls(SSL_new(context.get()));
  SSL_set_fd(tls.get(), connection.fd());
  static constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  SSL_set_alpn_protos(tls.get(), kHttp2, sizeof kHttp2);
  int done = SSL_connect(tls.get());
  while (done != 1 && SSL_get_error(tls.get(), done) == SSL_ERROR_WANT_READ && connection.Await(POLLIN)) {
    done = SSL_connect(tls.get());
  }
  return done == 1;
}

constexpr std::string_view kListen = "give cuzkctl the address of the setting listen";

std::optional<Unreachable> OtherProtocol(const std::string& target, const std::string& first, const addrinfo& where) {
  if (first.starts_with("HTTP/")) {
    return Unreachable{StrCat(target, " speaks HTTP/1, not gRPC"), StrCat("it may be http.listen; ", kListen), true};
  }
  if (first.starts_with("\x15\x03") || (first.empty() && SpeaksTls(where))) {
    return Unreachable{StrCat(target, " uses TLS"), "add --tls-ca FILE with the authority of its certificate", true};
  }
  constexpr char kSettingsFrame = 4;
  if (first.empty() || (first.size() > 3 && first[3] == kSettingsFrame)) return std::nullopt;
  return Unreachable{StrCat(target, " does not speak gRPC"), std::string(kListen), true};
}

std::optional<Unreachable> LookAtSocket(const Address& address, const ReachOptions& options) {
  struct stat info {};
  const bool abstract = address.kind == Address::Kind::kUnixAbstract;
  if (!abstract && stat(address.path.c_str(), &info) != 0) {
    if (errno != ENOENT) return std::nullopt;
    return Unreachable{StrCat("there is no socket ", address.path), StartAdvice(StateOfUnit(options.root))};
  }
  if (!abstract && !S_ISSOCK(info.st_mode))
    return Unreachable{StrCat(address.path, " is not a socket"), std::string(kListen)};
  sockaddr_un name = UnixName(abstract ? std::string() : address.path);
  if (abstract) std::memcpy(name.sun_path + 1, address.path.data(), address.path.size());
  const size_t size = offsetof(sockaddr_un, sun_path) + 1 + address.path.size();
  Connection connection(reinterpret_cast<const sockaddr*>(&name), static_cast<socklen_t>(size));
  if (connection.error() != ECONNREFUSED) return std::nullopt;
  return Unreachable{StrCat("no daemon listens at the socket ", address.path), StartAdvice(StateOfUnit(options.root))};
}

std::optional<Unreachable> LookAtPort(const Address& address, const ReachOptions& options) {
  const std::string target = address.Target();
  const Resolved names(address);
  if (names.error != 0) {
    return Unreachable{StrCat("the name ", address.host, " cannot be resolved: ", gai_strerror(names.error)),
                       "correct --address, or the setting listen"};
  }
  int error = 0;
  for (const addrinfo* where = names.first; where != nullptr; where = where->ai_next) {
    Connection connection(where->ai_addr, where->ai_addrlen);
    error = connection.error();
    if (error != 0) continue;
    if (options.tls != nullptr) {
      const std::string why = WhyNoTls(address, *options.tls, options.server_name);
      if (why.empty()) return std::nullopt;
      const std::string first = FirstBytes(connection);
      if (first.starts_with("HTTP/")) return OtherProtocol(target, first, *where);
      return Unreachable{why, "", true};
    }
    return OtherProtocol(target, FirstBytes(connection), *where);
  }
  if (error == ECONNREFUSED) {
    return Unreachable{StrCat("nothing listens at ", target),
                       address.IsLocal() ? StartAdvice(StateOfUnit(options.root))
                                         : "check on that machine whether cuzkd runs, and its setting listen"};
  }
  return Unreachable{StrCat("no connection to ", target, ": ", std::strerror(error)),
                     "check the address, and the firewalls and routes to it"};
}

}  // namespace

std::optional<Unreachable> FindUnreachable(const Address& address, const ReachOptions& options) {
  return address.kind == Address::Kind::kTcp ? LookAtPort(address, options) : LookAtSocket(address, options);
}

}  // namespace cuzk::daemon
