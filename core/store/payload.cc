#include "core/store/payload.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/hash.h"

namespace cuzk::store {
namespace {

constexpr std::string_view kSuffix = ".payload";
/// What AtomicFile appends to a name while it writes: this and six characters.
constexpr std::string_view kPart = ".part-";
constexpr size_t kPartLength = kPart.size() + 6;

/// The row of a payload file, or of what a crash left of writing it (`part`); -1 for any other file.
int64_t RowOfName(std::string_view name, bool* part) {
  *part = name.size() > kPartLength && name.substr(name.size() - kPartLength).starts_with(kPart);
  if (*part) name.remove_suffix(kPartLength);
  if (!name.ends_with(kSuffix)) return -1;
  name.remove_suffix(kSuffix.size());
  const bool digits = std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (name.empty() || !digits) return -1;
  // A number that no row can have is as unwanted as row 0.
  return name.size() > 18 || name != std::to_string(std::stoll(std::string(name))) ? 0 : std::stoll(std::string(name));
}

Status AppendNumber(uint64_t value, AtomicFile& file) {
  uint8_t bytes[8];
  StoreLe(bytes, value);
  return file.Append(bytes);
}

Status AppendText(const std::string& text, AtomicFile& file) {
  CUZK_RETURN_IF_ERROR(AppendNumber(text.size(), file));
  return file.Append(AsBytes(text));
}

/// Takes values from the front; after the first error every further value is empty.
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
    if (status.ok()) status = absl::InvalidArgumentError("its payload file is truncated or too long");
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

/// 0 if the file has gone.
uint64_t SizeOf(const std::filesystem::path& path) {
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

}  // namespace

Bytes32 PayloadDigest(const filecoin::VanillaRequest& request) {
  Hasher hasher(HashKind::kSha256);
  auto number = [&](uint64_t value) {
    uint8_t bytes[8];
    StoreLe(bytes, value);
    hasher.Update(bytes);
  };
  auto text = [&](const std::string& value) {
    number(value.size());
    hasher.Update(AsBytes(value));
  };
  for (uint64_t value : {request.kind, request.registered_proof, request.sector_size, request.sector_number,
                         request.miner_id, uint64_t{request.partition_index}}) {
    number(value);
  }
  text(request.vanilla_proof);
  number(request.vanilla_proofs.size());
  for (const std::string& item : request.vanilla_proofs) text(item);
  for (const std::string* field :
       {&request.randomness, &request.comm_r_old, &request.comm_r_new, &request.comm_d_new}) {
    text(*field);
  }
  return hasher.Finish32();
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
  const uint64_t items = reader.Number();
  for (uint64_t i = 0; reader.status.ok() && i < items; ++i) request.vanilla_proofs.push_back(reader.Text());
  for (std::string* field : {&request.randomness, &request.comm_r_old, &request.comm_r_new, &request.comm_d_new}) {
    *field = reader.Text();
  }
  if (reader.status.ok() && reader.left() != 0) reader.Miss();
  CUZK_RETURN_IF_ERROR(reader.status);
  return request;
}

std::filesystem::path PayloadFiles::PathOf(int64_t row) const { return directory_ / StrCat(row, kSuffix); }

Status PayloadFiles::DeleteAllBut(const std::set<int64_t>& wanted) {
  bytes_ = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory_, error), end; !error && at != end; at.increment(error)) {
    const std::filesystem::path& path = at->path();
    bool part = false;
    std::error_code ignored;  // a single file that cannot be looked at or deleted keeps no job from going on
    const int64_t row = RowOfName(path.filename().string(), &part);
    if (row < 0 || at->symlink_status(ignored).type() != std::filesystem::file_type::regular) continue;
    const bool stays = !part && wanted.contains(row);
    if (stays || !std::filesystem::remove(path, ignored)) bytes_ += SizeOf(path);
  }
  return error ? ErrnoStatus(error.value(), "read", directory_) : absl::OkStatus();
}

Status PayloadFiles::Write(int64_t row, const filecoin::VanillaRequest& request) {
  const std::filesystem::path path = PathOf(row);
  // An AtomicFile would write to what a link names.
  std::error_code ignored;
  if (std::filesystem::is_symlink(path, ignored)) return ErrnoStatus(ELOOP, "write", path);
  CUZK_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path, 0600));
  CUZK_RETURN_IF_ERROR(WriteRequest(request, file));
  if (Status committed = file.Commit(); !committed.ok()) {
    std::filesystem::remove(path, ignored);
    return committed;
  }
  bytes_ += SizeOf(path);
  return absl::OkStatus();
}

StatusOr<filecoin::VanillaRequest> PayloadFiles::Read(int64_t row, const Bytes32& digest) const {
  CUZK_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(PathOf(row)));
  CUZK_ASSIGN_OR_RETURN(filecoin::VanillaRequest request, ReadRequest(file));
  if (PayloadDigest(request) != digest) return absl::DataLossError("its payload is damaged");
  return request;
}

void PayloadFiles::Delete(int64_t row) {
  std::error_code error;
  const std::filesystem::path path = PathOf(row);
  const uint64_t bytes = std::filesystem::file_size(path, error);
  if (!error && std::filesystem::remove(path, error)) bytes_ -= std::min(bytes_, bytes);
}

}  // namespace cuzk::store
