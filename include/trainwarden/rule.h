// Rule: judges a training step by step.
//
// A rule is a pure function of a window of steps and of its own bounded state. It answers in one of five ways; silence
// is never an answer. It runs in one thread and must not keep references to the trial.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/export.h"
#include "trainwarden/mode.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden {

// The answer for one step.
enum class Outcome : std::uint8_t {
  kOk,                // judged, nothing wrong
  kFired,             // the condition is met
  kNotApplicable,     // nothing of what the rule judges was captured at this step
  kInsufficientData,  // something was captured, but not enough yet (too few steps)
  kError,             // the rule failed
};
TRAINWARDEN_API std::string_view name(Outcome outcome);  // "ok", "fired", "not_applicable", ...

enum class Severity : std::uint8_t { kInfo, kWarning, kError };
TRAINWARDEN_API std::string_view name(Severity severity);

// A number that speaks for a verdict.
struct Evidence {
  std::string tensor;
  std::string worker;    // empty: the same on all
  std::string quantity;  // "abs_mean", "nan_count", "decrease_percent"
  double value = 0;
  double threshold = 0;
  std::int64_t global_step = 0;
};

struct Verdict {
  Outcome outcome = Outcome::kOk;
  Severity severity = Severity::kWarning;
  std::string message;             // one sentence: what is wrong, with numbers
  std::string advice;              // one sentence: what to try next
  std::vector<Evidence> evidence;  // at most kMaxEvidence, the worst first

  static constexpr std::size_t kMaxEvidence = 20;
  static Verdict ok() { return {}; }
  static Verdict not_applicable(std::string message) {
    return {Outcome::kNotApplicable, Severity::kInfo, std::move(message), {}, {}};
  }
  static Verdict insufficient_data(std::string message) {
    return {Outcome::kInsufficientData, Severity::kInfo, std::move(message), {}, {}};
  }
  static Verdict error(std::string message) { return {Outcome::kError, Severity::kError, std::move(message), {}, {}}; }
};

// One parameter of a rule, as `trainwarden rules` shows it.
struct RuleParameter {
  std::string name;
  std::string default_value;  // as text; "" means not set
  std::string description;    // with the unit
};

struct RuleDescription {
  std::string name;     // "VanishingGradient"
  std::string summary;  // one sentence
  std::vector<RuleParameter> parameters;
};

// The step being judged. Valid during evaluate() only.
class TRAINWARDEN_API StepWindow {
 public:
  StepWindow(Trial& trial, std::int64_t global_step) : trial_(trial), global_step_(global_step) {}
  Trial& trial() const { return trial_; }
  std::int64_t global_step() const { return global_step_; }

 private:
  Trial& trial_;
  std::int64_t global_step_;
};

class TRAINWARDEN_API Rule {
 public:
  virtual ~Rule() = default;
  // Judges the step. Called for each complete step in rising order.
  virtual Verdict evaluate(const StepWindow& window) = 0;
};

using RuleParameters = std::map<std::string, std::string>;  // values are text, as they come from the command line

struct RuleKind {
  RuleDescription description;
  // kInvalidArgument for a bad value. Every parameter of the description is in `parameters`, defaults filled in.
  std::function<Result<std::unique_ptr<Rule>>(const RuleParameters& parameters)> create;
};

// The rules that exist, by name.
TRAINWARDEN_API const std::vector<RuleKind>& builtin_rules();

// A rule as the user asked for it: "VanishingGradient:threshold=1e-6,collection_names=gradients".
struct RuleSpec {
  std::string name;
  RuleParameters parameters;
};
// kInvalidArgument: names the unknown rule or parameter and the nearest known one.
TRAINWARDEN_API Result<RuleSpec> parse_rule_spec(std::string_view text);
TRAINWARDEN_API Result<std::unique_ptr<Rule>> create_rule(const RuleSpec& spec);

// Where a rule stands over the whole run.
enum class RuleStatus : std::uint8_t {
  kInProgress,
  kIssuesFound,
  kNoIssuesFound,  // judged at least one step, and found nothing
  kStopped,        // the engine was stopped before the run ended
  kError,
  kNotApplicable,  // the run ended, and what the rule judges was never captured, or never enough of it
};
TRAINWARDEN_API std::string_view name(RuleStatus status);  // "InProgress", "IssuesFound", ...

}  // namespace trainwarden
