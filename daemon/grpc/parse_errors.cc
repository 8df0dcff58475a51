#include "daemon/grpc/parse_errors.h"

#include <string>

namespace cuzk::daemon {
namespace {

class Answer final : public grpc::experimental::Interceptor {
 public:
  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(grpc::experimental::InterceptionHookPoints::PRE_SEND_STATUS)) {
      const grpc::Status status = methods->GetSendStatus();
      if (status.error_code() == grpc::StatusCode::INTERNAL && status.error_message().empty()) {
        methods->ModifySendStatus(
            {grpc::StatusCode::INVALID_ARGUMENT,
             "the message cannot be parsed: a text in it is not UTF-8, or it is of another type"});
      }
    }
    methods->Proceed();
  }
};

}  // namespace

grpc::experimental::Interceptor* ParseErrors::CreateServerInterceptor(grpc::experimental::ServerRpcInfo*) {
  return new Answer();  // gRPC deletes it
}

}  // namespace cuzk::daemon
