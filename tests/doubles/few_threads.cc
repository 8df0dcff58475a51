// Loaded before the C library: a process that may have no more than FAULTY_THREADS threads besides its first one; or,
// from the moment at which the file exists that FAULTY_THREADS_NONE names, none more than it has.

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace {

struct Start {
  void* (*routine)(void*);
  void* argument;
};

std::atomic<long> alive = 0;

long Most() {
  static const long most =
      std::getenv("FAULTY_THREADS") != nullptr ? std::atol(std::getenv("FAULTY_THREADS")) : 1 << 20;
  return most;
}

void* Run(void* given) {
  const Start start = *static_cast<Start*>(given);
  delete static_cast<Start*>(given);
  void* result = start.routine(start.argument);
  alive.fetch_sub(1);
  return result;
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                              void* argument) noexcept {
  static const char* const none = std::getenv("FAULTY_THREADS_NONE");
  if (none != nullptr && access(none, F_OK) == 0) return EAGAIN;
  static auto* const real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (alive.fetch_add(1) >= Most()) {
    alive.fetch_sub(1);
    return EAGAIN;
  }
  auto* start = new Start{routine, argument};
  const int failed = real(thread, attributes, &Run, start);
  if (failed != 0) {
    delete start;
    alive.fetch_sub(1);
  }
  return failed;
}
