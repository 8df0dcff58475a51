#pragma once
// Messages to the engine's types and back: the one place where both are known.

#include <grpcpp/support/status.h>

#include "core/base/status.h"
#include "core/engine/engine.h"
#include "cuzk/v1/proving.pb.h"
#include "cuzkd/v1/operator.pb.h"

namespace cuzk::daemon {

/// The one switch from our codes to the wire's. The text is cut where it would not fit into a header.
grpc::Status ToGrpc(const Status& status);
/// And back, for clients.
Status FromGrpc(const grpc::Status& status);

/// What needs no copy to be seen: more items than any registered proof takes, randomness or a commitment that is
/// neither absent nor an element. INVALID_ARGUMENT that names the field.
Status CheckFieldSizes(const v1::SubmitProofRequest& message);

/// Takes the message's payload; what is left of the message is not to be read.
engine::ProofRequest ToProofRequest(v1::SubmitProofRequest&& message);

/// The other way, for clients: the message that carries a request.
v1::SubmitProofRequest ToSubmitMessage(std::string request_id, filecoin::VanillaRequest&& request);

v1::AwaitProofResponse ToAwaitResponse(const engine::JobResult& result);
v1::GetStatusResponse ToStatusResponse(const engine::EngineStatus& status);
cuzkd::v1::DeviceState ToDeviceState(const engine::DeviceStatus& device);
cuzkd::v1::JobProgress ToProgressMessage(const engine::JobProgress& progress);

}  // namespace cuzk::daemon
