#pragma once
// The interface of a device that proves partitions: the CPU (cpu_device.h) or a GPU (gpu/). The engine uses any number
// of devices through this interface and knows nothing else about them.

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/groth16/parameter_file.h"
#include "core/groth16/proof.h"
#include "core/memory/host_allocator.h"
#include "core/prover/device/plan.h"
#include "core/r1cs/shape.h"
#include "core/r1cs/witness.h"

namespace cuzk::prover {

/// One stretch of a partition's time on a device. Names are constants of the program (the table below); events may
/// overlap.
struct TimelineEvent {
  std::string_view stage;
  std::chrono::steady_clock::time_point begin, end;
};
using Timeline = std::vector<TimelineEvent>;

/// The stages that devices record.
namespace stage {
inline constexpr std::string_view kHostToDevice = "h2d";       ///< the witness is copied in
inline constexpr std::string_view kLeaseWait = "lease wait";   ///< for the compute region
inline constexpr std::string_view kTransforms = "transforms";  ///< widening, transforms, quotient
inline constexpr std::string_view kMsmH = "msm h";
inline constexpr std::string_view kMsmL = "msm l";
inline constexpr std::string_view kMsmA = "msm a";
inline constexpr std::string_view kMsmBG1 = "msm b_g1";
inline constexpr std::string_view kMsmBG2 = "msm b_g2";
inline constexpr std::string_view kDeviceToHost = "d2h";  ///< results come back
}  // namespace stage

struct MemoryInfo {
  uint64_t total = 0, free = 0;  ///< bytes
};

/// What a device is, for people and for the labels of metrics; empty where it has none.
struct DeviceIdentity {
  std::string uuid;                ///< "GPU-" and hex digits, as the driver's own tools print it
  std::string driver;              ///< version of the driver
  std::string compute_capability;  ///< "9.0"
};

struct PlanOptions {
  unsigned workers = 2;     ///< partitions at once
  uint64_t memory_cap = 0;  ///< device bytes that may be used at most; 0 = what is free
  /// The layout of the witnesses to expect. Another layout is accepted if the device then has memory for it.
  r1cs::Layout layout = r1cs::Layout::kNarrow;
};

struct LoadOptions {
  groth16::PointPolicy policy = groth16::PointPolicy::kCurve;
  PlanOptions plan;
  Progress progress;     ///< bytes read of the file's bytes
  std::stop_token stop;  ///< Cancelled; nothing stays loaded
};

struct StartOptions {
  unsigned worker = 0;   ///< which worker of the device, from 0; chooses streams
  unsigned urgency = 0;  ///< of those that wait for the compute region, the most urgent one enters first
  std::stop_token stop;  ///< checked between stages; the result is Cancelled, and the witness is destroyed
  Progress progress;     ///< units of work done of all units, of this partition
};

/// The parameters of one circuit, ready on one device. Freed when the last owner releases them; a Pending is an owner.
class ResidentParameters {
 public:
  virtual ~ResidentParameters() = default;
  virtual const groth16::VerifyingKey& verifying_key() const = 0;
  virtual const std::shared_ptr<const r1cs::Shape>& shape() const = 0;
  virtual const Plan& plan() const = 0;
};

/// A partition that is being proved. One thread at a time. Destroying it without Finish abandons the partition: the
/// destructor waits until the device no longer uses its buffers, and frees them.
class Pending {
 public:
  virtual ~Pending() = default;
  /// Blocks until the five sums are there. Called once. Errors as of Device::Start.
  virtual StatusOr<groth16::MsmResults> Finish() = 0;
  /// The timeline of the partition; complete after Finish.
  virtual const Timeline& timeline() const = 0;
};

/// All functions may be called from several threads at once, unless said otherwise.
///
/// Errors of Load, Start and Finish: ResourceExhausted, memory of the host or the device (the text says which; the
/// device goes on); Unavailable, the device is lost (health() says why, for good; nothing else will succeed on it);
/// Cancelled, by the stop token; FailedPrecondition, parameters of another device or circuit; InvalidArgument, the
/// parameter file; Internal, anything else that the device reports.
class Device {
 public:
  virtual ~Device() = default;

  /// For people, e.g. "cpu (2 threads, ifma)" or the card's name.
  virtual std::string_view name() const = 0;
  /// Number of the card; -1 for the CPU device.
  virtual int ordinal() const = 0;
  /// Constant; no call of the driver.
  virtual DeviceIdentity identity() const { return {}; }
  virtual MemoryInfo memory() const = 0;
  /// OK, or why the device was lost. Once not OK, never OK again.
  virtual Status health() const = 0;
  /// Allocates memory for leases from which this device copies at full speed. It lives as long as the device; pools
  /// that use it must be destroyed before the device.
  virtual memory::HostAllocator& host_allocator() = 0;

  /// What the circuit will need here. ResourceExhausted, with both numbers in words, if it does not fit.
  virtual StatusOr<Plan> MakePlan(const r1cs::Shape& shape, const PlanOptions& options) const = 0;

  /// Decodes and checks the points and places them as planned. `file` must have been opened with the shape's counts;
  /// Load does not use it after it has returned unless the plan says so (the parameters then own it). The caller has
  /// already reserved plan.parameter_host_bytes.
  virtual StatusOr<std::shared_ptr<const ResidentParameters>> Load(std::shared_ptr<const groth16::ParameterFile> file,
                                                                   std::shared_ptr<const r1cs::Shape> shape,
                                                                   const LoadOptions& options) = 0;

  /// Takes ownership of the witness, copies it to the device (while other workers may compute), destroys it right
  /// after the last copy so that its lease ends, waits for the compute region, and starts the computation there. Blocks
  /// at least until the lease has ended. A worker finishes or destroys its Pending before it starts the next one. On an
  /// error the witness is destroyed as well; the engine writes it again.
  virtual StatusOr<std::unique_ptr<Pending>> Start(std::shared_ptr<const ResidentParameters> parameters,
                                                   r1cs::Witness witness, const StartOptions& options) = 0;
};

}  // namespace cuzk::prover
