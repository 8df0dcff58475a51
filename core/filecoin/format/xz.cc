#include "core/filecoin/format/xz.h"

#include <lzma.h>

#include <algorithm>
#include <memory>
#include <system_error>

#include "core/base/file.h"

namespace cuzk::filecoin {
namespace {

constexpr uint64_t kMemoryLimit = uint64_t{1} << 30;  // of the decoder
constexpr size_t kStep = size_t{1} << 20;             // of output

StatusOr<std::string> Decompress(ByteSpan bytes, const std::filesystem::path& path, uint64_t most_bytes) {
  lzma_stream stream = LZMA_STREAM_INIT;
  std::unique_ptr<lzma_stream, decltype(&lzma_end)> owner(&stream, lzma_end);
  if (lzma_stream_decoder(&stream, kMemoryLimit, LZMA_CONCATENATED) != LZMA_OK) {
    return absl::InternalError("liblzma does not start");
  }
  stream.next_in = bytes.data();
  stream.avail_in = bytes.size();
  std::string out;
  size_t used = 0;
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK) {
    if (out.size() - used < kStep) out.resize(std::max(2 * out.size(), kStep));
    stream.next_out = reinterpret_cast<uint8_t*>(out.data()) + used;
    stream.avail_out = out.size() - used;
    result = lzma_code(&stream, LZMA_FINISH);
    used = out.size() - stream.avail_out;
    if (used > most_bytes) {
      return absl::InvalidArgumentError(
          StrCat(path.string(), ": unpacks to more than ", most_bytes, " bytes, the most that are read"));
    }
  }
  if (result != LZMA_STREAM_END) {
    return absl::InvalidArgumentError(StrCat(path.string(), ": not a whole xz file (liblzma error ", int{result}, ")"));
  }
  out.resize(used);
  return out;
}

}  // namespace

StatusOr<std::string> ReadFileOrXz(const std::filesystem::path& path, uint64_t most_bytes) {
  std::filesystem::path compressed = path;
  compressed += ".xz";
  std::error_code error;
  if (std::filesystem::exists(path, error) || !std::filesystem::exists(compressed, error))
    return ReadFile(path, most_bytes);
  CUZK_ASSIGN_OR_RETURN(std::string bytes, ReadFile(compressed, most_bytes));
  return Decompress(AsBytes(bytes), compressed, most_bytes);
}

}  // namespace cuzk::filecoin
