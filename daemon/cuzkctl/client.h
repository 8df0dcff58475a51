#pragma once
// A connection to a daemon: both services, with limits that fit the largest request.

#include <memory>
#include <string>

#include "core/base/settings.h"
#include "core/base/status.h"
#include "cuzk/v1/proving.grpc.pb.h"
#include "cuzkd/v1/operator.grpc.pb.h"

namespace cuzk::daemon {

struct Client {
  std::unique_ptr<v1::ProvingEngine::Stub> proving;
  std::unique_ptr<cuzkd::v1::Operator::Stub> operators;

  /// Connects lazily: a daemon that is not there is UNAVAILABLE at the first call. InvalidArgument: the address.
  static StatusOr<Client> Connect(const std::string& address);
};

/// The message that Curio would send for a request directory, of at most the daemon's grpc.max_message as far as the
/// settings say it; `id` replaces its request id unless it is empty.
StatusOr<v1::SubmitProofRequest> ReadRequest(const Settings& settings, const std::string& directory,
                                             const std::string& id);

}  // namespace cuzk::daemon
