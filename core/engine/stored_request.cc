// The form of a request in a payload file: numbers as u64 LE, texts after their length.

#include <utility>

#include "core/engine/store.h"

namespace cuzk::engine {
namespace {

Status AppendNumber(uint64_t value, AtomicFile& file) {
  uint8_t bytes[8];
  StoreLe(bytes, value);
  return file.Append(bytes);
}

Status AppendText(const std::string& text, AtomicFile& file) {
  CUZK_RETURN_IF_ERROR(AppendNumber(text.size(), file));
  return file.Append(AsBytes(text));
}

/// Takes values from the front; once something is missing, everything is.
struct Reader {
  const InputFile& file;
  uint64_t at = 0;
  Status status;

  uint64_t left() const { return file.size() - at; }
  void Take(std::span<uint8_t> out) {
    if (status.ok()) status = file.ReadAt(at, out);
    at += out.size();
  }
  void Miss() {
    if (status.ok()) status = absl::InvalidArgumentError("its payload file is cut short or too long");
  }
  uint64_t Number() {
    uint8_t bytes[8] = {};
    left() < sizeof bytes ? Miss() : Take(bytes);
    return status.ok() ? LoadLe<uint64_t>(bytes) : 0;
  }
  std::string Text() {
    const uint64_t size = Number();
    if (size > left()) Miss();
    if (!status.ok()) return {};
    std::string text(size, '\0');
    Take({reinterpret_cast<uint8_t*>(text.data()), text.size()});
    return text;
  }
};

}  // namespace

int64_t WallClockMs() {
  auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

Status WriteRequest(const filecoin::VanillaRequest& request, AtomicFile& file) {
  for (uint64_t value : {request.kind, request.registered_proof, request.sector_size, request.sector_number,
                         request.miner_id, uint64_t{request.partition_index}}) {
    CUZK_RETURN_IF_ERROR(AppendNumber(value, file));
  }
  CUZK_RETURN_IF_ERROR(AppendText(request.vanilla_proof, file));
  CUZK_RETURN_IF_ERROR(AppendNumber(request.vanilla_proofs.size(), file));
  for (const std::string& item : request.vanilla_proofs) CUZK_RETURN_IF_ERROR(AppendText(item, file));
  for (const std::string* field :
       {&request.randomness, &request.comm_r_old, &request.comm_r_new, &request.comm_d_new}) {
    CUZK_RETURN_IF_ERROR(AppendText(*field, file));
  }
  return absl::OkStatus();
}

StatusOr<filecoin::VanillaRequest> ReadRequest(const InputFile& file) {
  Reader reader{file, 0, absl::OkStatus()};
  filecoin::VanillaRequest request;
  for (uint64_t* value :
       {&request.kind, &request.registered_proof, &request.sector_size, &request.sector_number, &request.miner_id}) {
    *value = reader.Number();
  }
  request.partition_index = static_cast<uint32_t>(reader.Number());
  request.vanilla_proof = reader.Text();
  uint64_t items = reader.Number();
  for (uint64_t i = 0; reader.status.ok() && i < items; ++i) request.vanilla_proofs.push_back(reader.Text());
  for (std::string* field : {&request.randomness, &request.comm_r_old, &request.comm_r_new, &request.comm_d_new}) {
    *field = reader.Text();
  }
  if (reader.status.ok() && reader.left() != 0) reader.Miss();
  CUZK_RETURN_IF_ERROR(reader.status);
  return request;
}

}  // namespace cuzk::engine
