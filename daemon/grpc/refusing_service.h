#pragma once
// Answers every call of every service with UNAVAILABLE, for a daemon that cannot accept jobs yet.

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <functional>
#include <string>

namespace cuzk::daemon {

class RefusingService final : public grpc::CallbackGenericService {
 public:
  /// `why` becomes the text of the answers; called from gRPC's threads, at the same time.
  explicit RefusingService(std::function<std::string()> why);

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override;
  const std::function<std::string()> why_;
};

}  // namespace cuzk::daemon
