#include "daemon/app/library_log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <cstdlib>
#include <mutex>

#include "core/base/text.h"

namespace cuzk::daemon {
namespace {

// The libraries give their handlers no context, so these are at namespace scope, as nothing else that changes is.
std::mutex mutex;
Logger* current = nullptr;      // guarded by mutex
bool listener_lost = false;     // guarded by mutex
std::function<void()> on_lost;  // guarded by mutex

void Write(LogLevel level, std::string_view message, std::string text) {
  std::lock_guard lock(mutex);
  if (current) current->Write(level, message, {{"err", std::move(text)}});
}

void FromGrpcLibrary(gpr_log_func_args* args) {
  if (args->severity != GPR_LOG_SEVERITY_ERROR) return;
  Write(LogLevel::kWarning, "gRPC", args->message);
  // The library never tries that listener again.
  if (!std::string_view(args->message).starts_with("Failed accept4")) return;
  std::lock_guard lock(mutex);
  if (listener_lost || current == nullptr) return;
  listener_lost = true;
  if (on_lost) on_lost();
}

void FromProtobuf(google::protobuf::LogLevel level, const char*, int, const std::string& message) {
  if (level == google::protobuf::LOGLEVEL_INFO) return;
  Write(LogLevel::kWarning, "protobuf", message);
}

}  // namespace

LibraryLog::LibraryLog(Logger& log) {
  {
    std::lock_guard lock(mutex);
    current = &log;
    listener_lost = false;
  }
  gpr_set_log_function(FromGrpcLibrary);
  google::protobuf::SetLogHandler(FromProtobuf);
}

LibraryLog::~LibraryLog() {
  std::lock_guard lock(mutex);
  current = nullptr;
  on_lost = nullptr;
}

void LibraryLog::OnListenerLost(std::function<void()> call) {
  std::lock_guard lock(mutex);
  on_lost = std::move(call);
  if (listener_lost) on_lost();
}

}  // namespace cuzk::daemon
