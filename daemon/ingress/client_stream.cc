#include "daemon/ingress/client_stream.h"

#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

namespace cuzk::daemon {

ClientStream::ClientStream(Descriptor socket, TlsSession session)
    : socket_(std::move(socket)), session_(std::move(session)) {
  if (session_ == nullptr) return;
  SSL_set_fd(session_.get(), socket_.get());
  SSL_set_accept_state(session_.get());
}

ClientStream::Result ClientStream::Judge(int result) {
  const int error = SSL_get_error(session_.get(), result);
  wants_to_write_ = error == SSL_ERROR_WANT_WRITE;
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return Result::kLater;
  failed_ = error != SSL_ERROR_ZERO_RETURN;
  if (error != SSL_ERROR_SSL) return Result::kClosed;
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  error_ = text.data();
  return Result::kFailed;
}

ClientStream::Result ClientStream::Read(std::span<char> buffer, size_t& size) {
  size = 0;
  if (session_ == nullptr) {
    const ssize_t taken = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (taken == 0) return Result::kClosed;
    if (taken < 0) return errno == EAGAIN || errno == EINTR ? Result::kLater : Result::kClosed;
    size = static_cast<size_t>(taken);
    return Result::kDone;
  }
  // One call gives one record at most.
  while (size < buffer.size()) {
    ERR_clear_error();
    const int taken = SSL_read(session_.get(), buffer.data() + size, static_cast<int>(buffer.size() - size));
    if (taken <= 0) {
      const Result result = Judge(taken);
      return size > 0 ? Result::kDone : result;
    }
    size += static_cast<size_t>(taken);
  }
  return Result::kDone;
}

ClientStream::Result ClientStream::Write(std::string& bytes) {
  if (session_ == nullptr) {
    const ssize_t given = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (given < 0) return errno == EAGAIN || errno == EINTR ? Result::kLater : Result::kClosed;
    bytes.erase(0, static_cast<size_t>(given));
    return Result::kDone;
  }
  if (!may_write()) return Result::kLater;
  ERR_clear_error();
  const int given = SSL_write(session_.get(), bytes.data(), static_cast<int>(std::min<size_t>(bytes.size(), INT_MAX)));
  if (given <= 0) return Judge(given);
  bytes.erase(0, static_cast<size_t>(given));
  return Result::kDone;
}

void ClientStream::EndWriting() {
  if (session_ != nullptr && !failed_ && may_write()) SSL_shutdown(session_.get());
  ERR_clear_error();
  shutdown(socket_.get(), SHUT_WR);
}

}  // namespace cuzk::daemon
