#pragma once
// grpc.reflection.v1.ServerReflection: clients such as grpcurl ask a server which services and types it has.

#include <string>
#include <vector>

#include "grpc/reflection/v1/reflection.grpc.pb.h"

namespace cuzk::daemon {

/// Any number of threads; each stream holds one while it is open.
class ReflectionService final : public grpc::reflection::v1::ServerReflection::Service {
 public:
  /// `services`: the full names that are listed.
  explicit ReflectionService(std::vector<std::string> services) : services_(std::move(services)) {}

  grpc::Status ServerReflectionInfo(grpc::ServerContext*,
                                    grpc::ServerReaderWriter<grpc::reflection::v1::ServerReflectionResponse,
                                                             grpc::reflection::v1::ServerReflectionRequest>*) override;

  /// The answer to one request; what is not known is NOT_FOUND in the answer.
  grpc::reflection::v1::ServerReflectionResponse Answer(
      const grpc::reflection::v1::ServerReflectionRequest& request) const;

 private:
  const std::vector<std::string> services_;
};

}  // namespace cuzk::daemon
