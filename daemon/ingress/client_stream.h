#pragma once
// The side of a connection that belongs to the client: a socket, with TLS or without.

#include <openssl/ssl.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "daemon/sockets/descriptor.h"
#include "daemon/sockets/openssl_objects.h"

namespace cuzk::daemon {

using TlsSession = std::unique_ptr<SSL, Freer<SSL_free>>;

/// Never waits. Not thread-safe.
class ClientStream {
 public:
  enum class Result {
    kDone,    ///< something was read or written
    kLater,   ///< nothing can be read or written yet
    kClosed,  ///< the client has ended the connection
    kFailed   ///< TLS failed: error() says why
  };

  /// `session` is null for plaintext.
  ClientStream(Descriptor socket, TlsSession session);

  /// Reads up to the size of the buffer; `size` is how much.
  Result Read(std::span<char> buffer, size_t& size);
  /// Writes from the front of `bytes` and takes out what was written.
  Result Write(std::string& bytes);
  /// Says that nothing more will be written.
  void EndWriting();

  int fd() const { return socket_.get(); }
  /// Bytes can be written now or once the socket has room: a handshake, if there is one, has ended.
  bool may_write() const { return session_ == nullptr || SSL_is_init_finished(session_.get()) != 0; }
  /// TLS holds bytes that Read gives at once, and for which nothing arrives at the socket any more.
  bool holds_bytes() const { return session_ != nullptr && SSL_pending(session_.get()) > 0; }
  /// TLS must write before it can read.
  bool wants_to_write() const { return wants_to_write_; }
  const std::string& error() const { return error_; }

 private:
  Result Judge(int result);

  Descriptor socket_;
  TlsSession session_;
  bool wants_to_write_ = false, failed_ = false;
  std::string error_;
};

}  // namespace cuzk::daemon
