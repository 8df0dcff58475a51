#include "gpu/prover/placement.h"

#include <algorithm>
#include <optional>
#include <string>

#include "core/r1cs/layout.h"
#include "gpu/ntt/transform.h"
#include "gpu/prover/division.h"
#include "gpu/prover/workspace.h"

namespace cuzk::gpu {
namespace {

using algebra::Fr;
using groth16::Query;
using groth16::SectionCounts;

/// Sums of fewer whole scalars than this leave much of the card idle: they run beside others.
constexpr uint64_t kSideTerms = uint64_t{1} << 22;
/// How much longer sums may take, by the estimate, in a workspace that made room for other circuits' parameters.
constexpr double kShrunk = 1.08;
/// And for running the small ones beside the large one.
constexpr double kBeside = 1.02;
/// Streamed points in the largest slots, and in the smallest. Those of h are summed slot by slot; for the others larger
/// slots only make the first sum wait longer.
constexpr uint64_t kMostSlotPoints = uint64_t{1} << 25, kMostSlotPointsWithoutH = uint64_t{1} << 23;
constexpr uint64_t kLeastSlotPoints = uint64_t{1} << 12;

uint64_t RankedBytes(uint64_t bits) { return (bits + 63) / 64 * (sizeof(uint64_t) + sizeof(uint32_t)); }

/// CircuitTables and DomainTables.
uint64_t TableBytes(const CircuitSizes& s) {
  const uint64_t rows = r1cs::kMatrixCount * RankedBytes(uint64_t{1} << s.log2_domain);
  const uint64_t aux = 3 * RankedBytes(s.aux) + 2 * (s.aux + 63) / 64 * sizeof(uint32_t);
  return DomainTables::Bytes(s.log2_domain) + rows + aux + 2 * s.inputs * sizeof(uint32_t) + kWorkspaceSlack;
}

bool SamePieces(const CircuitPlan& a, const CircuitPlan& b) {
  return a.h_terms == b.h_terms && a.slab_values == b.slab_values;
}

std::string Megabytes(uint64_t bytes) { return StrCat((bytes + (1 << 20) - 1) >> 20, " MiB"); }

/// One plan's search: fits candidates into what is there.
class Search {
 public:
  Search(const CircuitSizes& sizes, const prover::CardLimits& card, uint64_t available,
         const prover::DeviceClaims::Bytes& claimed, const prover::PlanOptions& options)
      : s_(sizes),
        divider_(sizes, card),
        available_(available),
        claimed_(claimed),
        workers_(std::max(options.workers, 1u)) {
    for (Query q : groth16::kAllQueries) points_ += s_.point_bytes(q);
  }

  StatusOr<CircuitPlan> Run();

 private:
  std::optional<CircuitPlan> Resident(bool whole_witness);
  std::optional<CircuitPlan> Streamed(bool resident_h);
  std::optional<Division> Best(const CircuitPlan& base, uint64_t memory) const;
  std::optional<CircuitPlan> WithWorkers(CircuitPlan base, unsigned workers);
  void AddSide(Division& division, uint64_t memory) const;
  void Shrink(Division& division) const;
  void CountBus(CircuitPlan& plan) const;
  void Describe(CircuitPlan& plan) const;
  /// Of the workspace, with so many partitions of `held` bytes each and `points` of the circuit on the card.
  uint64_t Room(uint64_t points, uint64_t held, unsigned workers) const {
    const uint64_t taken = TableBytes(s_) + points + std::max(workers * held, claimed_.witness);
    return available_ > taken ? available_ - taken : 0;
  }

