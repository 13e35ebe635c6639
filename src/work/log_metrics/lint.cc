#include "work/log_metrics/lint.h"

#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/regex.h"
#include "work/log_metrics/literal_head.h"

namespace trainwarden::log_metrics {
namespace {

// Any number that metric_value.h reads.
constexpr std::string_view kNumber = R"(([-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|(?i:nan|inf(?:inity)?))))";
// Not within another name: "loss" of "val_loss", "train/loss", "val.loss".
constexpr std::string_view kNameBegins = R"((?<![\w/.-]))";

constexpr std::string_view kPlainNumber = "0.5";
constexpr std::array<std::string_view, 4> kOtherNumbers = {"-0.5", "1.2e-05", "nan", "inf"};

bool is_part_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '/' ||
         c == '.' || c == '-';
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("\\^$.[]|()?*+{}").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// Within the name that `other` ends its literal beginning with, does `head` stand too?
bool stands_within(std::string_view head, std::string_view other) {
  for (std::size_t at = other.find(head, 1); at != std::string_view::npos; at = other.find(head, at + 1)) {
    if (is_part_of_name(other[at - 1])) return true;
  }
  return false;
}

// A pattern while it is tried on short texts.
class PatternTrial {
 public:
  explicit PatternTrial(const MetricDefinition& definition)
      : definition_(definition), regex_(Regex::compile(definition.regex)), head_(literal_head(definition.regex)) {}

  const LiteralHead& head() const { return head_; }
  bool has_group() const { return !regex_.ok() || regex_->count_groups() > 0; }

  // What the pattern catches as the value of "loss: NUMBER", when its literal beginning is "loss: ".
  std::optional<std::string> caught(std::string_view number) const {
    if (!regex_.ok()) return std::nullopt;
    const std::string text = head_.text + std::string(number);
    const std::optional<Regex::Span> span = regex_->find(text, 0);
    if (!span) return std::nullopt;
    return std::string(span->in(text));
  }

  // It is a literal beginning and a number after it, and no more.
  bool is_head_and_number() const { return !head_.text.empty() && has_group() && caught(kPlainNumber) == kPlainNumber; }

  std::string better() const {
    if (!is_head_and_number() || definition_.regex.find("?<step>") != std::string::npos) return "";
    const std::string_view begin = is_part_of_name(head_.text.front()) ? kNameBegins : "";
    return fmt::format("{}{}{}", begin, escaped(head_.text), kNumber);
  }

 private:
  const MetricDefinition& definition_;
  Result<Regex> regex_;
  LiteralHead head_;
};

class Linter {
 public:
  explicit Linter(const DefinitionSet& set) : set_(set) {
    for (const MetricDefinition& definition : set.definitions) trials_.emplace_back(definition);
  }

  std::vector<LintWarning> warnings() {
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      check_ambiguous(i);
      check_numbers(i);
      check_group(i);
    }
    return std::move(warnings_);
  }

 private:
  void warn(std::size_t i, const char* code, std::string message) {
    const MetricDefinition& definition = set_.definitions[i];
    warnings_.push_back({code, definition.name, definition.place, std::move(message), trials_[i].better()});
  }

  void check_ambiguous(std::size_t i) {
    const LiteralHead& head = trials_[i].head();
    if (set_.strict || head.text.empty() || head.anchored) return;
    for (std::size_t other = 0; other < trials_.size(); ++other) {
      const std::string& longer = trials_[other].head().text;
      if (other == i || !stands_within(head.text, longer)) continue;
      warn(i, "METRIC_AMBIGUOUS",
           fmt::format("\"{}\" also stands within \"{}\", so that it takes values of {}", head.text, longer,
                       set_.definitions[other].name));
      return;
    }
  }

  void check_numbers(std::size_t i) {
    const PatternTrial& trial = trials_[i];
    if (!trial.is_head_and_number()) return;
    std::vector<std::string> faults;
    for (const std::string_view number : kOtherNumbers) {
      const std::optional<std::string> caught = trial.caught(number);
      if (!caught) {
        faults.push_back(fmt::format("does not find {}", number));
      } else if (*caught != number) {
        faults.push_back(fmt::format("reads {} as {}", number, *caught));
      }
    }
    if (faults.empty()) return;
    if (trial.caught(".") == ".") faults.emplace_back("catches \".\", which is no number");
    warn(i, "METRIC_NUMBERS", fmt::format("the pattern {}", fmt::join(faults, ", ")));
  }

  void check_group(std::size_t i) {
    const PatternTrial& trial = trials_[i];
    if (trial.has_group() || trial.head().text.empty()) return;
    const char first = trial.head().text.front();
    if ((first >= '0' && first <= '9') || first == '-' || first == '+' || first == '.') return;
    warn(i, "METRIC_NO_GROUP",
         fmt::format("the pattern has no group, so its whole match is the value, and that begins with \"{}\"; put the "
                     "number in parentheses",
                     trial.head().text));
  }

  const DefinitionSet& set_;
  std::vector<PatternTrial> trials_;
  std::vector<LintWarning> warnings_;
};

}  // namespace

std::vector<LintWarning> lint(const DefinitionSet& set) {
  return Linter(set).warnings();
}

}  // namespace trainwarden::log_metrics
