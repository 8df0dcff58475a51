#pragma once
// Streams and events: owners that are moved, views that are copied. Streams are parameters, never ambient.

#include <utility>

#include "gpu/runtime/status.h"

namespace cuzk::gpu {

/// A stream that somebody else owns.
class StreamView {
 public:
  explicit StreamView(cudaStream_t stream) : stream_(stream) {}
  StreamView(int) = delete;
  StreamView(std::nullptr_t) = delete;
  cudaStream_t get() const { return stream_; }
  /// Blocks until everything enqueued so far is done.
  Status Synchronize() const { return CUZK_CUDA_STATUS(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_;
};

/// Owns a stream of the card that was current when it was made.
class Stream {
 public:
  static StatusOr<Stream> Create() {
    cudaStream_t stream = nullptr;
    CUZK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return Stream(stream);
  }
  /// One whose kernels go before those of other streams wherever both have blocks waiting.
  static StatusOr<Stream> CreateUrgent() {
    int least = 0, greatest = 0;
    CUZK_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cudaStream_t stream = nullptr;
    CUZK_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    return Stream(stream);
  }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~Stream() {
    if (stream_ != nullptr) Ignore(cudaStreamDestroy(stream_));
  }
  StreamView view() const { return StreamView(stream_); }
  // Implicit, as a string is where a view of it is asked for. NOLINTNEXTLINE(google-explicit-constructor)
  operator StreamView() const { return view(); }
  cudaStream_t get() const { return stream_; }

 private:
  explicit Stream(cudaStream_t stream) : stream_(stream) {}
  cudaStream_t stream_;
};

/// Owns an event that carries a time.
class Event {
 public:
  static StatusOr<Event> Create() {
    cudaEvent_t event = nullptr;
    CUZK_CUDA(cudaEventCreateWithFlags(&event, cudaEventBlockingSync));
    return Event(event);
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event() {
    if (event_ != nullptr) Ignore(cudaEventDestroy(event_));
  }
  cudaEvent_t get() const { return event_; }
  /// Enqueues; does not block.
  Status Record(StreamView stream) { return CUZK_CUDA_STATUS(cudaEventRecord(event_, stream.get())); }
  /// Later work of `stream` waits for the event; does not block.
  Status Wait(StreamView stream) const { return CUZK_CUDA_STATUS(cudaStreamWaitEvent(stream.get(), event_, 0)); }
  Status Synchronize() const { return CUZK_CUDA_STATUS(cudaEventSynchronize(event_)); }
  /// Milliseconds from `begin` to this; both have happened.
  StatusOr<float> MillisecondsSince(const Event& begin) const {
    float ms = 0;
    CUZK_CUDA(cudaEventElapsedTime(&ms, begin.event_, event_));
    return ms;
  }

 private:
  explicit Event(cudaEvent_t event) : event_(event) {}
  cudaEvent_t event_;
};

/// A second stream of the same priority, which begins where `main` is. What is enqueued in `main` after Join, or after
/// the branch is gone, waits for it. Move-only.
class Branch {
 public:
  static StatusOr<Branch> Create(StreamView main) {
    int priority = 0;
    cudaStream_t stream = nullptr;
    CUZK_CUDA(cudaStreamGetPriority(main.get(), &priority));
    CUZK_ASSIGN_OR_RETURN(Event event, Event::Create());
    CUZK_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
    Branch branch(main, stream, std::move(event));
    CUZK_RETURN_IF_ERROR(branch.event_.Record(main));
    CUZK_RETURN_IF_ERROR(branch.event_.Wait(branch.view()));
    return branch;
  }
  Branch(Branch&& other) noexcept
      : main_(other.main_), stream_(std::exchange(other.stream_, nullptr)), event_(std::move(other.event_)) {}
  Branch& operator=(Branch&&) = delete;
  ~Branch() {
    static_cast<void>(Join());
    // The stream's work goes on; the runtime frees it afterwards.
    if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
  }
  StreamView view() const { return StreamView(stream_); }
  Status Join() {
    if (stream_ == nullptr) return absl::OkStatus();
    CUZK_RETURN_IF_ERROR(event_.Record(view()));
    return event_.Wait(main_);
  }

 private:
  Branch(StreamView main, cudaStream_t stream, Event event) : main_(main), stream_(stream), event_(std::move(event)) {}
  StreamView main_;
  cudaStream_t stream_;
  Event event_;
};

}  // namespace cuzk::gpu
