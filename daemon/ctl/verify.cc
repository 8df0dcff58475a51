// verify: a proof against what its request says publicly. Needs no daemon.

#include <filesystem>

#include "core/base/file.h"
#include "core/base/thread_pool.h"
#include "core/filecoin/request_directory.h"
#include "core/groth16/identity.h"
#include "core/groth16/verifier.h"
#include "daemon/common/json_writer.h"
#include "daemon/ctl/connection/command.h"

namespace cuzk::daemon {
namespace {

struct VerifyFlags {
  std::string request, proof, key;
};

// Why the proof is not valid; empty if it is.
StatusOr<std::string> FindFault(const filecoin::Verification& request, std::string_view proof,
                                const groth16::Verifier& verifier) {
  constexpr size_t kBytes = groth16::Proof::kBytes;
  const auto& inputs = request.public_inputs;
  if (proof.size() != inputs.size() * kBytes) {
    return StrCat("the proof has ", proof.size(), " bytes, not ", inputs.size() * kBytes);
  }
  std::vector<groth16::Statement> statements;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ByteSpan bytes = AsBytes(proof.substr(i * kBytes, kBytes));
    StatusOr<groth16::Proof> part = groth16::Proof::FromBytes(bytes.first<kBytes>());
    if (!part.ok()) return StrCat("partition ", i, ": ", part.status().message());
    statements.push_back({*part, inputs[i]});
  }
  ThreadPool pool(0);
  CUZK_ASSIGN_OR_RETURN(std::vector<size_t> wrong, verifier.FindWrong(statements, pool));
  if (wrong.empty()) return std::string();
  return StrCat("partition ", wrong[0], " does not verify");
}

StatusOr<groth16::VerifyingKey> ReadKey(const Session& session, const VerifyFlags& flags,
                                        const filecoin::Circuit& circuit) {
  std::filesystem::path path = flags.key;
  if (path.empty()) path = std::filesystem::path(session.settings.Text("params.directory")) / circuit.key_file();
  StatusOr<groth16::VerifyingKey> key = groth16::VerifyingKey::FromFile(path);
  if (!flags.key.empty() || !absl::IsNotFound(key.status())) return key;
  return ParametersMissing(absl::FailedPreconditionError(
      StrCat("no verifying key for ", circuit.id, ": ", path.string(),
             " is missing; fetch it with curio fetch-params, or name a key file with --vk")));
}

StatusOr<ControlExit> RunVerify(const Session& session, const VerifyFlags& flags) {
  CUZK_ASSIGN_OR_RETURN(filecoin::Verification request, filecoin::ReadVerification(flags.request));
  // What is longer by less than a partition is told below what it lacks or has too much.
  const uint64_t most_bytes = (request.public_inputs.size() + 1) * groth16::Proof::kBytes;
  CUZK_ASSIGN_OR_RETURN(std::string proof, ReadFile(flags.proof, most_bytes));
  CUZK_ASSIGN_OR_RETURN(groth16::VerifyingKey key, ReadKey(session, flags, *request.proof->circuit));
  CUZK_ASSIGN_OR_RETURN(std::string fault, FindFault(request, proof, groth16::Verifier(key, session.arithmetic)));
  const filecoin::Circuit& circuit = *request.proof->circuit;
  const bool development =
      groth16::IdentifyKey(key, std::string(circuit.key_digest)) == groth16::Provenance::kDevelopment;
  if (session.json) {
    JsonWriter json;
    json.BeginObject().Member("valid", fault.empty()).Member("circuit_id", circuit.id);
    json.Member("partitions", request.public_inputs.size()).Member("development", development);
    PrintLine(json.Member("error", fault).EndObject().text());
  } else {
    PrintLine(StrCat(fault.empty() ? "verified" : StrCat("not valid: ", fault),
                     development ? " (development key, not the network's)" : ""));
  }
  return fault.empty() ? ControlExit::kOk : ControlExit::kFailed;
}

}  // namespace

void AddVerify(CLI::App& program, Commands& commands) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* verify = program.add_subcommand("verify", "Verify a proof; this needs no daemon");
  verify->add_option("--request", flags->request, "Request directory")->required();
  verify->add_option("--proof", flags->proof, "Proof file")->required();
  verify->add_option("--vk", flags->key, "Verifying key (.vk); default: the circuit's key in params.directory");
  commands.push_back({verify, [flags](const Session& session) { return RunVerify(session, *flags); }});
}

}  // namespace cuzk::daemon
