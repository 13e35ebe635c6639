#include "base/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <atomic>

#include "base/log.h"
#include "base/text.h"

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

// Working memory of a search. One for each thread; no pattern needs more than one pair, since only "found" is asked.
pcre2_match_data* thread_match_data() {
  thread_local const std::unique_ptr<pcre2_match_data, Free> data(pcre2_match_data_create(1, nullptr));
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

struct Pattern::Compiled {
  std::unique_ptr<pcre2_code, Free> code;
  mutable std::atomic<bool> given_up = false;  // on any text: said once
};

Result<Pattern> Pattern::compile(std::string_view expression) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  auto compiled = std::make_shared<Compiled>();
  compiled->code.reset(
      pcre2_compile(as_units(expression), expression.size(), kCompileOptions, &error, &offset, nullptr));
  if (compiled->code == nullptr) {
    return Status(Code::kInvalidArgument, fmt::format("pattern \"{}\" does not compile: {} at {}",
                                                      printable(expression), error_message(error), offset));
  }
  // Only speed is lost where just-in-time compilation is not allowed.
  pcre2_jit_compile(compiled->code.get(), PCRE2_JIT_COMPLETE);
  return Pattern(std::string(expression), std::move(compiled));
}

bool Pattern::found_in(std::string_view text) const {
  const auto search = [&](std::uint32_t options) {
    return pcre2_match(compiled_->code.get(), as_units(text), text.size(), 0, options, thread_match_data(),
                       match_context());
  };
  int outcome = search(0);
  if (outcome == PCRE2_ERROR_JIT_STACKLIMIT) outcome = search(PCRE2_NO_JIT);
  if (outcome >= 0) return true;
  if (outcome != PCRE2_ERROR_NOMATCH && !compiled_->given_up.exchange(true)) {
    log(LogLevel::kWarning, "pattern \"{}\" was given up on a text of {} bytes and counts as not found: {}",
        printable(expression_), text.size(), error_message(outcome));
  }
  return false;
}

Result<PatternSet> PatternSet::compile(const std::vector<std::string>& expressions) {
  PatternSet set;
  for (const std::string& expression : expressions) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Pattern pattern, Pattern::compile(expression));
    set.patterns_.push_back(std::move(pattern));
  }
  return set;
}

bool PatternSet::found_in(std::string_view text) const {
  for (const Pattern& pattern : patterns_) {
    if (pattern.found_in(text)) return true;
  }
  return false;
}

}  // namespace trainwarden
