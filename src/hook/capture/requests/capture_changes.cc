#include "hook/capture/requests/capture_changes.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace trainwarden::capture {
namespace {

Result<format::CaptureRequest> request_in(std::string_view text, std::string_view path) {
  TRAINWARDEN_ASSIGN_OR_RETURN(format::CaptureRequest request, format::decode_capture_request(text));
  if (format::capture_request_path(request.key) == path) return request;
  return Status(Code::kDataLoss, "its key is another than its name says");
}

}  // namespace

CaptureChanges::CaptureChanges(std::shared_ptr<const storage::Storage> storage, const HookOptions& opened,
                               std::set<std::string> answered_keys, std::string run_id)
    : folder_(std::move(storage), std::move(run_id), format::is_capture_request_file),
      config_source_(opened.config_source),
      answered_keys_(std::move(answered_keys)),
      opened_(opened),
      origin_(opened),
      now_{opened, true},
      config_(opened.config_source) {}

std::vector<format::CaptureAnswer> CaptureChanges::look(bool config) {
  std::vector<format::CaptureAnswer> refused;
  if (config) look_at_config(refused);
  look_at_requests(refused);
  return refused;
}

void CaptureChanges::look_at_requests(std::vector<format::CaptureAnswer>& refused) {
  for (const format::CaptureRequest& request : new_requests()) {
    format::CaptureAnswer answer{.key = request.key, .source = format::capture_request_path(request.key)};
    decide(change_capture(now_, origin_, request), std::move(answer), refused);
  }
}

// In the order in which they were made.
std::vector<format::CaptureRequest> CaptureChanges::new_requests() {
  auto requests = folder_.read_new<format::CaptureRequest>(request_in);
  std::sort(requests.begin(), requests.end(), [](const format::CaptureRequest& a, const format::CaptureRequest& b) {
    return std::tie(a.unix_ns, a.key) < std::tie(b.unix_ns, b.key);
  });
  return requests;
}

void CaptureChanges::look_at_config(std::vector<format::CaptureAnswer>& refused) {
  const auto text = config_.look();
  if (!text) return;
  format::CaptureAnswer answer{.key = "", .source = config_source_->file.string()};
  if (decide(state_with(*text), std::move(answer), refused)) origin_ = now_.options;
}

// What the program itself has changed since it read the configuration stays.
Result<CaptureState> CaptureChanges::state_with(const std::string& config_text) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const HookOptions before, config_source_->options_with(config_source_->text));
  TRAINWARDEN_ASSIGN_OR_RETURN(const HookOptions after, config_source_->options_with(config_text));
  TRAINWARDEN_RETURN_IF_ERROR(check_unchangeable(before, after));
  CaptureState state{opened_, true};
  take_changes(before, after, state.options);
  return state;
}

// True when it is accepted.
bool CaptureChanges::decide(Result<CaptureState> wanted, format::CaptureAnswer answer,
                            std::vector<format::CaptureAnswer>& refused) {
  const bool answered = answered_keys_.contains(answer.key);
  auto plan =
      wanted.ok() ? CapturePlan::resolve(wanted->options) : Result<std::unique_ptr<CapturePlan>>(wanted.status());
  if (!plan.ok()) {
    answer.error = plan.status().message();
    if (!answered) refused.push_back(std::move(answer));
    return false;
  }
  now_ = *std::move(wanted);
  answer.accepted = true;
  std::lock_guard lock(mutex_);
  accepted_.push_back({std::move(answer), answered, now_, *std::move(plan)});
  any_accepted_.store(true, std::memory_order_release);
  return true;
}

std::vector<AcceptedChange> CaptureChanges::take_accepted() {
  std::lock_guard lock(mutex_);
  any_accepted_.store(false, std::memory_order_relaxed);
  return std::exchange(accepted_, {});
}

std::set<std::string> answered_capture_keys(std::span<const journal::EventEntry> events) {
  std::set<std::string> keys;
  for (const journal::EventEntry& event : events) {
    if (event.kind != format::FrameKind::kEvent) continue;
    const auto answer = format::decode_capture_answer(event.json);
    if (answer.ok() && *answer && !(*answer)->key.empty()) keys.insert((*answer)->key);
  }
  return keys;
}

}  // namespace trainwarden::capture
