#include "daemon/ingress/relay.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <semaphore>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "core/base/thread.h"
#include "daemon/common/awake_clock.h"
#include "daemon/ingress/relayed_connection.h"

namespace cuzk::daemon {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kTick{1};
/// Accepted at once, so that open connections get their turn.
constexpr int kAcceptAtOnce = 32;
constexpr size_t kBufferBytes = size_t{64} << 10;
/// What waits in the kernel between the relay and gRPC.
constexpr int kPairBytes = 64 << 10;
constexpr int kOne = 1;
/// A connection whose waiting calls hold less is not ended to make room.
constexpr uint64_t kWorthEnding = 16 * OpenCalls::kCallBytes;
constexpr uint64_t kNone = UINT64_MAX;

/// What an event of epoll is about: a listener, the wake-up, or one side of a connection.
enum class Side : uint64_t { kWake, kListener, kClient, kServer };
uint64_t Tag(uint64_t id, Side side) { return id << 2 | static_cast<uint64_t>(side); }

}  // namespace

class Relay::Loop {
 public:
  explicit Loop(Parts parts) : parts_(std::move(parts)), buffer_(kBufferBytes) {}
  ~Loop() {
    if (thread_.joinable()) {
      thread_.request_stop();
      Wake();
      thread_.join();
    }
    connections_.clear();
  }

  Status Start();
  void StopListening();

 private:
  struct Entry {
    std::unique_ptr<RelayedConnection> connection;
    RelayedConnection::Interest registered;
  };

  void Run(const std::stop_token& stop);
  void Handle(const epoll_event& event);
  void Accept(uint64_t listener);
  /// False, with errno in `failed`, if the system has no descriptors for it.
  bool Adopt(Descriptor client, bool tcp, int& failed);
  /// Ends the connection of which most calls wait for their first message; false if there is none worth it.
  bool MakeRoom();
  void Pump(uint64_t id);
  void Register(uint64_t id, Entry& entry);
  void Arm(int fd, uint64_t tag, uint32_t wanted, uint32_t& registered);
  void Tick();
  void Listen(bool on);
  void CloseListeners();
  void Wake() const { (void)!write(wake_.get(), "\1\0\0\0\0\0\0", 8); }
  Parts parts_;
  Descriptor epoll_, wake_;
  std::vector<char> buffer_;
  std::map<uint64_t, Entry> connections_;
  std::map<int, uint64_t> by_number_;  // gRPC's number of the end of a pair
  std::set<uint64_t> ready_;           // have more to move
  uint64_t next_id_ = 0, pumped_ = kNone;
  bool listening_ = true;
  bool without_descriptors_ = false;  // told, and no connection was taken since
  steady_clock::time_point ticked_{};
  AwakeClock clock_;
  std::atomic<bool> stop_listening_ = false;
  std::binary_semaphore stopped_listening_{0};
  std::jthread thread_;
};

Status Relay::Loop::Start() {
  epoll_.Reset(epoll_create1(EPOLL_CLOEXEC));
  wake_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll_.open() || !wake_.open()) {
    return absl::ResourceExhaustedError(StrCat("listen: no file descriptor for the relay: ", std::strerror(errno)));
  }
  epoll_event event{.events = EPOLLIN, .data = {.u64 = Tag(0, Side::kWake)}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
  for (size_t i = 0; i < parts_.listeners.size(); ++i) {
    for (size_t k = 0; k < parts_.listeners[i].sockets.size(); ++k) {
      event = {.events = EPOLLIN, .data = {.u64 = Tag(i << 8 | k, Side::kListener)}};
      epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, parts_.listeners[i].sockets[k].get(), &event);
    }
  }
  CUZK_ASSIGN_OR_RETURN(thread_, StartThread("connections", [this](const std::stop_token& stop) { Run(stop); }));
  return absl::OkStatus();
}

