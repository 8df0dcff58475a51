#include "daemon/app/process/library_log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <cstdlib>

#include "core/base/mutex.h"
#include "core/base/text.h"

namespace cuzk::daemon {
namespace {

// The libraries give their handlers no context, so these are at namespace scope, as nothing else that changes is.
Mutex mutex;
Logger* current ABSL_GUARDED_BY(mutex) = nullptr;

void Write(LogLevel level, std::string_view message, std::string text) {
  MutexLock lock(mutex);
  if (current) current->Write(level, message, {{"err", std::move(text)}});
}

void FromGrpcLibrary(gpr_log_func_args* args) {
  if (args->severity != GPR_LOG_SEVERITY_ERROR) return;
  Write(LogLevel::kWarning, "gRPC", args->message);
}

void FromProtobuf(google::protobuf::LogLevel level, const char*, int, const std::string& message) {
  if (level == google::protobuf::LOGLEVEL_INFO) return;
  Write(LogLevel::kWarning, "protobuf", message);
}

}  // namespace

LibraryLog::LibraryLog(Logger& log) {
  {
    MutexLock lock(mutex);
    current = &log;
  }
  gpr_set_log_function(FromGrpcLibrary);
  google::protobuf::SetLogHandler(FromProtobuf);
}

LibraryLog::~LibraryLog() {
  MutexLock lock(mutex);
  current = nullptr;
}

}  // namespace cuzk::daemon
