#include "hook/capture/requests/profile_requests.h"

#include <utility>

namespace trainwarden::capture {

ProfileRequests::ProfileRequests(std::shared_ptr<const storage::Storage> storage, std::set<std::string> answered_keys,
                                 std::string run_id)
    : folder_(std::move(storage), std::move(run_id), format::is_profile_request_file),
      answered_keys_(std::move(answered_keys)) {}

void ProfileRequests::look() {
  const auto decode = [](std::string_view text, std::string_view) { return format::decode_profile_request(text); };
  for (const format::ProfileRequest& request : folder_.read_new<format::ProfileRequest>(decode)) {
    if (!answered_keys_.insert(request.key).second) continue;
    std::lock_guard lock(mutex_);
    accepted_.push_back({.state = format::ProfileState::kAccepted,
                         .key = request.key,
                         .first_step = request.first_step,
                         .steps = request.steps});
    any_accepted_.store(true, std::memory_order_release);
  }
}

std::vector<format::ProfileEvent> ProfileRequests::take_accepted() {
  std::lock_guard lock(mutex_);
  any_accepted_.store(false, std::memory_order_relaxed);
  return std::exchange(accepted_, {});
}

std::set<std::string> answered_profile_keys(std::span<const journal::EventEntry> events) {
  std::set<std::string> keys;
  for (const journal::EventEntry& entry : events) {
    if (entry.kind != format::FrameKind::kEvent) continue;
    const auto event = format::decode_profile_event(entry.json);
    if (event.ok() && event->has_value()) keys.insert((*event)->key);
  }
  return keys;
}

}  // namespace trainwarden::capture
