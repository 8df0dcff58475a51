#pragma once
// Messages that cannot be parsed: gRPC answers INTERNAL without a word for them, as if the server were at fault.

#include <grpcpp/support/server_interceptor.h>

namespace cuzk::daemon {

/// Turns that answer into INVALID_ARGUMENT with a text.
class ParseErrors final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo* info) override;
};

}  // namespace cuzk::daemon
