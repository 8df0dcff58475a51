#pragma once
// Settings of an engine in tests that are not about them.

#include "core/engine/jobs/options.h"

namespace cuzk::testing_support {

/// The options with a value for each setting that is 0 and may not be.
inline engine::EngineOptions Filled(engine::EngineOptions options) {
  auto fill = [](auto& value, auto otherwise) {
    if (value == decltype(otherwise){}) value = otherwise;
  };
  fill(options.max_unfinished_jobs, uint32_t{256});
  fill(options.max_request_bytes, uint64_t{256} << 20);
  fill(options.max_results, uint32_t{1000});
  fill(options.result_age, std::chrono::seconds(3600));
  fill(options.synthesis_threads, 1u);
  fill(options.workers_per_device, 2u);
  fill(options.history.age, std::chrono::milliseconds(std::chrono::hours(24)));
  fill(options.history.most, 1000u);
  fill(options.max_stored_bytes, uint64_t{8} << 30);
  return options;
}

/// The same limits, for Engine::SetLimits.
inline constexpr engine::EngineLimits kLimits{.max_unfinished_jobs = 256,
                                              .max_results = 1000,
                                              .result_age = std::chrono::seconds(3600),
                                              .history = {.age = std::chrono::hours(24), .most = 1000}};

}  // namespace cuzk::testing_support
