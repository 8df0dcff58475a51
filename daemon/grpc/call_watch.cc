#include "daemon/grpc/call_watch.h"

#include <grpc/grpc.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuzk::daemon {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

constexpr unsigned kLooks = 3;

void End(grpc_call* call, grpc_status_code code, const std::string& text) {
  grpc_call_cancel_with_status(call, code, text.c_str(), nullptr);
}

}  // namespace

/// Lives a little longer than the call that it looks at.
class CallWatch::Call final : public grpc::experimental::Interceptor {
 public:
  Call(CallWatch& watch, ServerRpcInfo* info) : watch_(watch), context_(info->server_context()) {
    if (std::string_view(info->method()).starts_with("/grpc.reflection.")) {
      seat_.emplace(watch.seats_.Enter(Share::kViewers));
    }
    MutexLock lock(watch_.mutex_);
    watch_.calls_.insert_or_assign(context_, this);
  }

  ~Call() override {
    {
      MutexLock lock(watch_.mutex_);
      auto known = watch_.calls_.find(context_);
      if (known != watch_.calls_.end() && known->second == this) watch_.calls_.erase(known);
    }
    Tell(false);
  }

  void Intercept(InterceptorBatchMethods* methods) override {
    auto at = [methods](InterceptionHookPoints point) { return methods->QueryInterceptionHookPoint(point); };
    if (at(InterceptionHookPoints::POST_RECV_INITIAL_METADATA) && seat_ && !seat_->ok()) {
      End(context_->c_call(), GRPC_STATUS_RESOURCE_EXHAUSTED, std::string(seat_->status().message()));
    }
    if (at(InterceptionHookPoints::PRE_SEND_MESSAGE) || at(InterceptionHookPoints::PRE_SEND_STATUS)) BeginToSend();
    if (at(InterceptionHookPoints::POST_SEND_MESSAGE)) {
      Sent(false);
      Tell(methods->GetSendMessageStatus());
    }
    if (at(InterceptionHookPoints::POST_RECV_CLOSE)) Sent(true);
    methods->Proceed();
  }

  void set_told(std::function<void(bool)> told) ABSL_EXCLUSIVE_LOCKS_REQUIRED(watch_.mutex_) {
    told_ = std::move(told);
  }
  /// Looked at once more: whether it has been sending the same for `patience`, and at each of a few looks. Where the
  /// whole machine stops for a while, looks stop with it.
  bool Unread(std::chrono::steady_clock::time_point now, std::chrono::milliseconds patience)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(watch_.mutex_) {
    return sending_since_ && ++looks_ >= kLooks && now - *sending_since_ >= patience;
  }
  /// The calling thread holds the watch's mutex, of which the analysis does not see that it is the one of this call.
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK(watch_.mutex_) { watch_.mutex_.AssertHeld(); }
  grpc_call* call() const { return context_->c_call(); }

 private:
  void BeginToSend() {
    MutexLock lock(watch_.mutex_);
    if (closed_) return;
    sending_since_ = std::chrono::steady_clock::now();
    looks_ = 0;
  }

  /// There is no word of a status that was sent: the close of the call is it.
  void Sent(bool closed) {
    MutexLock lock(watch_.mutex_);
    sending_since_.reset();
    closed_ = closed_ || closed;
  }

  void Tell(bool taken) {
    std::function<void(bool)> told;
    {
      MutexLock lock(watch_.mutex_);
      told = std::exchange(told_, nullptr);
    }
    if (told) told(taken);
  }

  CallWatch& watch_;
  grpc::ServerContextBase* const context_;
  std::optional<StatusOr<WaitingCalls::Seat>> seat_;  // of a stream that would hold its thread without asking
  std::function<void(bool)> told_ ABSL_GUARDED_BY(watch_.mutex_);
  /// The call is alive while there is one.
  std::optional<std::chrono::steady_clock::time_point> sending_since_ ABSL_GUARDED_BY(watch_.mutex_);
  unsigned looks_ ABSL_GUARDED_BY(watch_.mutex_) = 0;  // since then
  bool closed_ ABSL_GUARDED_BY(watch_.mutex_) = false;
};

class CallWatch::Factory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Factory(CallWatch& watch) : watch_(watch) {}
  grpc::experimental::Interceptor* CreateServerInterceptor(ServerRpcInfo* info) override {
    // Health holds no thread: gRPC serves it with callbacks, and keeps one state for a watcher that does not read.
    if (std::string_view(info->method()).starts_with("/grpc.health.")) return nullptr;
    return new Call(watch_, info);  // gRPC deletes it
  }

 private:
  CallWatch& watch_;
};

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> CallWatch::Interceptors() {
  return std::make_unique<Factory>(*this);
}

void CallWatch::WhenAnswered(const grpc::ServerContext& context, std::function<void(bool)> told) {
  MutexLock lock(mutex_);
  auto call = calls_.find(&context);
  if (call == calls_.end()) return;
  call->second->AssertHeld();
  call->second->set_told(std::move(told));
}

void CallWatch::EndUnread(std::chrono::steady_clock::time_point now) {
  std::vector<grpc_call*> unread;
  {
    MutexLock lock(mutex_);
    for (const auto& [context, call] : calls_) {
      call->AssertHeld();
      if (!call->Unread(now, patience_)) continue;
      unread.push_back(call->call());
      grpc_call_ref(unread.back());
    }
  }
  // Without the mutex: what ends because of this may want it.
  for (grpc_call* call : unread) {
    End(call, GRPC_STATUS_UNAVAILABLE, "the client does not read its response (grpc.keepalive_timeout)");
    grpc_call_unref(call);
  }
}

}  // namespace cuzk::daemon
