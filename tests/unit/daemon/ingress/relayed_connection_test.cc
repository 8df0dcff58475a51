#include "daemon/ingress/relayed_connection.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <vector>

#include "daemon/ingress/http2_frames.h"
#include "daemon/sockets/openssl_objects.h"

namespace cuzk::daemon {
namespace {

using namespace http2;  // NOLINT: its names are those of the RFC

constexpr uint64_t kMiB = uint64_t{1} << 20;
using Context = std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>>;

// A context of a server with a certificate that it signed itself.
Context ServerContext() {
  Key key(EVP_EC_gen("P-256"));
  Certificate certificate(X509_new());
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  EXPECT_GT(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
  Context context(SSL_CTX_new(TLS_server_method()));
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_num_tickets(context.get(), 0);
  EXPECT_EQ(SSL_CTX_use_certificate(context.get(), certificate.get()), 1);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(context.get(), key.get()), 1);
  return context;
}

std::array<Descriptor, 2> Pair() {
  std::array<int, 2> pair{-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()), 0);
  return {Descriptor(pair[0]), Descriptor(pair[1])};
}

std::string Made(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string bytes;
  AppendFrame(bytes, type, flags, stream, payload);
  return bytes;
}

class RelayedConnectionTest : public ::testing::Test {
 protected:
  bool Pump() { return connection_.Pump(buffer_, now_); }
  void Shake() {
    SSL_set_fd(client_.get(), sides_[0].get());
    SSL_set_connect_state(client_.get());
    while (SSL_do_handshake(client_.get()) != 1) {
      ASSERT_EQ(SSL_get_error(client_.get(), -1), SSL_ERROR_WANT_READ);
      Pump();
    }
    Pump();
  }
  // What gRPC's side reads now.
  size_t Drain() {
    std::vector<char> taken(4 * kMiB);
    const ssize_t size = recv(server_[1].get(), taken.data(), taken.size(), 0);
    return size > 0 ? static_cast<size_t>(size) : 0;
  }

  const RelayedConnection::Time now_{std::chrono::hours(1)};
  IngressMemory memory_{64 * kMiB};
  Context context_ = ServerContext(), client_context_{SSL_CTX_new(TLS_client_method())};
  TlsSession client_{SSL_new(client_context_.get())};
  std::array<Descriptor, 2> sides_ = Pair(), server_ = Pair();
  std::vector<char> buffer_ = std::vector<char>(64 << 10);
  RelayedConnection connection_{ClientStream(std::move(sides_[1]), TlsSession(SSL_new(context_.get()))),
                                std::move(server_[0]),
                                12,
                                {.memory = &memory_, .max_message = 16 * kMiB},
                                now_};
};

TEST_F(RelayedConnectionTest, NoEventsOfWritingAreAskedForBeforeTheHandshakeHasEnded) {
  const std::string settings = Made(kSettings, 0, 0, "");
  ASSERT_EQ(send(server_[1].get(), settings.data(), settings.size(), 0), static_cast<ssize_t>(settings.size()));
  Pump();
  // The socket can be written to all the time: to ask for that would wake the thread without an end.
  EXPECT_EQ(connection_.Wanted().client, static_cast<uint32_t>(EPOLLIN));
  Shake();
  std::array<char, 64> taken{};
  EXPECT_EQ(SSL_read(client_.get(), taken.data(), taken.size()), static_cast<int>(settings.size()));
}

TEST_F(RelayedConnectionTest, WhatTlsHoldsIsReadOnceThereIsRoom) {
  Shake();
  const int small = 4096;
  setsockopt(connection_.server_fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  // The first record is short, so that no other one ends where the buffer does; four buffers end within the last one.
  std::string bytes =
      std::string(kPreface) + Made(kSettings, 0, 0, "") + Made(kHeaders, kEndHeaders, 1, std::string("\0\4name\1v", 8));
  const size_t first = bytes.size();
  const std::string message = std::string(1, '\0') + Number(1 << 20) + std::string(1 << 20, 'm');
  for (size_t at = 0; at < message.size(); at += 16000) bytes += Made(kData, 0, 1, message.substr(at, 16000));
  bytes.resize(4 * buffer_.size() + first / 2);
  SSL_set_mode(client_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  size_t given = static_cast<size_t>(SSL_write(client_.get(), bytes.data(), static_cast<int>(first)));
  size_t seen = 0;
  bool held = false;
  for (;;) {
    int size = 1;
    while (given < bytes.size() && size > 0) {
      size = SSL_write(client_.get(), bytes.data() + given, static_cast<int>(bytes.size() - given));
      if (size > 0) given += static_cast<size_t>(size);
    }
    // As the relay does it: what the client sent first, then what only gRPC can move.
    char byte = 0;
    const bool arrived = recv(connection_.client_fd(), &byte, 1, MSG_PEEK) == 1;
    held = held || (connection_.readable() && !arrived);
    if (!connection_.readable() && !(arrived && (connection_.Wanted().client & EPOLLIN) != 0)) {
      const size_t taken = Drain();
      seen += taken;
      if (taken == 0 && (connection_.Wanted().server & EPOLLOUT) == 0) break;
    }
    Pump();
  }
  EXPECT_EQ(given, bytes.size());
  EXPECT_GE(seen, bytes.size());  // the gate adds frames of its own
  EXPECT_TRUE(held) << "TLS never held bytes alone: this tests nothing";
}

}  // namespace
}  // namespace cuzk::daemon
