#include "hook/capture/requests/examine_requests.h"

#include <algorithm>
#include <utility>

#include "data/format/control_record.h"

namespace trainwarden::capture {

ExamineRequests::ExamineRequests(std::shared_ptr<const storage::Storage> storage, std::string run_id)
    : folder_(std::move(storage), std::move(run_id), format::is_examine_request_file) {}

void ExamineRequests::look() {
  const auto decode = [](std::string_view text, std::string_view) { return format::decode_examine_request(text); };
  std::int64_t steps = 0;
  for (const format::ExamineRequest& request : folder_.read_new<format::ExamineRequest>(decode)) {
    steps = std::max(steps, request.steps);
  }
  std::int64_t before = steps_.load(std::memory_order_relaxed);
  while (before < steps && !steps_.compare_exchange_weak(before, steps, std::memory_order_relaxed)) {
  }
}

std::int64_t ExamineRequests::take() {
  return steps_.load(std::memory_order_relaxed) == 0 ? 0 : steps_.exchange(0, std::memory_order_relaxed);
}

}  // namespace trainwarden::capture
