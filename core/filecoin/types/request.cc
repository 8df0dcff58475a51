#include "core/filecoin/types/request.h"

#include <optional>

#include "core/algebra/field/fr.h"

namespace cuzk::filecoin {
namespace {

Status Invalid(std::string_view what) { return absl::InvalidArgumentError({what.data(), what.size()}); }

Status ReadElement(const std::string& bytes, std::string_view name, Bytes32& out) {
  if (bytes.size() != out.size()) return Invalid(StrCat(name, " has ", bytes.size(), " bytes, not 32"));
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return algebra::FrFromBytes(out, name).status();
}

StatusOr<const RegisteredProof*> FindProof(const VanillaRequest& request, const KindRow& kind) {
  const RegisteredProof* proof = FindRegisteredProof(kind.kind, request.registered_proof);
  if (proof == nullptr) {
    return Invalid(StrCat("registered_proof ", request.registered_proof, " is not one of ", kind.message_name));
  }
  if (proof->feature == PorepFeature::kNonInteractive) {
    return absl::UnimplementedError(
        StrCat("registered_proof ", request.registered_proof, " (", proof->name,
               "): non-interactive PoRep is not supported, because proofs are not aggregated"));
  }
  if (request.sector_size != 0 && request.sector_size != proof->size().bytes) {
    return Invalid(StrCat("sector_size ", request.sector_size, " is not that of registered_proof ",
                          request.registered_proof, " (", proof->name, "), which is ", proof->size().bytes));
  }
  return proof;
}

/// The sector ids that begin the items ascend strictly: the chain verifies them in that order.
Status CheckSectorOrder(const std::vector<std::string>& items) {
  std::optional<uint64_t> last;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].size() < sizeof(uint64_t)) {
      return Invalid(StrCat("vanilla_proofs ", i, " has ", items[i].size(), " bytes, too few for a sector id"));
    }
    uint64_t id = LoadLe<uint64_t>(reinterpret_cast<const uint8_t*>(items[i].data()));
    if (last.has_value() && *last >= id) {
      return Invalid(
          StrCat("vanilla_proofs ", i, " is of sector ", id, " after sector ", *last, ", but sectors must ascend"));
    }
    last = id;
  }
  return absl::OkStatus();
}

Status CheckPost(const VanillaRequest& request, RequestFacts& facts) {
  CUZK_RETURN_IF_ERROR(ReadElement(request.randomness, "randomness", facts.randomness));
  PostCounts counts = PostCountsOf(facts.kind, facts.proof->size());
  size_t items = request.vanilla_proofs.size();
  if (items == 0) return Invalid("no vanilla_proofs");
  if (items > counts.most_sectors) {
    return Invalid(StrCat(items, " vanilla_proofs, but ", facts.proof->name, " takes at most ", counts.most_sectors));
  }
  return CheckSectorOrder(request.vanilla_proofs);
}

Status CheckSnap(const VanillaRequest& request, RequestFacts& facts) {
  CUZK_RETURN_IF_ERROR(ReadElement(request.comm_r_old, "comm_r_old", facts.comm_r_old));
  CUZK_RETURN_IF_ERROR(ReadElement(request.comm_r_new, "comm_r_new", facts.comm_r_new));
  CUZK_RETURN_IF_ERROR(ReadElement(request.comm_d_new, "comm_d_new", facts.comm_d_new));
  if (request.vanilla_proofs.size() == facts.proof->partitions()) return absl::OkStatus();
  return Invalid(StrCat(request.vanilla_proofs.size(), " vanilla_proofs, but ", facts.proof->name, " has ",
                        facts.proof->partitions(), " partitions"));
}

}  // namespace

uint64_t VanillaRequest::payload_bytes() const {
  uint64_t bytes = vanilla_proof.size();
  for (const std::string& item : vanilla_proofs) bytes += item.size();
  return bytes;
}

StatusOr<RequestFacts> CheckRequest(const VanillaRequest& request) {
  const KindRow* kind = FindKind(request.kind);
  if (kind == nullptr) return Invalid(StrCat("invalid proof_kind: ", request.kind));
  CUZK_ASSIGN_OR_RETURN(const RegisteredProof* proof, FindProof(request, *kind));
  RequestFacts facts{kind->kind, proof};
  switch (kind->kind) {
    case Kind::kPorep:
      if (request.vanilla_proof.empty()) return Invalid("no vanilla_proof");
      return facts;
    case Kind::kSnap:
      CUZK_RETURN_IF_ERROR(CheckSnap(request, facts));
      break;
    case Kind::kWindow:
    case Kind::kWinning:
      CUZK_RETURN_IF_ERROR(CheckPost(request, facts));
      break;
  }
  return facts;
}

}  // namespace cuzk::filecoin
