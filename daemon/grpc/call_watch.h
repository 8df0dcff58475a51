#pragma once
// What only gRPC's interceptors see of a call: a stream that is opened and holds a thread, an answer that its client
// does not take, and whether an answer went out at all.

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>

#include "core/base/mutex.h"
#include "daemon/grpc/waiting_calls.h"

namespace cuzk::daemon {

/// Thread-safe. Must outlive the server.
class CallWatch {
 public:
  /// A client may take an answer, or a message of a stream, for so long. `seats` must outlive this.
  CallWatch(WaitingCalls& seats, std::chrono::milliseconds patience) : seats_(seats), patience_(patience) {}

  /// For the server: one looks at every call that a thread serves. A reflection stream takes a viewer's seat, or ends
  /// with RESOURCE_EXHAUSTED.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> Interceptors();

  /// `told` is called once, before the call is gone, on its thread: whether the answer was taken. That means that it
  /// was handed to the operating system whole, with the status after it, while the connection stood, the client's
  /// window let it through and the call was not cancelled. gRPC has no receipt: what a client loses after that (it
  /// dies, or the network goes and takes the buffers along) counts as taken. Called from the handler with its own
  /// context.
  void WhenAnswered(const grpc::ServerContext& context, std::function<void(bool taken)> told);

  /// Ends, with UNAVAILABLE, the calls whose client has not taken for `patience` what it is sent: a connection that is
  /// alive and whose window stays shut would hold a thread for ever. To be called about once a second.
  void EndUnread(std::chrono::steady_clock::time_point now);

 private:
  class Call;
  class Factory;

  WaitingCalls& seats_;
  const std::chrono::milliseconds patience_;
  Mutex mutex_;
  std::map<const grpc::ServerContextBase*, Call*> calls_ ABSL_GUARDED_BY(mutex_);  // all that are open
};

}  // namespace cuzk::daemon