void Relay::Loop::Run(const std::stop_token& stop) {
  std::array<epoll_event, 64> events{};
  while (!stop.stop_requested()) {
    const int timeout = ready_.empty() ? static_cast<int>(std::chrono::milliseconds(kTick).count()) : 0;
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout);
    for (uint64_t id : std::exchange(ready_, {})) Pump(id);
    for (int i = 0; i < count; ++i) Handle(events[static_cast<size_t>(i)]);
    if (stop_listening_ && !parts_.listeners.empty()) CloseListeners();
    if (steady_clock::now() - ticked_ >= kTick) Tick();
  }
  if (!parts_.listeners.empty()) CloseListeners();
}

void Relay::Loop::Handle(const epoll_event& event) {
  const uint64_t id = event.data.u64 >> 2;
  switch (static_cast<Side>(event.data.u64 & 3)) {
    case Side::kWake: {
      uint64_t count = 0;
      (void)!read(wake_.get(), &count, sizeof count);
      return;
    }
    case Side::kListener:
      return Accept(id);
    case Side::kClient:
    case Side::kServer:
      return Pump(id);
  }
}

void Relay::Loop::Accept(uint64_t listener) {
  if (listener >> 8 >= parts_.listeners.size()) return;  // was closed
  ListeningSocket& socket = parts_.listeners[listener >> 8];
  const bool tcp = socket.address.kind == Address::Kind::kTcp;
  for (int i = 0; i < kAcceptAtOnce; ++i) {
    Descriptor client(accept4(socket.sockets[listener & 255].get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const int error = errno;
    if (!client.open() && (error == EAGAIN || error == EWOULDBLOCK)) return;
    const bool without_room = error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
    if (!client.open() && !without_room) continue;  // it went before it was taken
    int failed = error;
    if (client.open() && Adopt(std::move(client), tcp, failed)) {
      without_descriptors_ = false;
      continue;
    }
    if (!std::exchange(without_descriptors_, true)) {
      parts_.ended("no_descriptors", StrCat("no connection can be accepted: ", std::strerror(failed),
                                            " (raise LimitNOFILE of the unit)"));
    }
    Listen(false);  // until the next tick: the connection that waits would wake the thread all the time
    return;
  }
}

bool Relay::Loop::MakeRoom() {
  uint64_t id = 0, most = kWorthEnding;
  for (const auto& [each, entry] : connections_) {
    const uint64_t waiting = entry.connection->waiting_bytes();
    if (waiting > most) std::tie(id, most) = std::pair(each, waiting);
  }
  if (most == kWorthEnding || id == pumped_) return false;
  connections_.at(id).connection->GiveRoom();
  ready_.insert(id);
  return true;
}

bool Relay::Loop::Adopt(Descriptor client, bool tcp, int& failed) {
  if (tcp) setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &kOne, sizeof kOne);
  while (!parts_.memory->Take(kConnectionBytes)) {
    if (MakeRoom()) continue;
    parts_.ended("no_memory", "a connection was refused: grpc.ingress_memory is used up");
    return true;
  }
  const bool encrypted = tcp && parts_.identity != nullptr;
  TlsSession session(encrypted ? parts_.identity->NewSession() : nullptr);
  if (encrypted && session == nullptr) {  // never in plaintext instead
    failed = ENOMEM;
    parts_.memory->Return(kConnectionBytes);
    return false;
  }
  std::array<int, 2> pair{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0) {
    failed = errno;
    parts_.memory->Return(kConnectionBytes);
    return false;
  }
  Descriptor ours(pair[0]);
  for (int fd : pair) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kPairBytes, sizeof kPairBytes);
  // The connection that had the number before is closed on gRPC's side, perhaps not on ours yet.
  if (auto before = by_number_.find(pair[1]); before != by_number_.end()) {
    connections_.at(before->second).connection->ForgetNumber();
    by_number_.erase(before);
  }
  const uint64_t id = next_id_++;
  Entry& entry = connections_[id];
  entry.connection = std::make_unique<RelayedConnection>(
      ClientStream(std::move(client), std::move(session)), std::move(ours), pair[1],
      FrameGate::Parts{
          .memory = parts_.memory, .max_message = parts_.max_message, .make_room = [this] { return MakeRoom(); }},
      clock_.Now());
  by_number_[pair[1]] = id;
  parts_.serve(pair[1]);
  Register(id, entry);
  return true;
}

