#pragma once
// A connection to a daemon: both services, with limits that fit the largest request.

#include <memory>
#include <string>

#include "core/base/settings.h"
#include "core/base/status.h"
#include "cuzk/v1/proving.grpc.pb.h"
#include "cuzkd/v1/operator.grpc.pb.h"

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

/// How a call ended, marked as the daemon's word.
Status FromDaemon(const grpc::Status& status);

/// An error of a call; if it is that the daemon cannot be reached by TLS, with why.
Status Explained(const Session& session, const Status& status);

/// The message that Curio would send for a request directory, of at most the daemon's grpc.max_message as far as the
/// settings say it; `id` replaces its request id unless it is empty.
StatusOr<v1::SubmitProofRequest> ReadRequest(const Settings& settings, const std::string& directory,
                                             const std::string& id);

}  // namespace cuzk::daemon
