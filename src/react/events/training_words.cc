#include "react/events/training_words.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "data/format/checkpoint_events.h"
#include "data/format/control_record.h"
#include "data/format/json.h"
#include "data/format/request_address.h"
#include "data/format/run_event.h"
#include "read/trial/trial_access.h"

namespace trainwarden::events {
namespace {

using format::Json;

constexpr std::int64_t kListIntervalNs = 200'000'000;
constexpr std::uint64_t kMaxRequestBytes = 1 << 20;

std::string text_of(const Json& object, const char* field) {
  return format::string_field(object, field).value_or("");
}

}  // namespace

TrainingWords::TrainingWords(Trial& trial, const storage::Storage& storage, const Clock& clock)
    : trial_(trial), storage_(storage), clock_(clock) {}

void TrainingWords::poll() {
  const bool news = take_events();
  if (!saves_.empty()) living_ = TrialAccess::living_workers(trial_);
  const std::int64_t now = clock_.steady_ns();
  if (listed_ && !news && now - listed_ns_ < kListIntervalNs) return;
  listed_ = true;
  listed_ns_ = now;
  take_requests();
}

bool TrainingWords::take_events() {
  bool news = false;
  for (const trial::WorkerJournal* journal : TrialAccess::journals(trial_)) {
    std::size_t& taken = taken_[journal->name()];
    // What cannot be read now is read at the next call.
    const Status status = journal->visit_events(taken, [&](std::size_t index, const journal::EventEntry& entry) {
      taken = index + 1;
      last_unix_ns_ = std::max(last_unix_ns_, entry.unix_ns);
      if (entry.kind != format::FrameKind::kEvent) return;
      news = true;
      take_event(journal->name(), entry.json, entry.unix_ns);
    });
    if (!status.ok()) log(LogLevel::kWarning, "events of {}: {}", journal->name(), status.to_string());
  }
  return news;
}

// Events of types that are not known here are for others.
void TrainingWords::take_event(const std::string& worker, const std::string& text, std::int64_t unix_ns) {
  const auto json = format::parse_json_object(text, "event");
  if (!json.ok()) return;  // the trial counts what is damaged
  const std::string type = text_of(*json, "type");
  if (type == "run_end") {
    end_unix_ns_ = std::max(end_unix_ns_, unix_ns);
  } else if (type == "stop_accepted") {
    take_accepted(text, unix_ns);
  } else if (type == "black_box") {
    Dump& dump = dumps_[text_of(*json, "key")];
    if (dump.path.empty()) dump = {text_of(*json, "path"), text_of(*json, "error")};
  } else if (const auto event = format::decode_checkpoint_event(text); event.ok() && *event) {
    Save& save = saves_[(**event).key];
    save.begun.insert(worker);
    if ((**event).state == format::CheckpointState::kSaved) save.saved[worker] = (**event).path;
    if ((**event).state == format::CheckpointState::kRefused) save.refused[worker] = (**event).error;
  }
}

void TrainingWords::take_accepted(const std::string& text, std::int64_t unix_ns) {
  const auto json = format::parse_json_object(text, "event");
  const std::string key = json.ok() ? text_of(*json, "key") : "";
  if (key.empty()) return;
  StopFact& stop = stop_of(key);
  if (stop.accepted_unix_ns == 0) stop.accepted_unix_ns = unix_ns;
  if (stop.request.unix_ns != 0) return;
  stop.request = {key, text_of(*json, "reason"), text_of(*json, "requested_by"), unix_ns};  // its file may be gone
}

void TrainingWords::take_requests() {
  const auto files = storage_.list(format::kControlFolder);
  if (!files.ok()) return;  // there is no such folder until somebody asks for something
  for (const std::string& file : *files) {
    if (!format::is_stop_request_file(file) || seen_files_.contains(file)) continue;
    const std::string path = fmt::format("{}/{}", format::kControlFolder, file);
    const auto text = storage_.read(path, kMaxRequestBytes);
    if (!text.ok() && text.status().code() == Code::kUnavailable) continue;  // at the next listing
    seen_files_.insert(file);
    const Status address = text.ok() ? format::check_address(*text, TrialAccess::identity(trial_)) : text.status();
    auto request = address.ok() ? format::decode_stop_request(*text) : address;
    if (!request.ok()) {
      log(LogLevel::kWarning, "{} asks nothing of this run: {}", printable(path),
          printable(request.status().to_string()));
      continue;
    }
    stop_of(request->key).request = *std::move(request);
  }
}

StopFact& TrainingWords::stop_of(const std::string& key) {
  const auto known =
      std::find_if(stops_.begin(), stops_.end(), [&](const StopFact& stop) { return stop.request.key == key; });
  if (known != stops_.end()) return *known;
  stops_.emplace_back();
  stops_.back().request.key = key;
  return stops_.back();
}

actions::RunAnswer TrainingWords::answer_to_save(std::string_view key) const {
  actions::RunAnswer answer;
  const auto found = saves_.find(key);
  if (found == saves_.end()) return answer;
  const Save& save = found->second;
  answer.accepted = true;
  // Each worker answers for itself, and one that is gone answers no more.
  const bool all_have_answered = std::all_of(living_.begin(), living_.end(), [&](const std::string& worker) {
    return save.saved.contains(worker) || save.refused.contains(worker);
  });
  if (!all_have_answered) return answer;
  if (!save.saved.empty()) {
    answer.done = true;
    answer.detail = save.saved.begin()->second;
  } else if (!save.refused.empty()) {
    answer.refused = save.refused.begin()->second;
  }
  return answer;
}

actions::RunAnswer TrainingWords::answer_to_dump(std::string_view key) const {
  actions::RunAnswer answer;
  const auto found = dumps_.find(key);
  if (found == dumps_.end()) return answer;
  answer.accepted = true;
  answer.done = !found->second.path.empty();
  answer.detail = found->second.path;
  if (!answer.done) answer.refused = found->second.error;
  return answer;
}

}  // namespace trainwarden::events
