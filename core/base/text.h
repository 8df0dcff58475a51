#pragma once
// The distribution's Abseil is built with its own string_view; this is the bridge from std::string_view.

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace cuzk {

template <class T>
decltype(auto) AsAbslText(const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return absl::string_view(value.data(), value.size());
  } else {
    return (value);
  }
}

/// absl::StrCat that takes std::string_view as well. In this project's code always this one.
template <class... Args>
std::string StrCat(const Args&... args) {
  return absl::StrCat(AsAbslText(args)...);
}

}  // namespace cuzk
