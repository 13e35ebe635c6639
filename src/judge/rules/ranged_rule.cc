#include "judge/rules/ranged_rule.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/diagnosis/causes.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace {

constexpr const char* kStart = "start_step";
constexpr const char* kEnd = "end_step";
constexpr const char* kRun = "base_trial";
const std::string kCause(kCauseParameter);
constexpr std::int64_t kMostSteps = 1'000'000'000'000;

class RangedRule final : public Rule {
 public:
  RangedRule(std::unique_ptr<Rule> rule, std::int64_t start, std::int64_t end)
      : rule_(std::move(rule)), start_(start), end_(end) {}

  Verdict evaluate(const StepWindow& window) override {
    const std::int64_t step = window.global_step();
    if (step >= start_ && step < end_) return rule_->evaluate(window);
    return Verdict::not_applicable(fmt::format("{} is not among the steps to be judged, which are those from {} on{}",
                                               describe_step(window), start_,
                                               end_ == kMostSteps ? "" : fmt::format(" and before {}", end_)));
  }

  std::vector<Collection> needs() const override { return rule_->needs(); }

  bool judges_steps() const override { return rule_->judges_steps(); }
  std::optional<TimeSchedule> schedule() const override { return rule_->schedule(); }

  // By the step that is waited for then.
  Verdict evaluate_time(const TimeWindow& window) override {
    const std::int64_t next = window.last_step + 1;
    if (next >= start_ && next < end_) return rule_->evaluate_time(window);
    return Verdict::not_applicable(fmt::format("step {} is not among the steps to be judged", next));
  }

 private:
  const std::unique_ptr<Rule> rule_;
  const std::int64_t start_;  // the first global step
  const std::int64_t end_;    // the first that is not judged any more
};

bool has_own(const RuleKind& kind, const std::string& name) {
  const auto& own = kind.description.parameters;
  return std::any_of(own.begin(), own.end(), [&](const RuleParameter& parameter) { return parameter.name == name; });
}

}  // namespace

const std::vector<RuleParameter>& common_parameters() {
  static const std::vector<RuleParameter> kParameters = {
      {kStart, "0", "the first global step that is judged"},
      {kEnd, "", "the first global step that is not judged any more; nothing: all are"},
      {kRun, "",
       "taken and passed over, since scripts for the service give it: the run that is judged is given elsewhere"},
      {kCause, "",
       "the cause that verdicts of this rule speak for in a diagnosis, such as learning_rate_too_high; nothing: that "
       "of "
       "the rule"}};
  return kParameters;
}

Status check_cause(const RuleParameters& parameters) {
  const auto given = parameters.find(kCause);
  if (given == parameters.end() || given->second.empty() || diagnosis::find_cause(given->second) != nullptr) return {};
  std::vector<std::string> known;
  for (const diagnosis::Cause& cause : diagnosis::causes()) known.emplace_back(cause.name);
  const std::string hint = did_you_mean(given->second, known);
  return Status(
      Code::kInvalidArgument,
      fmt::format("parameter cause: expected the name of a cause of the diagnosis, found \"{}\"{}",
                  printable(given->second), hint.empty() ? "; `trainwarden rules --causes` lists them" : hint));
}

Result<std::unique_ptr<Rule>> create_ranged_rule(const RuleKind& kind, RuleParameters parameters) {
  if (!has_own(kind, kRun)) parameters.erase(kRun);
  TRAINWARDEN_RETURN_IF_ERROR(check_cause(parameters));
  parameters.erase(kCause);
  RuleParameters range = {{kStart, "0"}, {kEnd, std::to_string(kMostSteps)}};
  bool is_given = false;
  for (auto& [name, value] : range) {
    const auto given = parameters.find(name);
    if (has_own(kind, name) || given == parameters.end()) continue;
    if (!given->second.empty() && given->second != "None") value = given->second;
    parameters.erase(given);
    is_given = true;
  }
  ParameterReader read(range);
  const std::int64_t start = read.integer(kStart, 0, kMostSteps);
  const std::int64_t end = read.integer(kEnd, 0, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  TRAINWARDEN_ASSIGN_OR_RETURN(auto rule, kind.create(parameters));
  if (!is_given) return rule;
  return std::unique_ptr<Rule>(new RangedRule(std::move(rule), start, end));
}

}  // namespace trainwarden::rules
