#pragma once
// The certificate that the server shows, replaceable while it runs.

#include <grpcpp/security/server_credentials.h>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "daemon/common/tls.h"

namespace cuzk::daemon {

/// Thread-safe. Must outlive every server that uses its credentials.
class TlsIdentity {
 public:
  TlsIdentity(const TlsFiles& files, TlsMaterial material);
  ~TlsIdentity();
  TlsIdentity(const TlsIdentity&) = delete;
  TlsIdentity& operator=(const TlsIdentity&) = delete;

  /// For one listening port; each port needs its own.
  std::shared_ptr<grpc::ServerCredentials> Credentials();

  /// Connections made from now on see the other certificate and authority; those that are open stay.
  void Replace(TlsMaterial material);
  /// What is shown now.
  std::shared_ptr<const TlsMaterial> material() const;

 private:
  class Port;
  const bool mutual_;
  mutable std::mutex mutex_;
  std::shared_ptr<const TlsMaterial> material_;  // guarded by mutex_
  uint64_t generation_ = 1;                      // counts replacements; guarded by mutex_
  std::list<std::unique_ptr<Port>> ports_;       // guarded by mutex_
};

}  // namespace cuzk::daemon
