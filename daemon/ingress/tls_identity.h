#pragma once
// The certificate that the server shows, replaceable while it runs.

#include <openssl/ssl.h>

#include <memory>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "daemon/sockets/tls.h"

namespace cuzk::daemon {

/// Thread-safe.
class TlsIdentity {
 public:
  /// InvalidArgument, with OpenSSL's words, if the material cannot be used.
  static StatusOr<std::unique_ptr<TlsIdentity>> Make(const TlsFiles& files, TlsMaterial material);
  TlsIdentity(const TlsIdentity&) = delete;
  TlsIdentity& operator=(const TlsIdentity&) = delete;

  /// Connections made from now on see the other certificate and authority; those that are open stay. An error leaves
  /// everything as it was.
  Status Replace(TlsMaterial material);
  /// What is shown now.
  std::shared_ptr<const TlsMaterial> material() const;
  /// For one new connection, with HTTP/2 as the only protocol and, where tls.client_ca is given, a certificate of the
  /// client required. Null if OpenSSL has no memory.
  SSL* NewSession() const;

 private:
  using Context = std::shared_ptr<SSL_CTX>;
  explicit TlsIdentity(bool mutual) : mutual_(mutual) {}
  StatusOr<Context> MakeContext(const TlsMaterial& material) const;

  const bool mutual_;
  mutable Mutex mutex_;
  std::shared_ptr<const TlsMaterial> material_ ABSL_GUARDED_BY(mutex_);
  Context context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cuzk::daemon