void Relay::Loop::Pump(uint64_t id) {
  auto entry = connections_.find(id);
  if (entry == connections_.end()) return;
  RelayedConnection& connection = *entry->second.connection;
  pumped_ = id;
  if (connection.Pump(buffer_, clock_.Now())) ready_.insert(id);
  pumped_ = kNone;
  Register(id, entry->second);
}

void Relay::Loop::Register(uint64_t id, Entry& entry) {
  RelayedConnection& connection = *entry.connection;
  if (Status error = connection.TakeError(); !error.ok()) {
    const std::string text(error.message());
    parts_.ended(absl::IsResourceExhausted(error) ? "excessive" : "malformed",
                 StrCat("a connection was ended: ", text));
  }
  if (connection.over()) {
    auto number = by_number_.find(connection.number());
    if (number != by_number_.end() && number->second == id) by_number_.erase(number);
    connections_.erase(id);
    parts_.memory->Return(kConnectionBytes);
    return;
  }
  const RelayedConnection::Interest wanted = connection.Wanted();
  Arm(connection.client_fd(), Tag(id, Side::kClient), wanted.client, entry.registered.client);
  Arm(connection.server_fd(), Tag(id, Side::kServer), wanted.server, entry.registered.server);
  if (connection.readable()) ready_.insert(id);
}

void Relay::Loop::Arm(int fd, uint64_t tag, uint32_t wanted, uint32_t& registered) {
  if (wanted == registered || fd < 0) {
    registered = fd < 0 ? 0 : registered;
    return;
  }
  epoll_event event{.events = wanted, .data = {.u64 = tag}};
  epoll_ctl(epoll_.get(), wanted == 0 ? EPOLL_CTL_DEL : (registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD), fd, &event);
  registered = wanted;
}

void Relay::Loop::Tick() {
  ticked_ = steady_clock::now();
  Listen(true);
  std::vector<uint64_t> ids;
  for (const auto& [id, entry] : connections_) ids.push_back(id);
  const FrameGate::Time now = clock_.Now();
  for (uint64_t id : ids) {
    Entry& entry = connections_.at(id);
    entry.connection->Tick(now);
    Register(id, entry);
  }
}

void Relay::Loop::Listen(bool on) {
  if (listening_ == on) return;
  listening_ = on;
  for (size_t i = 0; i < parts_.listeners.size(); ++i) {
    for (size_t k = 0; k < parts_.listeners[i].sockets.size(); ++k) {
      epoll_event event{.events = on ? EPOLLIN : 0U, .data = {.u64 = Tag(i << 8 | k, Side::kListener)}};
      epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, parts_.listeners[i].sockets[k].get(), &event);
    }
  }
}

void Relay::Loop::CloseListeners() {
  for (const ListeningSocket& listener : parts_.listeners) {
    if (listener.file) listener.file->Remove();
  }
  parts_.listeners.clear();
  stopped_listening_.release();
}

void Relay::Loop::StopListening() {
  if (stop_listening_.exchange(true)) return;
  Wake();
  stopped_listening_.acquire();
}

Relay::Relay(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Relay::~Relay() = default;

StatusOr<std::unique_ptr<Relay>> Relay::Start(Parts parts) {
  auto loop = std::make_unique<Loop>(std::move(parts));
  CUZK_RETURN_IF_ERROR(loop->Start());
  return std::unique_ptr<Relay>(new Relay(std::move(loop)));
}

void Relay::StopListening() { loop_->StopListening(); }

}  // namespace cuzk::daemon
