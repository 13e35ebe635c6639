#include "trainwarden/operator_recorder.h"

#include "hook/capture/operators/operator_logs.h"

namespace trainwarden {

bool OperatorRecorder::is_recording() const noexcept {
  return logs_.is_recording();
}

void OperatorRecorder::begin(const void* key, const char* name, OperatorKind kind, std::int64_t sequence) noexcept {
  logs_.begin(key, name, kind, sequence);
}

void OperatorRecorder::end(const void* key) noexcept {
  logs_.end(key);
}

void OperatorRecorder::add(std::string_view track, std::string_view name, OperatorKind kind,
                           std::chrono::steady_clock::time_point begin,
                           std::chrono::steady_clock::time_point end) noexcept {
  const auto ns = [](auto time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  };
  logs_.add(track, name, kind, ns(begin), ns(end));
}

std::uint32_t OperatorRecorder::frame_number(std::string_view name) noexcept {
  return logs_.stacks().number_of(name);
}

void OperatorRecorder::add_stacks(std::span<const ThreadStack> stacks, std::int64_t cost_ns) noexcept {
  logs_.add_stacks(stacks, cost_ns);
}

void OperatorRecorder::note_memory(std::int32_t device, std::int64_t total_bytes) noexcept {
  logs_.note_memory(device, total_bytes);
}

}  // namespace trainwarden
