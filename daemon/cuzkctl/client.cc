#include "daemon/cuzkctl/client.h"

#include <grpcpp/grpcpp.h>

#include "core/base/log.h"
#include "core/filecoin/request_directory.h"
#include "daemon/address.h"
#include "daemon/convert.h"

namespace cuzk::daemon {

StatusOr<Client> Client::Connect(const std::string& address) {
  StatusOr<std::vector<Address>> parsed = ParseAddresses(address);
  if (!parsed.ok()) return Annotate(parsed.status(), "--address");
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  auto channel = grpc::CreateCustomChannel(parsed->front().Target(), grpc::InsecureChannelCredentials(), arguments);
  return Client{v1::ProvingEngine::NewStub(channel), cuzkd::v1::Operator::NewStub(channel)};
}

StatusOr<v1::SubmitProofRequest> ReadRequest(const Settings& settings, const std::string& directory,
                                             const std::string& id) {
  if (EscapeControl(id) != id) {
    return absl::InvalidArgumentError(StrCat("--id: \"", EscapeControl(id), "\": control characters, or no UTF-8"));
  }
  const uint64_t most_bytes = settings.Size("grpc.max_message").value_or(filecoin::kLargestMessage);
  CUZK_ASSIGN_OR_RETURN(filecoin::DirectoryRequest read, filecoin::ReadRequestDirectory(directory, most_bytes));
  if (!id.empty()) read.request_id = id;
  return ToSubmitMessage(std::move(read.request_id), std::move(read.request));
}

}  // namespace cuzk::daemon
