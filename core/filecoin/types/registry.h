#pragma once
// The one table of what Filecoin numbers, names and counts: proof kinds, sector sizes, tree shapes, circuits with
// their parameter files, and registered proofs. Every other place looks things up here. All rows are constant and live
// as long as the process; pointers to them may be kept and compared.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/circuit/porep.h"

namespace cuzk::filecoin {

/// The values are those of the message field `proof_kind`.
enum class Kind : uint8_t { kPorep = 1, kSnap = 2, kWindow = 3, kWinning = 4 };

/// The names of one kind in each place where a name appears.
struct KindRow {
  Kind kind;
  std::string_view name;            // commands, settings, health services: "window"
  std::string_view message_name;    // messages and /status: "window-post"
  std::string_view metric_label;    // the label proof_kind: "window_post"
  std::string_view circuit_prefix;  // circuit ids: "wpost"
  std::string_view r1cs_name;       // the lines of `cuzkctl circuit digest`: "window"; snap's circuit is "update"
  std::string_view request_prefix;  // how the client's request ids begin: "wdpost"
  uint8_t default_priority;         // what priority 0 means: 1 low, 2 normal, 3 high, 4 critical
};

std::span<const KindRow> Kinds();
const KindRow& KindInfo(Kind kind);
/// By the name in commands; nullptr if there is none.
const KindRow* FindKind(std::string_view name);
/// By the number in messages; nullptr if there is none.
const KindRow* FindKind(uint64_t number);

/// One sector size.
struct SizeRow {
  uint64_t bytes;
  std::string_view name;    // commands, fixtures and registered proofs: "32GiB"
  std::string_view id;      // end of circuit ids: "32g"
  uint8_t log2_nodes;       // nodes of 32 bytes
  uint32_t base, sub, top;  // arities of trees C and R; 0 where the level is absent
  uint8_t base_levels;      // levels of a path inside a base tree
  bool published;           // the network uses it and published parameters exist

  uint64_t nodes() const { return uint64_t{1} << log2_nodes; }
  /// Trees C and R-last, Poseidon.
  circuit::TreeShape replica_tree() const { return {nodes(), base, sub, top}; }
  /// Tree D, binary, SHA-256.
  circuit::TreeShape data_tree() const { return {nodes(), 2, 0, 0}; }
};

std::span<const SizeRow> Sizes();
/// By "32GiB"; nullptr if there is none.
const SizeRow* FindSize(std::string_view name);
const SizeRow* FindSizeByBytes(uint64_t bytes);

using circuit::kDrgParents;
using circuit::kExpanderParents;
inline constexpr unsigned kLabelParents = 37;
inline constexpr unsigned kMaxLayers = 11;
inline constexpr unsigned kProofBytes = 192;  // one Groth16 proof
inline constexpr unsigned kWinningChallenges = 66;
inline constexpr unsigned kWindowChallenges = 10;

struct PorepCounts {
  uint32_t layers, challenges;  // challenges per partition
  uint32_t partitions, non_interactive_partitions;
  uint32_t minimum, non_interactive_minimum;  // challenges of a whole proof that a verifier asks for
};
struct PostCounts {
  uint32_t sectors, challenges;  // of the circuit: winning is 66 sectors of one challenge
  uint32_t most_sectors;         // in a request: winning 1, window as many as the circuit
  uint32_t vanilla_challenges;   // inclusion proofs per sector in a request
};
struct UpdateCounts {
  uint32_t partitions, challenges;  // challenges per partition
  uint32_t apex_leaves;
  std::array<uint8_t, 6> h_values;  // numbers of high bits the circuit offers
  uint8_t h;                        // the one that production uses
  uint32_t h_select() const;        // 2^(first position of h in h_values)
  unsigned log2_partitions() const;
  /// Random bits of a challenge, challenges cut from a digest, digests of a partition (log2_nodes of the sector).
  unsigned bits(unsigned log2_nodes) const { return log2_nodes - log2_partitions(); }
  unsigned per_digest(unsigned log2_nodes) const { return 254 / bits(log2_nodes); }
  unsigned digests(unsigned log2_nodes) const {
    return (challenges + per_digest(log2_nodes) - 1) / per_digest(log2_nodes);
  }
};

PorepCounts PorepCountsOf(const SizeRow& size);
/// `kind` is kWindow or kWinning.
PostCounts PostCountsOf(Kind kind, const SizeRow& size);
UpdateCounts UpdateCountsOf(const SizeRow& size);

/// One circuit: one kind at one size; one parameter file and one key.
struct Circuit {
  Kind kind;
  const SizeRow* size;
  std::string id;                  // "porep-32g"
  std::string parameter_stem;      // file name without ".params" and ".vk", derived from the circuit's description
  std::string_view params_digest;  // first 32 hex digits of BLAKE2b-512 of the published file; empty if not published
  std::string_view key_digest;     // the same of the key file
  uint32_t public_inputs;          // without ONE
  uint64_t vanilla_bytes;          // length of one item of `vanilla_proofs`; 0 for PoRep

  std::string params_file() const { return parameter_stem + ".params"; }
  std::string key_file() const { return parameter_stem + ".vk"; }
};

/// Every kind at every size that it has, by kind then size.
std::span<const Circuit> Circuits();
/// By "porep-32g"; nullptr if there is none.
const Circuit* FindCircuit(std::string_view id);
/// nullptr where the kind has no such size.
const Circuit* FindCircuit(Kind kind, const SizeRow& size);
/// By kind and size names as commands take them; InvalidArgument that lists what there is.
StatusOr<const Circuit*> CircuitByNames(std::string_view kind, std::string_view size);
/// By the name of its parameter or key file (no folder); nullptr if none has it.
const Circuit* FindCircuitByFile(std::string_view file_name);

/// Versions of the proofs' API. They decide the order of graph parents and the numbering of PoSt challenges.
enum class ApiVersion : uint8_t { kV1_0, kV1_1, kV1_2 };
enum class PorepFeature : uint8_t { kNone, kSynthetic, kNonInteractive };

/// Items of `vanilla_proofs` that the registered proof with the most of them takes.
uint32_t MostVanillaProofs();

/// One registered proof: a number within a kind.
struct RegisteredProof {
  Kind kind;
  uint64_t number;
  std::string name;  // as filecoin-proofs-api writes it; for seals the name inside a C1
  const Circuit* circuit;
  ApiVersion version;
  PorepFeature feature;

  const SizeRow& size() const { return *circuit->size; }
  /// Partitions of a whole proof: the proof has kProofBytes for each. 1 for PoSt.
  uint32_t partitions() const;
};

/// All registered proofs, by kind then number.
std::span<const RegisteredProof> RegisteredProofs();
/// nullptr if the kind has no such number.
const RegisteredProof* FindRegisteredProof(Kind kind, uint64_t number);
/// The seal whose name a C1 carries; nullptr if there is none.
const RegisteredProof* FindSealByName(std::string_view name);

}  // namespace cuzk::filecoin
