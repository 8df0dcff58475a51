#pragma once
// Sends the messages of libraries to our logger, so that they have its form and its limit of repeats.

#include <string>

#include "core/base/log.h"

namespace cuzk::daemon {

/// While an object exists, warnings and errors of gRPC and protobuf go to the logger; their debugging messages are
/// dropped. There may be one object at a time; without one, all their messages are dropped.
class LibraryLog {
 public:
  explicit LibraryLog(Logger& log);
  ~LibraryLog();
  LibraryLog(const LibraryLog&) = delete;
  LibraryLog& operator=(const LibraryLog&) = delete;
};

}  // namespace cuzk::daemon
