#include "daemon/http/http_server.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <thread>

#include "core/base/mutex.h"
#include "core/base/thread.h"
#include "daemon/common/awake_clock.h"
#include "daemon/http/page_maker.h"
#include "daemon/sockets/listening_socket.h"

namespace cuzk::daemon {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kTick{1};
/// How long a client may take to send its request, and, again from each byte that it takes, to read the answer.
constexpr std::chrono::seconds kRequestPatience{5}, kAnswerPatience{30};
/// How long what else a client sends is read, so that the end of the connection does not destroy the answer on its way.
constexpr std::chrono::seconds kLinger{2};
constexpr int kAcceptAtOnce = 32;
constexpr uint64_t kWake = 0, kFirstConnection = 256;  // between them: the listening sockets

}  // namespace

class HttpServer::Loop {
 public:
  Loop(ListeningSocket listening, Pages pages, bool local_only)
      : listening_(std::move(listening)), maker_(std::move(pages), local_only) {}
  ~Loop();

  Status Start();
  unsigned port() const { return listening_.address.port; }

 private:
  struct Connection {
    Descriptor socket;
    enum class Step { kRequest, kPage, kAnswer, kLinger } step = Step::kRequest;
    AwakeClock::Time until{};
    std::string bytes;            // of the request, then of the answer
    size_t sent = 0;              // of the answer
    std::shared_ptr<void> place;  // of the answer
  };
  using Connections = std::map<uint64_t, Connection>;
  struct Task {
    uint64_t connection = 0;
    HttpRequest request;
  };
  struct Made {
    uint64_t connection = 0;
    PageMaker::Bytes answer;
  };

  void Run(const std::stop_token& stop);
  void MakePages(const std::stop_token& stop);
  void Accept(int listener);
  void MakeRoom();
  void Handle(uint64_t id);
  void TakeRequest(Connections::iterator connection);
  void TakeMade();
  void Send(Connections::iterator connection, PageMaker::Bytes answer);
  void Write(Connections::iterator connection);
  void Linger(Connections::iterator connection);
  void Watch(uint64_t id, int fd, uint32_t events, bool first);
  void Tick();
  void Wake() const { (void)!write(wake_.get(), "\1\0\0\0\0\0\0", 8); }

  ListeningSocket listening_;
  const PageMaker maker_;
  Descriptor epoll_, wake_;
  AwakeClock clock_;
  steady_clock::time_point ticked_{};
  Connections connections_;
  uint64_t next_id_ = kFirstConnection;

  Mutex mutex_;
  Condition tasks_wake_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  std::vector<Made> made_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;  // last: end before the rest
};

HttpServer::Loop::~Loop() {
  for (std::jthread& thread : threads_) thread.request_stop();
  Wake();
}

Status HttpServer::Loop::Start() {
  epoll_.Reset(epoll_create1(EPOLL_CLOEXEC));
  wake_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll_.open() || !wake_.open()) {
    return absl::ResourceExhaustedError(StrCat("http.listen: no file descriptor: ", std::strerror(errno)));
  }
  Watch(kWake, wake_.get(), EPOLLIN, true);
  for (size_t i = 0; i < listening_.sockets.size(); ++i) Watch(1 + i, listening_.sockets[i].get(), EPOLLIN, true);
  auto start = [this](void (Loop::*work)(const std::stop_token&)) -> Status {
    CUZK_ASSIGN_OR_RETURN(std::jthread thread, StartThread("http.listen", [this, work](const std::stop_token& stop) {
                            (this->*work)(stop);
                          }));
    threads_.push_back(std::move(thread));
    return absl::OkStatus();
  };
  for (size_t i = 1; i < kThreads; ++i) CUZK_RETURN_IF_ERROR(start(&Loop::MakePages));
  return start(&Loop::Run);
}

void HttpServer::Loop::Watch(uint64_t id, int fd, uint32_t events, bool first) {
  epoll_event event{.events = events, .data = {.u64 = id}};
  epoll_ctl(epoll_.get(), first ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}

void HttpServer::Loop::Run(const std::stop_token& stop) {
  std::array<epoll_event, 64> events{};
  while (!stop.stop_requested()) {
    const int timeout = static_cast<int>(std::chrono::milliseconds(kTick).count());
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout);
    for (int i = 0; i < count; ++i) {
      const uint64_t id = events[static_cast<size_t>(i)].data.u64;
      if (id == kWake) {
        TakeMade();
      } else if (id < kFirstConnection) {
        Accept(listening_.sockets[id - 1].get());
      } else {
        Handle(id);
      }
    }
    if (steady_clock::now() - ticked_ >= kTick) Tick();
  }
}

void HttpServer::Loop::MakePages(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  for (;;) {
    while (tasks_.empty() && !stop.stop_requested()) tasks_wake_.WaitUntil(mutex_, std::nullopt, stop);
    if (tasks_.empty()) return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.Unlock();
    Made made{.connection = task.connection, .answer = maker_.Answer(task.request)};
    lock.Lock();
    made_.push_back(std::move(made));
    Wake();
  }
}

void HttpServer::Loop::Accept(int listener) {
  for (int i = 0; i < kAcceptAtOnce; ++i) {
    Descriptor socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.open()) {
      // Without descriptors the connection that waits would wake this thread all the time: room is made for it.
      if (errno == EMFILE || errno == ENFILE) MakeRoom();
      return;
    }
    if (connections_.size() >= kMostConnections) MakeRoom();
    const uint64_t id = next_id_++;
    Watch(id, socket.get(), EPOLLIN, true);
    Connection& connection = connections_[id];
    connection.socket = std::move(socket);
    connection.until = clock_.Now() + kRequestPatience;
  }
}

