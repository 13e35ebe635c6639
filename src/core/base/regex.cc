#include "core/base/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <atomic>

#include "core/base/log.h"
#include "core/base/text.h"

namespace trainwarden {
namespace {

// A search that goes on for longer than this many steps is pathological: names are short.
constexpr std::uint32_t kMatchLimit = 1'000'000;
constexpr std::uint32_t kHeapLimitKib = 16 * 1024;

// Text in Unicode, as in Python's re; names that are not UTF-8 are still searched, in their valid parts.
constexpr std::uint32_t kCompileOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;

struct Free {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

using MatchData = std::unique_ptr<pcre2_match_data, Free>;

// Working memory of a search. One for each thread; the match and its first group are all that is asked for.
pcre2_match_data* thread_match_data() {
  thread_local const MatchData data(pcre2_match_data_create(2, nullptr));
  return data.get();
}

// The same for searches that ask for all groups: as many as the widest pattern of this thread has had so far.
pcre2_match_data* thread_match_data_for(std::uint32_t groups) {
  thread_local MatchData data;
  thread_local std::uint32_t pairs = 0;
  if (data == nullptr || pairs < groups + 1) {
    pairs = groups + 1;
    data.reset(pcre2_match_data_create(pairs, nullptr));
  }
  return data.get();
}

pcre2_match_context* match_context() {
  static pcre2_match_context* const context = [] {
    pcre2_match_context* created = pcre2_match_context_create(nullptr);
    if (created != nullptr) {
      pcre2_set_match_limit(created, kMatchLimit);
      pcre2_set_heap_limit(created, kHeapLimitKib);
    }
    return created;
  }();
  return context;
}

std::string error_message(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR as_units(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.empty() ? "" : text.data());
}

}  // namespace

struct Regex::Compiled {
  std::unique_ptr<pcre2_code, Free> code;
  std::uint32_t groups = 0;
  mutable std::atomic<bool> given_up = false;  // on any text: said once

  // As pcre2_match().
  int search(std::string_view text, std::size_t from, pcre2_match_data* data) const {
    const auto match = [&](std::uint32_t options) {
      return pcre2_match(code.get(), as_units(text), text.size(), from, options, data, match_context());
    };
    const int outcome = match(0);
    return outcome == PCRE2_ERROR_JIT_STACKLIMIT ? match(PCRE2_NO_JIT) : outcome;
  }
};

Result<Regex> Regex::compile(std::string_view expression) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  auto compiled = std::make_shared<Compiled>();
  compiled->code.reset(
      pcre2_compile(as_units(expression), expression.size(), kCompileOptions, &error, &offset, nullptr));
  if (compiled->code == nullptr) {
    return Status(Code::kInvalidArgument, fmt::format("pattern \"{}\" does not compile: {} at {}",
                                                      printable(expression), error_message(error), offset));
  }
  pcre2_pattern_info(compiled->code.get(), PCRE2_INFO_CAPTURECOUNT, &compiled->groups);
  // Only speed is lost where just-in-time compilation is not allowed.
  pcre2_jit_compile(compiled->code.get(), PCRE2_JIT_COMPLETE);
  return Regex(std::string(expression), std::move(compiled));
}

void Regex::log_given_up(std::string_view text, int outcome) const {
  if (compiled_->given_up.exchange(true)) return;
  log(LogLevel::kWarning, "pattern \"{}\" was given up on a text of {} bytes and counts as not found: {}",
      printable(expression_), text.size(), error_message(outcome));
}

bool Regex::found_in(std::string_view text) const {
  const int outcome = compiled_->search(text, 0, thread_match_data());
  if (outcome < 0 && outcome != PCRE2_ERROR_NOMATCH) log_given_up(text, outcome);
  return outcome >= 0;
}

std::optional<Regex::Span> Regex::find(std::string_view text, std::size_t from) const {
  const int outcome = from > text.size() ? PCRE2_ERROR_NOMATCH : compiled_->search(text, from, thread_match_data());
  if (outcome < 0) return std::nullopt;
  const PCRE2_SIZE* places = pcre2_get_ovector_pointer(thread_match_data());
  const bool has_group = outcome != 1 && places[2] != PCRE2_UNSET;  // 1: the match alone is known
  const Span span = has_group ? Span{places[2], places[3]} : Span{places[0], places[1]};
  // A look-behind with \K may match before where the search began.
  if (span.begin < from || span.end < span.begin) return std::nullopt;
  return span;
}

Regex::Outcome Regex::search(std::string_view text, std::size_t from, Match& match) const {
  if (from > text.size()) return Outcome::kNotFound;
  pcre2_match_data* const data = thread_match_data_for(compiled_->groups);
  const int outcome = compiled_->search(text, from, data);
  if (outcome == PCRE2_ERROR_NOMATCH) return Outcome::kNotFound;
  if (outcome < 0) {
    log_given_up(text, outcome);
    return Outcome::kGivenUp;
  }
  const PCRE2_SIZE* places = pcre2_get_ovector_pointer(data);
  match.whole = {places[0], places[1]};
  match.groups.clear();
  for (std::uint32_t group = 1; group <= compiled_->groups; ++group) {
    const bool took_part = group < static_cast<std::uint32_t>(outcome) && places[2 * group] != PCRE2_UNSET;
    match.groups.push_back(took_part ? std::optional<Span>({places[2 * group], places[2 * group + 1]}) : std::nullopt);
  }
  const bool in_order = match.whole.begin >= from && match.whole.begin <= match.whole.end;  // \K can turn them round
  return in_order ? Outcome::kFound : Outcome::kNotFound;
}

std::size_t Regex::count_groups() const {
  return compiled_->groups;
}

std::optional<std::size_t> Regex::group_named(const char* name) const {
  const int number = pcre2_substring_number_from_name(compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(name));
  if (number <= 0) return std::nullopt;
  return static_cast<std::size_t>(number);
}

Result<RegexSet> RegexSet::compile(const std::vector<std::string>& expressions) {
  RegexSet set;
  for (const std::string& expression : expressions) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Regex pattern, Regex::compile(expression));
    set.patterns_.push_back(std::move(pattern));
  }
  return set;
}

bool RegexSet::found_in(std::string_view text) const {
  for (const Regex& pattern : patterns_) {
    if (pattern.found_in(text)) return true;
  }
  return false;
}

}  // namespace trainwarden
