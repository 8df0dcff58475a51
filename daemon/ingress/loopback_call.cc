#include "daemon/ingress/loopback_call.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include "daemon/ingress/http2_frames.h"
#include "daemon/sockets/descriptor.h"

namespace cuzk::daemon {
namespace {

using namespace http2;  // NOLINT: its names are those of the RFC
using std::chrono::steady_clock;

constexpr uint32_t kStream = 1;
constexpr const char* kNoTime = "no answer in time";

/// Connected, with all waiting limited; errno otherwise.
StatusOr<Descriptor> ConnectTo(int family, const sockaddr* name, socklen_t size, std::chrono::seconds patience) {
  Descriptor fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.open()) return absl::UnavailableError(std::strerror(errno));
  const timeval limit{.tv_sec = patience.count(), .tv_usec = 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (connect(fd.get(), name, size) == 0) return fd;
  return absl::UnavailableError(errno == EAGAIN || errno == EINPROGRESS ? kNoTime : std::strerror(errno));
}

StatusOr<Descriptor> Connect(const Address& address, std::chrono::seconds patience) {
  if (address.kind != Address::Kind::kTcp) {
    const size_t begin = address.kind == Address::Kind::kUnixAbstract ? 1 : 0;
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path + begin, address.path.data(), address.path.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.path.size() + 1);
    return ConnectTo(AF_UNIX, reinterpret_cast<sockaddr*>(&name), size, patience);
  }
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  // A host that stands for every address of the machine is reached at its loop-back address.
  const bool every = address.host == "0.0.0.0" || address.host == "::";
  const std::string port = StrCat(address.port);
  const int error = getaddrinfo(every ? nullptr : address.host.c_str(), port.c_str(), &wanted, &found);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  StatusOr<Descriptor> fd = absl::UnavailableError("the host name has no address");
  for (const addrinfo* each = found; each != nullptr && !fd.ok(); each = each->ai_next) {
    fd = ConnectTo(each->ai_family, each->ai_addr, each->ai_addrlen, patience);
  }
  return fd;
}

std::string CallFrames() {
  std::string headers;
  auto text = [&headers](std::string_view value) {
    headers.push_back(static_cast<char>(value.size()));
    headers += value;
  };
  for (const auto& [name, value] : {std::pair<std::string_view, std::string_view>{":method", "POST"},
                                    {":scheme", "http"},
                                    {":path", "/cuzkd.v1.Operator/Probe"},
                                    {":authority", "localhost"},
                                    {"te", "trailers"},
                                    {"content-type", "application/grpc"}}) {
    headers.push_back('\0');  // a field that no table keeps
    text(name);
    text(value);
  }
  std::string frames(kPreface);
  AppendFrame(frames, kSettings, 0, 0, "");
  AppendFrame(frames, kHeaders, kEndHeaders, kStream, headers);
  AppendFrame(frames, kData, kEndStream, kStream, std::string(kPrefixBytes, '\0'));  // an empty message
  return frames;
}

/// The value of a field in a block whose texts are written out, as gRPC writes them on a connection's first call.
std::string Field(std::string_view block, std::string_view name) {
  const std::string key = StrCat(std::string(1, static_cast<char>(name.size())), name);
  const size_t at = block.find(key);
  if (at == std::string_view::npos || at + key.size() >= block.size()) return "";
  block.remove_prefix(at + key.size());
  size_t size = static_cast<unsigned char>(block.front());
  block.remove_prefix(1);
  // A length of 127 or more goes on in the bytes that follow, seven bits each.
  for (unsigned shift = 0; size >= 0x7F && shift <= 14 && !block.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(block.front());
    size += static_cast<size_t>(byte & 0x7F) << shift;
    block.remove_prefix(1);
    if (byte < 0x80) break;
  }
  return std::string(block.substr(0, size));
}

Status JudgeAnswer(std::string_view block) {
  const std::string status = Field(block, "grpc-status");
  if (status == "0") return absl::OkStatus();
  const std::string message = Field(block, "grpc-message");
  return absl::UnavailableError(StrCat("a call is answered with status ", status.empty() ? "unknown" : status,
                                       message.empty() ? "" : StrCat(", ", message)));
}

/// Reads until the call has ended.
Status AwaitEnd(int fd, steady_clock::time_point until) {
  std::string bytes;
  std::array<char, 4096> buffer{};
  while (steady_clock::now() < until) {
    while (bytes.size() >= kHeadBytes) {
      const std::string_view all = bytes;
      const size_t size = kHeadBytes + ReadNumber(all.substr(0, 3));
      if (bytes.size() < size) break;
      const auto type = static_cast<uint8_t>(all[3]), flags = static_cast<uint8_t>(all[4]);
      const bool ours = (ReadNumber(all.substr(5, 4)) & 0x7FFFFFFF) == kStream;
      if (ours && type == kResetStream) return absl::UnavailableError("a call is reset");
      if (ours && type == kHeaders && (flags & kEndStream) != 0) {
        return JudgeAnswer(all.substr(kHeadBytes, size - kHeadBytes));
      }
      bytes.erase(0, size);
    }
    const ssize_t taken = recv(fd, buffer.data(), buffer.size(), 0);
    if (taken == 0) return absl::UnavailableError("the connection is closed");
    if (taken < 0 && errno != EINTR) return absl::UnavailableError(errno == EAGAIN ? kNoTime : std::strerror(errno));
    if (taken > 0) bytes.append(buffer.data(), static_cast<size_t>(taken));
  }
  return absl::UnavailableError(kNoTime);
}

Status Call(const Address& address, bool encrypted, std::chrono::seconds patience) {
  const steady_clock::time_point until = steady_clock::now() + patience;
  CUZK_ASSIGN_OR_RETURN(const Descriptor fd, Connect(address, patience));
  if (encrypted) return absl::OkStatus();
  const std::string frames = CallFrames();
  if (send(fd.get(), frames.data(), frames.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(frames.size())) {
    return absl::UnavailableError(std::strerror(errno));
  }
  return AwaitEnd(fd.get(), until);
}

}  // namespace

Status CallOwnListener(const Address& address, bool encrypted, std::chrono::seconds patience) {
  const Status called = Call(address, encrypted, patience);
  if (called.ok()) return called;
  return absl::UnavailableError(StrCat("clients are not served at ", address.Target(), ": ", called.message()));
}

}  // namespace cuzk::daemon
