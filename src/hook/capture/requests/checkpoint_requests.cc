#include "hook/capture/requests/checkpoint_requests.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "hook/capture/requests/checkpoint_file.h"
#include "store/storage/location.h"

namespace trainwarden::capture {
namespace {

using format::CheckpointEvent;
using format::CheckpointState;

constexpr const char* kNotOffered =
    "this program does not save on request: in Python give Hook.on_checkpoint() a function, or let trainwarden.torch "
    "watch model and optimizer; in C++ call Hook::offer_checkpoints() before the first step ends";
constexpr const char* kSwitchedOff = "checkpoint_on_request is off in this training's configuration";
constexpr const char* kOver = "the training ended before it had saved anything";
constexpr const char* kDiedOfIt = "the training died twice while it saved for this request; it is not tried again";

CheckpointEvent event_of(const format::CheckpointRequestRecord& request, CheckpointState state,
                         std::int64_t last_step) {
  CheckpointEvent event;
  event.state = state;
  event.key = request.key;
  event.reason = request.reason;
  event.requested_by = request.requested_by;
  event.global_step = last_step;
  return event;
}

CheckpointEvent refusal(const format::CheckpointRequestRecord& request, std::string why, std::int64_t last_step) {
  CheckpointEvent event = event_of(request, CheckpointState::kRefused, last_step);
  event.error = std::move(why);
  return event;
}

// Where checkpoints can be written; empty when the run lies in no folder of this machine.
std::filesystem::path folder_of(const HookOptions& options) {
  if (options.run_dir.empty()) return {};
  return storage::Location(options.run_dir).absolute().folder().value_or(std::filesystem::path());
}

bool was_made_earlier(const format::CheckpointRequestRecord& a, const format::CheckpointRequestRecord& b) {
  return a.unix_ns < b.unix_ns;
}

}  // namespace

EarlierCheckpoints earlier_checkpoints(std::span<const journal::EventEntry> events) {
  EarlierCheckpoints earlier;
  for (const journal::EventEntry& entry : events) {
    if (entry.kind != format::FrameKind::kEvent) continue;
    const auto event = format::decode_checkpoint_event(entry.json);
    if (!event.ok() || !event->has_value()) continue;
    if ((*event)->state == CheckpointState::kAccepted) {
      ++earlier.begun[(*event)->key];
    } else {
      earlier.answered.insert((*event)->key);
    }
  }
  return earlier;
}

CheckpointRequests::CheckpointRequests(std::shared_ptr<const storage::Storage> storage, const HookOptions& options,
                                       EarlierCheckpoints earlier, const Clock& clock, std::string run_id)
    : folder_(std::move(storage), std::move(run_id), format::is_checkpoint_request_file),
      run_dir_(folder_of(options)),
      allowed_(options.checkpoint_on_request),
      earlier_(std::move(earlier)),
      clock_(clock) {}

CheckpointRequests::Events CheckpointRequests::look(bool begun, std::int64_t last_step) {
  Events refused;
  std::vector<format::CheckpointRequestRecord> fresh;
  const auto decode = [](std::string_view text, std::string_view) { return format::decode_checkpoint_request(text); };
  for (auto& request : folder_.read_new<format::CheckpointRequestRecord>(decode)) {
    if (!earlier_.answered.insert(request.key).second) continue;
    const auto died = earlier_.begun.find(request.key);
    if (!allowed_) {
      refused.push_back(refusal(request, kSwitchedOff, last_step));
    } else if (died != earlier_.begun.end() && died->second >= kMaxBegun) {
      refused.push_back(refusal(request, kDiedOfIt, last_step));
    } else {
      fresh.push_back(std::move(request));
    }
  }
  std::lock_guard lock(mutex_);
  std::move(fresh.begin(), fresh.end(), std::back_inserter(waiting_));
  std::stable_sort(waiting_.begin(), waiting_.end(), was_made_earlier);
  if (begun && !offered_) refuse_waiting(kNotOffered, last_step, refused);
  any_.store(offered_ && !waiting_.empty(), std::memory_order_release);
  return refused;
}

void CheckpointRequests::refuse_waiting(const char* why, std::int64_t last_step, Events& events) {
  for (const auto& request : waiting_) events.push_back(refusal(request, why, last_step));
  waiting_.clear();
}

CheckpointRequests::Events CheckpointRequests::refuse_rest(std::int64_t last_step) {
  Events refused;
  std::lock_guard lock(mutex_);
  refuse_waiting(offered_ ? kOver : kNotOffered, last_step, refused);
  for (const auto& [key, taken] : taken_) {
    for (const auto& request : taken.requests) refused.push_back(refusal(request, kOver, last_step));
  }
  taken_.clear();
  any_.store(false, std::memory_order_release);
  return refused;
}

void CheckpointRequests::offer() {
  std::lock_guard lock(mutex_);
  offered_ = true;
  any_.store(!waiting_.empty(), std::memory_order_release);
}

std::optional<CheckpointRequest> CheckpointRequests::take(std::int64_t last_step, Events& events) {
  if (!any()) return std::nullopt;
  std::lock_guard lock(mutex_);
  any_.store(false, std::memory_order_release);
  if (waiting_.empty()) return std::nullopt;
  for (const auto& request : waiting_) events.push_back(event_of(request, CheckpointState::kAccepted, last_step));
  const format::CheckpointRequestRecord first = waiting_.front();
  taken_[first.key] = {std::exchange(waiting_, {}), last_step, clock_.steady_ns()};
  return CheckpointRequest{first.key, first.reason, first.rule, first.global_step, first.requested_by};
}

CheckpointRequests::Events CheckpointRequests::answer(const std::string& key,
                                                      const Result<std::filesystem::path>& saved) {
  std::lock_guard lock(mutex_);
  const auto taken = taken_.find(key);
  if (taken == taken_.end()) return {};
  const Taken done = std::move(taken->second);
  taken_.erase(taken);
  const std::int64_t duration_ns = clock_.steady_ns() - done.begin_ns;
  const auto found = saved.ok() ? look_at_checkpoint(*saved, run_dir_) : Result<CheckpointPlace>(saved.status());
  Events events;
  for (const auto& request : done.requests) {
    if (!found.ok()) {
      events.push_back(refusal(request, found.status().to_string(), done.last_step));
      continue;
    }
    CheckpointEvent event = event_of(request, CheckpointState::kSaved, done.last_step);
    event.path = found->path;
    event.bytes = found->bytes;
    event.duration_ns = duration_ns;
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace trainwarden::capture
