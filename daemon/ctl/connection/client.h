#pragma once
// A connection to a daemon: both services, with limits that fit the largest request.

#include <memory>
#include <optional>
#include <string>

#include "core/base/settings/settings.h"
#include "core/base/status.h"
#include "cuzk/v1/proving.grpc.pb.h"
#include "cuzkd/v1/operator.grpc.pb.h"
#include "daemon/ctl/connection/reachability.h"

namespace cuzk::daemon {

struct Session;

struct Client {
  std::unique_ptr<v1::ProvingEngine::Stub> proving;
  std::unique_ptr<cuzkd::v1::Operator::Stub> operators;

  /// Connects lazily, to the session's address, with TLS if the session has files for it: a daemon that is not there,
  /// or one of which the certificates do not agree, is UNAVAILABLE at the first call. InvalidArgument: the address.
  /// Other errors are those of ReadClientTls.
  static StatusOr<Client> Connect(const Session& session);
};

/// How a call ended, marked as the daemon's answer. A message that is too large is explained.
Status FromDaemon(const grpc::Status& status);

/// Why the session's daemon cannot be reached, if a fault is found in the way there.
std::optional<Unreachable> WhyUnreachable(const Session& session);

/// An error of a call; if the daemon was not reached, with the reason and what to do.
Status Explained(const Session& session, const Status& status);

/// The message that Curio would send for a request directory, of at most the daemon's grpc.max_message as far as the
/// settings say it; `id` replaces its request id unless it is empty.
StatusOr<v1::SubmitProofRequest> ReadRequest(const Settings& settings, const std::string& directory,
                                             const std::string& id);

}  // namespace cuzk::daemon
