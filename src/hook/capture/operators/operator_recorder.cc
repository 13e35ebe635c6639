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

}  // namespace trainwarden
