#include "daemon/ctl/client.h"

#include <grpcpp/grpcpp.h>

#include "core/filecoin/request_directory.h"
#include "daemon/common/address.h"
#include "daemon/common/convert.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/tls_diagnosis.h"

namespace cuzk::daemon {
namespace {

StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsFor(const Session& session, const Address& address) {
  if (!session.tls.enabled()) return grpc::InsecureChannelCredentials();
  if (address.kind != Address::Kind::kTcp) {
    return UsageMistake(absl::InvalidArgumentError(
        StrCat("--tls-ca: ", address.Target(), " is a unix socket, which speaks no TLS; --address HOST:PORT")));
  }
  StatusOr<ClientTlsMaterial> material = ReadClientTls(session.tls);
  if (!material.ok()) return UsageMistake(material.status());
  return grpc::SslCredentials({material->authority, material->key, material->certificate});
}

}  // namespace

StatusOr<Client> Client::Connect(const Session& session) {
  StatusOr<std::vector<Address>> parsed = ParseAddresses(session.address);
  if (!parsed.ok()) return UsageMistake(Annotate(parsed.status(), "--address"));
  CUZK_ASSIGN_OR_RETURN(auto credentials, CredentialsFor(session, parsed->front()));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a new client tries at once, whatever became of others
  if (!session.tls_server_name.empty()) arguments.SetSslTargetNameOverride(session.tls_server_name);
  auto channel = grpc::CreateCustomChannel(parsed->front().Target(), credentials, arguments);
  return Client{v1::ProvingEngine::NewStub(channel), cuzkd::v1::Operator::NewStub(channel)};
}

Status FromDaemon(const grpc::Status& status) {
  Status said = SaidByDaemon(FromGrpc(status));
  if (!absl::IsUnavailable(said) || said.message() != "Socket closed") return said;  // in gRPC's words
  return Reworded(said, "the daemon ended, or gave the connection up, before it answered (Socket closed)");
}

Status Explained(const Session& session, const Status& status) {
  if (!session.tls.enabled() || !absl::IsUnavailable(status)) return status;
  StatusOr<std::vector<Address>> parsed = ParseAddresses(session.address);
  StatusOr<ClientTlsMaterial> material = ReadClientTls(session.tls);
  if (!parsed.ok() || !material.ok()) return status;
  std::string why = WhyNoTls(parsed->front(), *material, session.tls_server_name);
  return why.empty() ? status : Reworded(status, StrCat(why, "; ", status.message()));
}

StatusOr<v1::SubmitProofRequest> ReadRequest(const Settings& settings, const std::string& directory,
                                             const std::string& id) {
  const uint64_t most_bytes = settings.Size("grpc.max_message").value_or(filecoin::kLargestMessage);
  CUZK_ASSIGN_OR_RETURN(filecoin::DirectoryRequest read, filecoin::ReadRequestDirectory(directory, most_bytes));
  if (!id.empty()) read.request_id = id;
  return ToSubmitMessage(std::move(read.request_id), std::move(read.request));
}

}  // namespace cuzk::daemon
