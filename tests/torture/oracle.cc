#include "oracle.h"

#include <algorithm>

namespace trainwarden::torture {

void Oracle::synced(const std::string& file) {
  for (std::size_t number = life_begin_; number < items_.size(); ++number) {
    Item& item = items_[number];
    if (item.state == State::kAcknowledged && (file.empty() || item.file == file)) item.state = State::kSynced;
  }
}

void Oracle::sync_failed() {
  for (std::size_t number = life_begin_; number < items_.size(); ++number) {
    if (items_[number].state == State::kAcknowledged) items_[number].state = State::kUnsafe;
  }
}

void Oracle::lose_power() {
  for (Item& item : items_) {
    if (item.state == State::kAcknowledged || item.state == State::kUnsafe) item.state = State::kEndangered;
  }
}

void Oracle::settle(std::span<const std::int64_t> seen) {
  for (std::size_t number = 0; number < items_.size(); ++number) {
    State& state = items_[number].state;
    const bool is_there = std::find(seen.begin(), seen.end(), static_cast<std::int64_t>(number)) != seen.end();
    if (!is_there && (state == State::kTried || state == State::kEndangered)) state = State::kGone;
    if (is_there && state == State::kEndangered) state = State::kSynced;
    if (is_there && state == State::kTried) state = State::kAcknowledged;
  }
}

std::uint64_t Oracle::acknowledged() const {
  return static_cast<std::uint64_t>(std::count_if(items_.begin(), items_.end(), [](const Item& item) {
    return item.state == State::kAcknowledged || item.state == State::kUnsafe || item.state == State::kSynced;
  }));
}

void Oracle::check(std::span<const std::int64_t> seen, bool whole, bool reports_damage, std::string_view reader,
                   CaseLog& log) const {
  check_order(seen, reader, log);
  const std::int64_t last = seen.empty() ? -1 : seen.back();
  for (std::size_t number = 0; number < items_.size(); ++number) {
    const State state = items_[number].state;
    const bool is_there = std::binary_search(seen.begin(), seen.end(), static_cast<std::int64_t>(number));
    const bool is_within = static_cast<std::int64_t>(number) < last || whole;
    if (is_there && state == State::kGone) {
      log.violate(fmt::format("{} has found {} {}, which was not there before", reader, of_, number));
    }
    const bool must_be_there = state == State::kAcknowledged || state == State::kUnsafe || state == State::kSynced;
    if (!is_there && must_be_there && is_within) {
      log.violate(fmt::format("{} has not found {} {}, which was {}", reader, of_, number,
                              state == State::kSynced ? "synced" : "acknowledged"));
    }
    if (!is_there && state == State::kEndangered && is_within && !hole_is_told(number, seen, reports_damage)) {
      log.violate(fmt::format("{} says nothing of {} {}, which is missing before what is there", reader, of_, number));
    }
  }
}

// In the midst of a file, what is missing must be told. At its end, nothing shows that there was more. Of what a
// process was killed over, the file is not known.
bool Oracle::hole_is_told(std::size_t missing, std::span<const std::int64_t> seen, bool reports_damage) const {
  if (reports_damage || items_[missing].file.empty()) return true;
  return std::none_of(seen.begin(), seen.end(), [&](std::int64_t number) {
    const auto found = static_cast<std::size_t>(number);
    return found > missing && found < items_.size() && items_[found].file == items_[missing].file;
  });
}

void Oracle::check_order(std::span<const std::int64_t> seen, std::string_view reader, CaseLog& log) const {
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] < 0 || seen[i] >= static_cast<std::int64_t>(items_.size())) {
      log.violate(fmt::format("{} has found {} {}, which nobody wrote", reader, of_, seen[i]));
    } else if (i > 0 && seen[i] <= seen[i - 1]) {
      log.violate(fmt::format("{} has found {} {} after {}", reader, of_, seen[i], seen[i - 1]));
    }
  }
}

}  // namespace trainwarden::torture
