#pragma once
// What libraries write, through our logger: one form, one limit of repeats.

#include <string>

#include "core/base/log.h"

namespace cuzk::daemon {

/// As long as it lives, warnings and errors of gRPC and protobuf go to the logger, and what they say for their own
/// debugging nowhere. One at a time; what they say outside its life is dropped.
class LibraryLog {
 public:
  explicit LibraryLog(Logger& log);
  ~LibraryLog();
  LibraryLog(const LibraryLog&) = delete;
  LibraryLog& operator=(const LibraryLog&) = delete;
};

}  // namespace cuzk::daemon
