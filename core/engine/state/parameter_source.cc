#include "core/engine/state/parameter_source.h"

#include <algorithm>
#include <utility>

#include "core/filecoin/parameter_bytes.h"

namespace cuzk::engine {

FileParameters::FileParameters(std::filesystem::path directory, const prover::ParameterStoreOptions& options)
    : directory_(std::move(directory)), store_(options) {}

bool FileParameters::Available(const filecoin::Circuit& circuit) const {
  if (filecoin::CheckParameterHead(circuit, directory_ / circuit.params_file()).ok()) return true;
  // What is loaded is used even if its file was deleted or unmounted since.
  const std::vector<prover::ParameterStatus> loaded = store_.Snapshot();
  return std::any_of(loaded.begin(), loaded.end(), [&](const prover::ParameterStatus& status) {
    return status.circuit == circuit.id && status.state == prover::ParameterStatus::State::kReady;
  });
}

Status FileParameters::Missing(const filecoin::Circuit& circuit) const {
  std::string size(circuit.size->name);
  std::string made = StrCat("cuzkctl params make --kind ", filecoin::KindInfo(circuit.kind).name, " --size ", size,
                            " --out ", directory_.string());
  std::string get = circuit.params_digest.empty()
                        ? StrCat("no trusted setup was published for it; `", made, "` makes development parameters")
                        : StrCat("fetch the published file with `curio fetch-params ", size,
                                 "`, or make development parameters with `", made, "`");
  const Status head = filecoin::CheckParameterHead(circuit, directory_ / circuit.params_file());
  if (absl::IsInvalidArgument(head)) {
    return absl::FailedPreconditionError(
        StrCat("no parameters for ", circuit.id, ": ", head.message(), "; remove the file, then ", get));
  }
  const uint64_t bytes = filecoin::ParameterBytes(circuit);
  return absl::FailedPreconditionError(StrCat("no parameters for ", circuit.id, ": ", circuit.params_file(),
                                              bytes == 0 ? std::string() : StrCat(" (", bytes, " bytes)"),
                                              " is not in ", directory_.string(), "; ", get));
}

StatusOr<std::shared_ptr<const prover::ResidentParameters>> FileParameters::Get(prover::Device& device,
                                                                                const Wanted& wanted,
                                                                                std::stop_token stop,
                                                                                const Progress& progress) {
  const filecoin::Circuit& circuit = wanted.circuit;
  if (!Available(circuit)) return Missing(circuit);  // says more than the store would
  prover::ParameterRequest request{.circuit = circuit.id,
                                   .path = directory_ / circuit.params_file(),
                                   .shape = wanted.shape,
                                   .urgency = wanted.urgency};
  if (!circuit.params_digest.empty()) request.published_digest = std::string(circuit.params_digest);
  auto parameters = store_.Get(device, request, stop, progress);
  if (absl::IsNotFound(parameters.status())) return Missing(circuit);
  return parameters;
}

}  // namespace cuzk::engine
