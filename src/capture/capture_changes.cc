#include "capture/capture_changes.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"

namespace trainwarden::capture {
namespace {

constexpr std::uint64_t kMaxRequestBytes = 1 << 20;

std::string path_of(const std::string& file) {
  return fmt::format("{}/{}", format::kControlFolder, file);
}

}  // namespace

CaptureChanges::CaptureChanges(std::shared_ptr<const storage::Storage> storage, const HookOptions& opened,
                               std::set<std::string> answered_keys)
    : storage_(std::move(storage)),
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

// In the order in which they were made. A file that is none is logged once and passed over.
std::vector<format::CaptureRequest> CaptureChanges::new_requests() {
  std::vector<format::CaptureRequest> requests;
  if (storage_ == nullptr) return requests;
  const auto files = storage_->list(format::kControlFolder);
  if (!files.ok()) return requests;  // there is no such folder until somebody asks for something
  for (const std::string& file : *files) {
    if (!format::is_capture_request_file(file) || seen_files_.contains(file)) continue;
    const auto text = storage_->read(path_of(file), kMaxRequestBytes);
    if (!text.ok() && text.status().code() == Code::kUnavailable) continue;  // asked again at the next look
    seen_files_.insert(file);
    auto request = text.ok() ? format::decode_capture_request(*text) : Result<format::CaptureRequest>(text.status());
    if (request.ok() && format::capture_request_path(request->key) == path_of(file)) {
      requests.push_back(*std::move(request));
    } else {
      log(LogLevel::kWarning, "{} asks for nothing that can be understood: {}", path_of(file),
          request.ok() ? "its key is another than its name says" : request.status().to_string());
    }
  }
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

std::set<std::string> answered_capture_keys(std::span<const store::EventEntry> events) {
  std::set<std::string> keys;
  for (const store::EventEntry& event : events) {
    if (event.kind != format::FrameKind::kEvent) continue;
    const auto answer = format::decode_capture_answer(event.json);
    if (answer.ok() && *answer && !(*answer)->key.empty()) keys.insert((*answer)->key);
  }
  return keys;
}

}  // namespace trainwarden::capture
