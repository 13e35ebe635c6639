#include "watcher.h"

#include "core/base/text.h"
#include "store/journal/sample_run.h"

namespace trainwarden::torture {
namespace {

constexpr std::string_view kEventHead = R"({"type":"torture","number":)";

}  // namespace

std::string event_text(std::int64_t number) {
  return fmt::format("{}{}}}", kEventHead, number);
}

std::int64_t event_number(std::string_view text) {
  if (!text.starts_with(kEventHead) || !text.ends_with('}')) return -1;
  return parse_int(text.substr(kEventHead.size(), text.size() - kEventHead.size() - 1)).value_or(-1);
}

Status Watcher::look() {
  if (reader_ == nullptr) {
    const journal::JournalReaderOptions options{.live = live_, .verify_payloads = true, .budget = nullptr};
    TRAINWARDEN_ASSIGN_OR_RETURN(
        reader_, journal::JournalReader::open(storage_, journal::sample_run_info(), kWriterName, options));
  } else {
    TRAINWARDEN_RETURN_IF_ERROR(reader_->refresh());
  }
  return take_in();
}

Status Watcher::take_in() {
  const auto steps = reader_->steps();
  for (; compared_ < steps.size(); ++compared_) {
    const std::int64_t number = steps[compared_].global_step;
    const auto expected = journal::small_step(number, false);
    const auto records = reader_->records(compared_);
    if (!records.ok()) return records.status();
    const std::string what = journal::difference(*reader_, compared_, expected->batch());
    // A passing error of the storage is not what the journal holds: the next look compares again.
    if (what.starts_with("unavailable:") || what.find("a fault that was put in") != std::string::npos)
      return Status(Code::kUnavailable, what);
    const bool is_told = !what.empty() && !reader_->losses().empty() &&
                         (what.starts_with("missing") || what.find("records in place of") != std::string::npos);
    if (!what.empty() && !is_told) log_.violate(fmt::format("{}: step {} has changed: {}", name_, number, what));
    if (is_told) {
      log_.note("{}: step {} is damaged: {}", name_, number, what);
    } else {
      steps_.push_back(number);
    }
  }
  TRAINWARDEN_RETURN_IF_ERROR(
      reader_->visit_events(events_read_, [&](std::size_t index, const journal::EventEntry& event) {
        events_read_ = index + 1;
        events_.push_back(event_number(event.json));
      }));
  events_read_ = reader_->event_count();  // what is damaged was passed over
  return {};
}

std::vector<RunLoss> Watcher::losses() const {
  if (reader_ == nullptr) return {};
  return {reader_->losses().begin(), reader_->losses().end()};
}

void Watcher::check(const Oracle& steps, const Oracle& events, bool whole) const {
  const bool reports_damage = reader_ != nullptr && !reader_->losses().empty();
  steps.check(steps_, whole, reports_damage, name_, log_);
  events.check(events_, whole, reports_damage, name_, log_);
}

}  // namespace trainwarden::torture
