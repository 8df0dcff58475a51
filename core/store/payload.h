#pragma once
// The payload of an unfinished job: the request's bytes in a file of its own, ROW.payload, and the digest that tells
// whether they are still what was accepted. Numbers are u64 in little-endian order, texts follow their length.

#include <cstdint>
#include <filesystem>
#include <set>

#include "core/base/bytes.h"
#include "core/base/file.h"
#include "core/base/input_file.h"
#include "core/base/status.h"
#include "core/filecoin/types/request.h"

namespace cuzk::store {

/// SHA-256 over everything in the request that decides its answer; the id, the priority and the deadline do not.
Bytes32 PayloadDigest(const filecoin::VanillaRequest& request);

/// Appends the request to a file, without a further copy of its payload in memory. Errors of AtomicFile.
Status WriteRequest(const filecoin::VanillaRequest& request, AtomicFile& file);
/// INVALID_ARGUMENT if the file is no request; errors of InputFile.
StatusOr<filecoin::VanillaRequest> ReadRequest(const InputFile& file);

/// The payload files of one folder. Reading is thread-safe; the other functions are called by one thread at a time.
class PayloadFiles {
 public:
  explicit PayloadFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// Deletes payload files, and what a crash left of writing one, whose row is not in `wanted`, and counts the others
  /// and those that cannot be deleted. Everything else in the folder stays. An error if the folder cannot be read to
  /// its end.
  Status DeleteAllBut(const std::set<int64_t>& wanted);
  /// On disk when it returns; on an error nothing of it stays. Refuses to write through a link.
  Status Write(int64_t row, const filecoin::VanillaRequest& request);
  /// DATA_LOSS if the digest differs, NOT_FOUND, or an error of ReadRequest.
  StatusOr<filecoin::VanillaRequest> Read(int64_t row, const Bytes32& digest) const;
  /// No effect if there is none.
  void Delete(int64_t row);
  /// Bytes of all files.
  uint64_t bytes() const { return bytes_; }

 private:
  std::filesystem::path PathOf(int64_t row) const;

  const std::filesystem::path directory_;
  uint64_t bytes_ = 0;
};

/// The name of a file that is no payload, but is deleted by DeleteAllBut like what a crash left of one.
inline constexpr char kNoPayload[] = "0.payload";

}  // namespace cuzk::store
