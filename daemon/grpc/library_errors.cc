#include "daemon/grpc/library_errors.h"

#include <string>

#include "core/base/thread.h"

namespace cuzk::daemon {
namespace {

grpc::Status InOurWords(const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::INTERNAL && status.error_message().empty()) {
    return {grpc::StatusCode::INVALID_ARGUMENT,
            "the message cannot be parsed: a string in it is not UTF-8, or the message has another type"};
  }
  // The library says the same whether its own limit is reached or the system refuses a thread.
  if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
      status.error_message() == "Server Threadpool Exhausted") {
    const StatusOr<std::jthread> thread = StartThread("a call", [] {});
    if (!thread.ok()) return {grpc::StatusCode::UNAVAILABLE, std::string(thread.status().message())};
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls at once: all threads (grpc.threads) are in use"};
  }
  return status;
}

class Answer final : public grpc::experimental::Interceptor {
 public:
  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(grpc::experimental::InterceptionHookPoints::PRE_SEND_STATUS)) {
      const grpc::Status status = methods->GetSendStatus();
      if (!status.ok()) methods->ModifySendStatus(InOurWords(status));
    }
    methods->Proceed();
  }
};

}  // namespace

grpc::experimental::Interceptor* LibraryErrors::CreateServerInterceptor(grpc::experimental::ServerRpcInfo*) {
  return new Answer();  // gRPC deletes it
}

}  // namespace cuzk::daemon
