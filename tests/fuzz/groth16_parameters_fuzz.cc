// The reader of parameter files: whatever the bytes, it answers; what it accepts has the length that its counts say,
// and a key that it accepts is written back byte for byte.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "core/base/check.h"
#include "core/groth16/parameter_file.h"

namespace {

/// Bytes as a file that needs no disk.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : fd_(memfd_create("parameters", MFD_CLOEXEC)) {
    CUZK_CHECK(fd_ >= 0 && write(fd_, data, size) == static_cast<ssize_t>(size));
  }
  ~MemoryFile() { close(fd_); }
  std::string path() const { return cuzk::StrCat("/proc/self/fd/", fd_); }

 private:
  int fd_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using cuzk::groth16::PointPolicy;
  using cuzk::groth16::VerifyingKey;
  cuzk::ByteSpan bytes(data, size), rest = bytes;
  auto key = VerifyingKey::Take(rest);
  if (key.ok()) {
    const std::vector<uint8_t> written = key->ToBytes();
    CUZK_CHECK(written.size() + rest.size() == size && std::equal(written.begin(), written.end(), data));
  }
  MemoryFile memory(data, size);
  auto file = cuzk::groth16::ParameterFile::Open(memory.path());
  CUZK_CHECK(!file.ok() || key.ok());
  if (!file.ok()) return 0;
  CUZK_CHECK((*file)->counts().FileBytes() == size);
  cuzk::ThreadPool pool(1);
  const bool canonical = CheckPoints(**file, pool, {.policy = PointPolicy::kCanonical}).ok();
  const bool curve = CheckPoints(**file, pool, {.policy = PointPolicy::kCurve}).ok();
  const bool subgroup = CheckPoints(**file, pool, {.policy = PointPolicy::kSubgroup}).ok();
  CUZK_CHECK(canonical >= curve && curve >= subgroup);
  return 0;
}
