#pragma once
// The files behind TLS: read, checked, and named in every error.

#include <chrono>
#include <string>

#include "core/base/status.h"

namespace cuzk::daemon {

/// Paths; all empty: no TLS.
struct TlsFiles {
  std::string certificate;  ///< chain in PEM, own certificate first
  std::string key;          ///< in PEM, without a pass phrase
  std::string client_ca;    ///< PEM; not empty: clients must show a certificate that one of these signed

  bool enabled() const { return !certificate.empty() || !key.empty() || !client_ca.empty(); }
  bool mutual() const { return !client_ca.empty(); }
};

/// What the files hold, in PEM, as gRPC takes it.
struct TlsMaterial {
  std::string certificate, key, client_ca;
  std::chrono::system_clock::time_point not_before, not_after;  ///< of the own certificate
};

/// A client's side: paths; all empty: no TLS.
struct ClientTlsFiles {
  std::string authority;    ///< PEM: who signs the server's certificate
  std::string certificate;  ///< chain in PEM, own certificate first; with `key`, where the server asks for one
  std::string key;          ///< in PEM, without a pass phrase

  bool enabled() const { return !authority.empty() || !certificate.empty() || !key.empty(); }
};
struct ClientTlsMaterial {
  std::string authority, certificate, key;
};

/// InvalidArgument if a path is missing beside the others.
Status CheckTlsFiles(const TlsFiles& files);

/// Reads and checks. The key must be a file that others cannot read: owned by this process's user with no bit for group
/// and others, or owned by root with at most read for the group. PermissionDenied: those bits, or no right to read.
/// InvalidArgument: no PEM, a pass phrase, a key of another certificate. NotFound. Each names setting and file.
StatusOr<TlsMaterial> ReadTlsMaterial(const TlsFiles& files);
/// The same for a client, whose files are named by the flags of cuzkctl.
StatusOr<ClientTlsMaterial> ReadClientTls(const ClientTlsFiles& files);

}  // namespace cuzk::daemon