void HttpServer::Loop::MakeRoom() {
  auto oldest = connections_.end();
  for (auto each = connections_.begin(); each != connections_.end(); ++each) {
    const bool silent =
        each->second.step == Connection::Step::kRequest || each->second.step == Connection::Step::kLinger;
    if (silent && (oldest == connections_.end() || each->second.until < oldest->second.until)) oldest = each;
  }
  if (oldest == connections_.end()) oldest = connections_.begin();
  if (oldest != connections_.end()) {
    connections_.erase(oldest);
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // others have all descriptors
  }
}

void HttpServer::Loop::Handle(uint64_t id) {
  auto connection = connections_.find(id);
  if (connection == connections_.end()) return;
  switch (connection->second.step) {
    case Connection::Step::kRequest:
      return TakeRequest(connection);
    case Connection::Step::kPage:
      connections_.erase(connection);  // only errors wake it: the client has gone
      return;
    case Connection::Step::kAnswer:
      return Write(connection);
    case Connection::Step::kLinger:
      return Linger(connection);
  }
}

void HttpServer::Loop::TakeRequest(Connections::iterator connection) {
  Connection& c = connection->second;
  std::array<char, 4096> buffer{};
  const ssize_t taken = recv(c.socket.get(), buffer.data(), buffer.size(), 0);
  if (taken < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (taken <= 0) {
    connections_.erase(connection);
    return;
  }
  c.bytes.append(buffer.data(), static_cast<size_t>(taken));
  std::optional<HttpRequest> request = ParseHead(c.bytes);
  if (!request) return;
  c.step = Connection::Step::kPage;
  std::string().swap(c.bytes);
  Watch(connection->first, c.socket.get(), 0, false);
  MutexLock lock(mutex_);
  tasks_.push_back({.connection = connection->first, .request = *std::move(request)});
  tasks_wake_.NotifyOne();
}

void HttpServer::Loop::TakeMade() {
  uint64_t count = 0;
  (void)!read(wake_.get(), &count, sizeof count);
  std::vector<Made> made;
  {
    MutexLock lock(mutex_);
    made.swap(made_);
  }
  for (Made& each : made) {
    auto connection = connections_.find(each.connection);
    if (connection != connections_.end()) Send(connection, std::move(each.answer));
  }
}

void HttpServer::Loop::Send(Connections::iterator connection, PageMaker::Bytes answer) {
  Connection& c = connection->second;
  c.step = Connection::Step::kAnswer;
  c.bytes = std::move(answer.text);
  c.place = std::move(answer.place);
  c.until = clock_.Now() + kAnswerPatience;
  Watch(connection->first, c.socket.get(), EPOLLOUT, false);
  Write(connection);
}

void HttpServer::Loop::Write(Connections::iterator connection) {
  Connection& c = connection->second;
  const ssize_t given = send(c.socket.get(), c.bytes.data() + c.sent, c.bytes.size() - c.sent, MSG_NOSIGNAL);
  if (given < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (given < 0) {
    connections_.erase(connection);
    return;
  }
  c.sent += static_cast<size_t>(given);
  c.until = clock_.Now() + kAnswerPatience;
  if (c.sent < c.bytes.size()) return;
  std::string().swap(c.bytes);
  c.place.reset();
  shutdown(c.socket.get(), SHUT_WR);
  c.step = Connection::Step::kLinger;
  c.until = clock_.Now() + kLinger;
  Watch(connection->first, c.socket.get(), EPOLLIN, false);
}

void HttpServer::Loop::Linger(Connections::iterator connection) {
  std::array<char, 4096> buffer{};
  const ssize_t taken = recv(connection->second.socket.get(), buffer.data(), buffer.size(), 0);
  if (taken > 0 || (taken < 0 && (errno == EAGAIN || errno == EINTR))) return;
  connections_.erase(connection);
}

void HttpServer::Loop::Tick() {
  ticked_ = steady_clock::now();
  const AwakeClock::Time now = clock_.Now();
  std::vector<uint64_t> late;
  for (const auto& [id, connection] : connections_) {
    if (connection.step != Connection::Step::kPage && connection.until < now) late.push_back(id);
  }
  for (uint64_t id : late) {
    // Perhaps this thread was late and not the client: what has arrived is taken first, what can be sent is sent.
    if (connections_.at(id).step != Connection::Step::kLinger) Handle(id);
    auto connection = connections_.find(id);
    if (connection == connections_.end() || connection->second.step == Connection::Step::kPage) continue;
    if (connection->second.until >= now) continue;
    if (connection->second.step == Connection::Step::kRequest && !connection->second.bytes.empty()) {
      Send(connection, {.text = PageMaker::Refusal(408)});
    } else {
      connections_.erase(connection);
    }
  }
}

HttpServer::HttpServer(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
HttpServer::~HttpServer() = default;

StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const Address& address, Pages pages) {
  if (address.kind != Address::Kind::kTcp) return absl::InvalidArgumentError("http.listen: must be HOST:PORT");
  CUZK_ASSIGN_OR_RETURN(ListeningSocket listening, Listen(address, 0, "http.listen"));
  auto loop = std::make_unique<Loop>(std::move(listening), std::move(pages), address.IsLocal());
  CUZK_RETURN_IF_ERROR(loop->Start());
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(loop)));
  server->port_ = server->loop_->port();
  return server;
}

}  // namespace cuzk::daemon
