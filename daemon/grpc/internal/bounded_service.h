#pragma once
// A service of gRPC whose messages are looked through before they are parsed: an empty item of two bytes becomes an
// object of a hundred, so that a message of the largest size could take more than the machine has.

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/method_handler.h>

#include <cstdint>
#include <list>
#include <string>

#include "daemon/ingress/ingress_memory.h"

namespace cuzk::daemon {

/// A request that was looked through.
template <class Message>
struct Bounded {
  Message message;
  uint64_t wire_bytes = 0;  ///< the message's size before it was parsed
};

/// The status that the gate of a connection put in the place of a message that it refused; OK of every other message.
grpc::Status RefusalIn(grpc::ByteBuffer& bytes);

/// INVALID_ARGUMENT if there are more fields than the largest request has, each item of a repeated one counted. What
/// is inside of field `nested` counts as well (0: none); nothing else of our requests is a message. Broken messages
/// pass: the parser stops where they are.
grpc::Status CheckFieldCount(grpc::ByteBuffer& bytes, uint32_t nested);

/// Does what the generated base classes do.
class BoundedService : public grpc::Service {
 protected:
  /// `memory`, which must outlive the service, hears that a message was parsed; null: no gate counts messages.
  explicit BoundedService(IngressMemory* memory) : memory_(memory) {}

  template <class Self, class Request, class Response>
  void AddUnary(const std::string& name,
                grpc::Status (Self::*method)(grpc::ServerContext*, const Request*, Response*)) {
    auto call = [method](Self* self, grpc::ServerContext* context, const Bounded<Request>* request,
                         Response* response) {
      self->Parsed(*context, request->wire_bytes);
      return (self->*method)(context, &request->message, response);
    };
    using Handler = grpc::internal::RpcMethodHandler<Self, Bounded<Request>, Response>;
    Add(name, grpc::internal::RpcMethod::NORMAL_RPC, new Handler(call, static_cast<Self*>(this)));
  }
  template <class Self, class Request, class Item>
  void AddStream(const std::string& name,
                 grpc::Status (Self::*method)(grpc::ServerContext*, const Request*, grpc::ServerWriter<Item>*)) {
    auto call = [method](Self* self, grpc::ServerContext* context, const Bounded<Request>* request,
                         grpc::ServerWriter<Item>* writer) {
      self->Parsed(*context, request->wire_bytes);
      return (self->*method)(context, &request->message, writer);
    };
    using Handler = grpc::internal::ServerStreamingHandler<Self, Bounded<Request>, Item>;
    Add(name, grpc::internal::RpcMethod::SERVER_STREAMING, new Handler(call, static_cast<Self*>(this)));
  }

 private:
  void Parsed(const grpc::ServerContext& context, uint64_t wire_bytes);
  void Add(const std::string& name, grpc::internal::RpcMethod::RpcType type, grpc::internal::MethodHandler* handler);

  IngressMemory* const memory_;
  std::list<std::string> names_;  // gRPC keeps pointers to them
};

}  // namespace cuzk::daemon

namespace grpc {

template <class Message>
class SerializationTraits<cuzk::daemon::Bounded<Message>, void> {
 public:
  static Status Deserialize(ByteBuffer* bytes, cuzk::daemon::Bounded<Message>* request) {
    request->wire_bytes = bytes->Valid() ? bytes->Length() : 0;
    Status taken = cuzk::daemon::RefusalIn(*bytes);
    const uint32_t nested = Message::descriptor()->FindFieldByName("submit") ? 1 : 0;
    if (taken.ok()) taken = cuzk::daemon::CheckFieldCount(*bytes, nested);
    if (taken.ok()) return SerializationTraits<Message>::Deserialize(bytes, &request->message);
    bytes->Clear();
    return taken;
  }
};

}  // namespace grpc
