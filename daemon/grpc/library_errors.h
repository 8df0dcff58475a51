#pragma once
// Errors that gRPC answers by itself, with codes and texts that do not tell the client what to do.

#include <grpcpp/support/server_interceptor.h>

namespace cuzk::daemon {

/// Gives them a code and a text of ours: INVALID_ARGUMENT for a message that cannot be parsed (the library says
/// INTERNAL), UNAVAILABLE with the limits in force where the system gives no thread for a call, RESOURCE_EXHAUSTED
/// where all of grpc.threads are in use.
class LibraryErrors final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo* info) override;
};

}  // namespace cuzk::daemon
