#pragma once
// Functions of libraries that are found at run time.

#include <dlfcn.h>

#include <cstring>

namespace cuzk::daemon {

/// Points `function` to what the library (of dlopen) has under that name; false, and null, if it has nothing.
template <class Function>
bool FindFunction(void* library, const char* name, Function& function) {
  void* symbol = dlsym(library, name);
  static_assert(sizeof symbol == sizeof function);
  std::memcpy(&function, &symbol, sizeof symbol);
  return symbol != nullptr;
}

}  // namespace cuzk::daemon
