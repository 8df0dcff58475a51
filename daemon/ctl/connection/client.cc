#include "daemon/ctl/connection/client.h"

#include <grpcpp/grpcpp.h>

#include "absl/strings/match.h"

#include "core/filecoin/request_directory.h"
#include "daemon/common/convert.h"
#include "daemon/ctl/connection/command.h"
#include "daemon/sockets/address.h"

namespace cuzk::daemon {
namespace {

StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsFor(const Session& session, const Address& address) {
  if (!session.tls.enabled()) return grpc::InsecureChannelCredentials();
  if (address.kind != Address::Kind::kTcp) {
    return UsageMistake(absl::InvalidArgumentError(
        StrCat("--tls-ca: ", address.Target(), " is a unix socket, which does not use TLS; use --address HOST:PORT")));
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
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);          // http_proxy is for other programs
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a new client tries at once, whatever became of others
  if (!session.tls_server_name.empty()) arguments.SetSslTargetNameOverride(session.tls_server_name);
  auto channel = grpc::CreateCustomChannel(parsed->front().Target(), credentials, arguments);
  return Client{v1::ProvingEngine::NewStub(channel), cuzkd::v1::Operator::NewStub(channel)};
}

Status FromDaemon(const grpc::Status& status) {
  Status said = SaidByDaemon(FromGrpc(status));
  if (absl::IsUnavailable(said) && said.message() == "Socket closed") {  // in gRPC's words
    return Reworded(said, "the daemon ended or closed the connection before it answered (Socket closed)");
  }
  // gRPC's words at either end of a message that the daemon does not take or send: "Received message larger than max
  // (52428800 vs. 4194304)".
  const std::string text(said.message());
  const size_t larger = text.find("message larger than max");
  if (!absl::IsResourceExhausted(said) || larger == std::string::npos) return said;
  const bool sent = text.find("Sent message") != std::string::npos;
  return Reworded(said, StrCat(sent ? "the answer is larger" : "the request is larger",
                               " than the daemon allows; raise grpc.max_message in the daemon's settings (",
                               text.substr(larger), ")"));
}

std::optional<Unreachable> WhyUnreachable(const Session& session) {
  StatusOr<std::vector<Address>> parsed = ParseAddresses(session.address);
  if (!parsed.ok()) return std::nullopt;
  ReachOptions options{.server_name = session.tls_server_name};
  ClientTlsMaterial material;
  if (session.tls.enabled()) {
    StatusOr<ClientTlsMaterial> read = ReadClientTls(session.tls);
    if (!read.ok()) return std::nullopt;
    material = *std::move(read);
    options.tls = &material;
  }
  return FindUnreachable(parsed->front(), options);
}

Status Explained(const Session& session, const Status& status) {
  if (!absl::IsUnavailable(status)) return status;
  std::optional<Unreachable> found = WhyUnreachable(session);
  if (!found) return status;
  // A daemon that was reached, and is gone by now, has said what happened to the call.
  const std::string text(status.message());
  const bool never_reached =
      absl::StrContains(text, "failed to connect") || absl::StrContains(text, "DNS resolution failed");
  if (!found->other_protocol && !never_reached) return status;
  return Reworded(
      status, StrCat("the daemon cannot be reached: ", found->said, found->advice.empty() ? "" : "; ", found->advice));
}

StatusOr<v1::SubmitProofRequest> ReadRequest(const Settings& settings, const std::string& directory,
                                             const std::string& id) {
  const uint64_t most_bytes = settings.Size("grpc.max_message").value_or(filecoin::kLargestMessage);
  StatusOr<filecoin::DirectoryRequest> read = filecoin::ReadRequestDirectory(directory, most_bytes);
  if (!read.ok()) {
    const bool too_large = absl::IsInvalidArgument(read.status()) &&
                           absl::StrContains(read.status().message(), StrCat("at most ", most_bytes));
    if (!too_large) return read.status();
    return Annotate(read.status(), "the request is larger than grpc.max_message of cuzkctl's own settings allows");
  }
  if (!id.empty()) read->request_id = id;
  return ToSubmitMessage(std::move(read->request_id), std::move(read->request));
}

}  // namespace cuzk::daemon