  const CircuitSizes& s_;
  const Divider divider_;
  const uint64_t available_;
  const prover::DeviceClaims::Bytes claimed_;
  const unsigned workers_;
  uint64_t points_ = 0;
};

/// As many workers as fit, up to the ones asked for.
std::optional<CircuitPlan> Search::WithWorkers(CircuitPlan base, unsigned workers) {
  uint64_t points = 0;
  for (Query q : groth16::kAllQueries) points += base.is_resident(q) ? s_.point_bytes(q) : 0;
  for (; workers > 0; --workers) {
    const uint64_t room = Room(points, base.held_bytes, workers);
    if (room < claimed_.workspace) continue;
    std::optional<Division> division = Best(base, room);
    if (!division) continue;
    Shrink(*division);
    AddSide(*division, room);
    CircuitPlan& plan = division->plan;
    plan.plan.workers = workers;
    plan.plan.parameter_device_bytes = TableBytes(s_) + points;
    plan.plan.parameter_host_bytes = points_ - points;
    plan.plan.partition_device_bytes = base.held_bytes;
    CountBus(plan);
    Describe(plan);
    return plan;
  }
  return std::nullopt;
}

/// Slots as large as serves all: small ones make small sums, large ones leave little for slabs.
std::optional<Division> Search::Best(const CircuitPlan& base, uint64_t memory) const {
  bool streams = false;
  for (bool resident : base.resident) streams |= !resident;
  if (!streams) return divider_.Divide(base, memory, 0);
  std::optional<Division> best;
  const uint64_t least = std::max(kLeastSlotPoints, 2 * (s_.inputs + kVariablesOfWord));
  const uint64_t most = base.is_resident(Query::kH) ? kMostSlotPointsWithoutH : kMostSlotPoints;
  for (uint64_t slot = std::max(std::min(most, uint64_t{1} << s_.log2_domain), least);; slot /= 2) {
    auto division = divider_.Divide(base, memory, std::max(slot, least));
    // The larger slot unless sums gain by the smaller one; below 2^20 points pieces cost more than they gain.
    if (division && (!best || division->products < 0.98 * best->products)) best = division;
    if (slot <= least || (best && slot <= uint64_t{1} << 20)) return best;
  }
}

std::optional<CircuitPlan> Search::Resident(bool whole_witness) {
  CircuitPlan base;
  base.resident.fill(true);
  base.plan.placement = prover::Placement::kResident;
  base.whole_witness = whole_witness;
  base.plain_leases = s_.plain;
  base.keeps_values = true;
  if (whole_witness) {
    base.held_bytes = s_.lease_bytes;
    auto plan = WithWorkers(base, workers_);
    // With fewer workers than asked for, pieces do better: the next witness's rows come in while this one computes.
    return plan && plan->plan.workers == workers_ ? plan : std::nullopt;
  }
  base.held_bytes = s_.AssignmentBytes(true);
  auto kept = WithWorkers(base, workers_);
  if (kept && kept->plan.workers == workers_) return kept;
  base.keeps_values = false;
  base.held_bytes = s_.AssignmentBytes(false);
  auto read = WithWorkers(base, workers_);
  return read ? read : kept;
}

std::optional<CircuitPlan> Search::Streamed(bool resident_h) {
  CircuitPlan base;
  base.resident[static_cast<size_t>(Query::kH)] = resident_h;
  base.plan.placement = prover::Placement::kPinnedStreamed;
  base.keeps_values = true;
  base.held_bytes = s_.AssignmentBytes(true);
  // Where most variables are whole, keeping their values would leave no room for sums.
  if (4 * s_.whole_aux < s_.aux) return WithWorkers(base, workers_);
  base.keeps_values = false;
  base.held_bytes = s_.AssignmentBytes(false);
  return WithWorkers(base, workers_);
}

/// The workspace that sums can do with at a few per cent of speed: the windows stay as many as they are, fewer are
/// worked on at a time.
void Search::Shrink(Division& division) const {
  CircuitPlan& plan = division.plan;
  if (plan.plan.placement != prover::Placement::kResident) return;
  for (uint64_t trial = plan.workspace_bytes / 8 * 7; trial > 0; trial = trial / 8 * 7) {
    const auto smaller = divider_.Divide(plan, trial, 0);
    if (!smaller || smaller->products > kShrunk * division.products || !SamePieces(smaller->plan, plan)) return;
    plan.least_workspace_bytes = smaller->plan.workspace_bytes;
  }
}

/// Small sums over variables run beside the rest, where there is memory for it: it is worth a little more than a larger
/// workspace.
void Search::AddSide(Division& division, uint64_t memory) const {
  CircuitPlan& plan = division.plan;
  if (!plan.whole_witness || s_.whole_aux + s_.inputs >= kSideTerms || plan.slab_values < s_.whole_aux) return;
  for (uint64_t share : {8, 16, 32}) {
    const uint64_t side = divider_.SideBytes(plan, memory / share);
    if (side == 0) continue;
    const auto beside = divider_.Divide(plan, memory - side, 0);
    if (!beside || beside->products > kBeside * division.products || !SamePieces(beside->plan, plan)) continue;
    plan.least_workspace_bytes = std::min(plan.least_workspace_bytes, beside->plan.workspace_bytes);
    plan.side_bytes = side;
    plan.workspace_bytes = beside->plan.workspace_bytes + side;
    return;
  }
}

void Search::CountBus(CircuitPlan& plan) const {
  prover::Plan& p = plan.plan;
  p.partition_bus_bytes = s_.lease_bytes;
  for (Query q : groth16::kAllQueries) {
    if (plan.is_resident(q)) continue;
    (q != Query::kH && plan.sweeps() ? p.shared_bus_bytes : p.partition_bus_bytes) += s_.point_bytes(q);
  }
}

void Search::Describe(CircuitPlan& plan) const {
  const prover::Plan& p = plan.plan;
  std::string where = plan.is_resident(Query::kL)   ? "in device memory"
                      : plan.is_resident(Query::kH) ? "of h in device memory, the others page-locked in host memory"
                                                    : "page-locked in host memory";
  plan.plan.explanation = StrCat("points ", Megabytes(points_), " ", where, ", workspace ",
                                 Megabytes(plan.workspace_bytes), ", ", p.workers, " partitions of ",
                                 Megabytes(plan.held_bytes), plan.whole_witness ? "" : ", witnesses in pieces");
}

StatusOr<CircuitPlan> Search::Run() {
  std::optional<CircuitPlan> plan = Resident(true);
  if (!plan) plan = Resident(false);
  if (!plan) plan = Streamed(true);
  if (!plan) plan = Streamed(false);
  if (plan) return *plan;
  const uint64_t least = TableBytes(s_) + std::max(s_.AssignmentBytes(false), claimed_.witness) +
                         std::max(2 * s_.vector_bytes(), claimed_.workspace);
  return absl::ResourceExhaustedError(StrCat(
      "the circuit does not fit: even with its points in host memory and one partition at a time it needs more than ",
      Megabytes(least), " of device memory, and there are ", Megabytes(available_)));
}

}  // namespace

CircuitSizes CircuitSizes::Of(const r1cs::Shape& shape, r1cs::Layout layout) {
  return {.log2_domain = shape.counts.log2_domain(),
          .inputs = shape.counts.inputs,
          .aux = shape.counts.aux,
          .whole_aux = shape.wide_aux_count(),
          .counts = SectionCounts::Of(shape),
          .lease_bytes = r1cs::LeaseLayout::For(shape, layout).bytes,
          .plain = layout == r1cs::Layout::kPlain};
}

uint64_t CircuitSizes::AssignmentBytes(bool values) const {
  const uint64_t bits = Workspace::Align((aux + 63) / 64 * sizeof(uint64_t));
  return bits + Workspace::Align(inputs * sizeof(Fr)) + (values ? Workspace::Align(whole_aux * sizeof(Fr)) : 0);
}

uint64_t ReservedBytes(uint64_t available) { return std::min<uint64_t>(available / 16, uint64_t{1} << 30); }

StatusOr<CircuitPlan> PlanCircuit(const CircuitSizes& sizes, const prover::CardLimits& card, uint64_t available,
                                  const prover::DeviceClaims::Bytes& claimed, const prover::PlanOptions& options) {
  if (sizes.log2_domain > kMaxLog2Domain) {
    return absl::ResourceExhaustedError(
        StrCat("a domain of 2^", sizes.log2_domain, " is more than the 2^", kMaxLog2Domain, " of a GPU"));
  }
  return Search(sizes, card, available, claimed, options).Run();
}

}  // namespace cuzk::gpu
