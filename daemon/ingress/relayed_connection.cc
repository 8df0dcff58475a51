#include "daemon/ingress/relayed_connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace cuzk::daemon {
namespace {

constexpr uint32_t kIn = EPOLLIN, kOut = EPOLLOUT;

/// Gives back the memory of a text that was large once.
void Shrink(std::string& text) {
  if (text.empty() && text.capacity() > 4096) std::string().swap(text);
}

}  // namespace

RelayedConnection::RelayedConnection(ClientStream client, Descriptor server, int number, FrameGate::Parts parts,
                                     Time now)
    : stream_(std::move(client)), server_(std::move(server)), number_(number), gate_(std::move(parts), number, now) {}

bool RelayedConnection::Pump(std::span<char> buffer, Time now) {
  const bool more = ReadClient(buffer, now);
  WriteServer();
  ReadServer(buffer);
  WriteClient(now);
  Shrink(gate_.to_server());
  Shrink(gate_.to_client());
  return more && client_ == Client::kOpen;
}

bool RelayedConnection::ReadClient(std::span<char> buffer, Time now) {
  if (client_ == Client::kGone) return false;
  if (client_ == Client::kOpen && !has_room()) return false;
  size_t size = 0;
  switch (stream_.Read(buffer, size)) {
    case ClientStream::Result::kDone:
      break;
    case ClientStream::Result::kLater:
      return false;
    case ClientStream::Result::kFailed:
      if (client_ == Client::kOpen) EndWith(absl::InvalidArgumentError(StrCat("TLS: ", stream_.error())));
      gate_.to_client().clear();
      return false;
    case ClientStream::Result::kClosed:
      LoseClient();
      return false;
  }
  if (client_ == Client::kOpen) {
    if (Status status = gate_.FromClient({buffer.data(), size}, now); !status.ok()) EndWith(std::move(status));
  }
  if (client_ == Client::kEnding && (dropped_ += size) > kLingerBytes) LoseClient();
  return size == buffer.size();
}

void RelayedConnection::LoseClient() {
  client_ = Client::kGone;
  gate_.to_client().clear();
}

void RelayedConnection::EndWith(Status why) {
  error_ = std::move(why);
  gate_.to_server().clear();
  gate_.Forget();
  server_.Reset(-1);
}

void RelayedConnection::GiveRoom() {
  EndWith(absl::ResourceExhaustedError(
      "grpc.ingress_memory is used up, and of all connections this one held the most for calls without a message"));
}

void RelayedConnection::WriteServer() {
  std::string& bytes = gate_.to_server();
  if (!server_.open()) {
    bytes.clear();
    return;
  }
  if (!bytes.empty()) {
    const ssize_t given = send(server_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (given > 0) bytes.erase(0, static_cast<size_t>(given));
    if (given < 0 && errno != EAGAIN && errno != EINTR) bytes.clear();  // reading tells that it is closed
  }
  if (client_ == Client::kGone && bytes.empty()) shutdown(server_.get(), SHUT_WR);
}

void RelayedConnection::ReadServer(std::span<char> buffer) {
  if (!server_.open() || gate_.to_client().size() >= kBacklog) return;
  const ssize_t taken = recv(server_.get(), buffer.data(), buffer.size(), 0);
  if (taken < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (taken <= 0) {
    server_.Reset(-1);
    return;
  }
  gate_.FromServer({buffer.data(), static_cast<size_t>(taken)});
  if (client_ != Client::kOpen) gate_.to_client().clear();
}

void RelayedConnection::WriteClient(Time now) {
  if (client_ == Client::kGone) return;
  std::string& bytes = gate_.to_client();
  if (!bytes.empty()) {
    const ClientStream::Result result = stream_.Write(bytes);
    if (result == ClientStream::Result::kClosed || result == ClientStream::Result::kFailed) return LoseClient();
  }
  if (server_.open()) return;
  if (client_ == Client::kOpen) {
    client_ = Client::kEnding;
    gone_by_ = now + kLinger;
  }
  if (!bytes.empty() || std::exchange(told_end_, true)) return;
  stream_.EndWriting();
}

void RelayedConnection::Tick(Time now) {
  if (client_ == Client::kEnding && now >= gone_by_) LoseClient();
  if (client_ != Client::kOpen) return;
  if (Status status = gate_.Tick(now); !status.ok()) EndWith(std::move(status));
  WriteServer();
  WriteClient(now);
}

RelayedConnection::Interest RelayedConnection::Wanted() const {
  const size_t to_client = gate_.to_client().size(), to_server = gate_.to_server().size();
  Interest wanted;
  if (client_ != Client::kGone) {
    const bool reads = client_ == Client::kEnding || has_room();
    const bool writes = (to_client > 0 && stream_.may_write()) || stream_.wants_to_write();
    wanted.client = (reads ? kIn : 0) | (writes ? kOut : 0);
  }
  if (server_.open()) {
    wanted.server = (to_client < kBacklog ? kIn : 0) | (to_server > 0 ? kOut : 0);
  }
  return wanted;
}

Status RelayedConnection::TakeError() { return std::exchange(error_, absl::OkStatus()); }

}  // namespace cuzk::daemon
