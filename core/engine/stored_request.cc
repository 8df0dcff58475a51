// The form of a request in a payload file: numbers as u64 LE, texts after their length.

#include <utility>

#include "core/engine/store.h"

namespace cuzk::engine {
namespace {

void AppendNumber(uint64_t value, std::string* out) {
  uint8_t bytes[8];
  StoreLe(bytes, value);
  out->append(reinterpret_cast<const char*>(bytes), sizeof bytes);
}

void AppendText(const std::string& text, std::string* out) {
  AppendNumber(text.size(), out);
  out->append(text);
}

/// Takes values from the front; once something is missing, everything is.
struct Reader {
  ByteSpan left;
  bool ok = true;

  uint64_t Number() {
    if (left.size() < 8) ok = false;
    if (!ok) return 0;
    uint64_t value = LoadLe<uint64_t>(left.data());
    left = left.subspan(8);
    return value;
  }
  std::string Text() {
    uint64_t size = Number();
    if (size > left.size()) ok = false;
    if (!ok) return {};
    std::string text(reinterpret_cast<const char*>(left.data()), size);
    left = left.subspan(size);
    return text;
  }
};

}  // namespace

int64_t WallClockMs() {
  auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

std::string WriteRequest(const filecoin::VanillaRequest& request) {
  std::string out;
  out.reserve(request.payload_bytes() + 8 * request.vanilla_proofs.size() + 256);
  for (uint64_t value : {request.kind, request.registered_proof, request.sector_size, request.sector_number,
                         request.miner_id, uint64_t{request.partition_index}}) {
    AppendNumber(value, &out);
  }
  AppendText(request.vanilla_proof, &out);
  AppendNumber(request.vanilla_proofs.size(), &out);
  for (const std::string& item : request.vanilla_proofs) AppendText(item, &out);
  for (const std::string* field :
       {&request.randomness, &request.comm_r_old, &request.comm_r_new, &request.comm_d_new}) {
    AppendText(*field, &out);
  }
  return out;
}

StatusOr<filecoin::VanillaRequest> ReadRequest(ByteSpan bytes) {
  Reader reader{bytes};
  filecoin::VanillaRequest request;
  for (uint64_t* value :
       {&request.kind, &request.registered_proof, &request.sector_size, &request.sector_number, &request.miner_id}) {
    *value = reader.Number();
  }
  request.partition_index = static_cast<uint32_t>(reader.Number());
  request.vanilla_proof = reader.Text();
  uint64_t items = reader.Number();
  for (uint64_t i = 0; reader.ok && i < items; ++i) request.vanilla_proofs.push_back(reader.Text());
  for (std::string* field : {&request.randomness, &request.comm_r_old, &request.comm_r_new, &request.comm_d_new}) {
    *field = reader.Text();
  }
  if (!reader.ok || !reader.left.empty())
    return absl::InvalidArgumentError("its payload file is cut short or too long");
  return request;
}

}  // namespace cuzk::engine
