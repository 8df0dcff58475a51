#include "daemon/grpc/internal/bounded_service.h"

#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include "core/base/status.h"
#include "core/filecoin/types/registry.h"
#include "daemon/ingress/open_calls.h"

namespace cuzk::daemon {
namespace {

/// Fields that are no items of vanilla_proofs: a dozen today, and some that later clients may know.
constexpr uint64_t kOtherFields = 64;

/// Steps over the value behind a tag. False where the message ends or is broken.
bool Skip(google::protobuf::io::CodedInputStream& in, uint32_t tag) {
  uint64_t number = 0;
  uint32_t length = 0;
  switch (tag & 7) {
    case 0:
      return in.ReadVarint64(&number);
    case 1:
      return in.Skip(8);
    case 2:
      return in.ReadVarint32(&length) && length <= INT32_MAX && in.Skip(static_cast<int>(length));
    case 3:
    case 4:
      return true;  // what is inside comes next
    case 5:
      return in.Skip(4);
    default:
      return false;
  }
}

}  // namespace

grpc::Status CheckFieldCount(grpc::ByteBuffer& bytes, uint32_t nested) {
  if (!bytes.Valid()) return grpc::Status::OK;
  grpc::ProtoBufferReader reader(&bytes);
  google::protobuf::io::CodedInputStream in(&reader);
  const uint64_t most = filecoin::MostVanillaProofs() + kOtherFields;
  const uint32_t nested_tag = nested << 3 | 2;
  int64_t inside_until = 0;  // of the nested message: another one's fields may have the same number
  uint64_t fields = 0;
  for (uint32_t tag = in.ReadTag(); tag != 0; tag = in.ReadTag()) {
    if (++fields > most) {
      return {grpc::StatusCode::INVALID_ARGUMENT,
              StrCat("the message has more than ", most, " fields and items, more than any request has")};
    }
    uint32_t length = 0;
    if (tag == nested_tag && in.CurrentPosition() > inside_until) {
      if (!in.ReadVarint32(&length)) break;
      inside_until = int64_t{in.CurrentPosition()} + length;
    } else if (!Skip(in, tag)) {
      break;
    }
  }
  return grpc::Status::OK;
}

grpc::Status RefusalIn(grpc::ByteBuffer& bytes) {
  /// More than a refusal has: the text of a client that imitates one goes no further.
  constexpr size_t kMost = 1024;
  if (!bytes.Valid() || bytes.Length() < 2 || bytes.Length() > kMost) return grpc::Status::OK;
  grpc::ProtoBufferReader reader(&bytes);
  google::protobuf::io::CodedInputStream in(&reader);
  std::string text;
  if (!in.ReadString(&text, static_cast<int>(bytes.Length())) || text.front() != kRefusalMark) return grpc::Status::OK;
  const int code = text[1];
  const bool known = code > grpc::StatusCode::OK && code <= grpc::StatusCode::UNAUTHENTICATED;
  return {known ? static_cast<grpc::StatusCode>(code) : grpc::StatusCode::INVALID_ARGUMENT, text.substr(2)};
}

void BoundedService::Parsed(const grpc::ServerContext& context, uint64_t wire_bytes) {
  if (memory_ != nullptr) memory_->Parsed(context.peer(), wire_bytes);
}

void BoundedService::Add(const std::string& name, grpc::internal::RpcMethod::RpcType type,
                         grpc::internal::MethodHandler* handler) {
  names_.push_back(name);
  AddMethod(new grpc::internal::RpcServiceMethod(names_.back().c_str(), type, handler));
}

}  // namespace cuzk::daemon
