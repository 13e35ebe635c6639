// ProfilerReport: all rules about where the time goes, as one: at the end of the run the first of their findings, and
// how many others there are.
//
// Source: SageMaker Debugger's rule, with its parameters `<RuleName>_<parameter>`, which go to the rules of that name.
// Ours: findings are ranked by their predicted gain, and those that another one explains are left out.
//
// State: that of its rules.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/regex.h"
#include "core/base/text.h"
#include "judge/rules/builtin/profiler/moments.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/parameters.h"
#include "judge/rules/registry.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace profiler_report_rule {
namespace {

constexpr const char* kOptOut = "opt_out_telemetry";

// One of the rules it asks.
struct Asked {
  const RuleKind* kind = nullptr;
  std::unique_ptr<Rule> rule{};
  std::optional<TimeSchedule> schedule{};  // of one that judges samples
  RegexSet patterns{};
  std::int64_t asked_until = 0;    // the end of its last window
  std::optional<Verdict> fired{};  // the newest, above a note
  bool judged = false;
  const std::string& name() const { return kind->description.name; }
};

double evidence_of(const Verdict& verdict, std::string_view quantity, double otherwise) {
  for (const Evidence& evidence : verdict.evidence) {
    if (evidence.quantity == quantity) return evidence.value;
  }
  return otherwise;
}

class ProfilerReport final : public Rule {
 public:
  explicit ProfilerReport(std::vector<Asked> rules) : rules_(std::move(rules)) {
    std::int64_t window_ns = 0, cadence_ns = std::numeric_limits<std::int64_t>::max();
    for (const Asked& asked : rules_) {
      if (!asked.schedule) continue;
      const auto& patterns = asked.schedule->metrics.patterns;
      schedule_.metrics.patterns.insert(schedule_.metrics.patterns.end(), patterns.begin(), patterns.end());
      window_ns = std::max(window_ns, asked.schedule->window_ns);
      cadence_ns = std::min(cadence_ns, asked.schedule->cadence_ns);
    }
    schedule_.window_ns = window_ns;
    schedule_.cadence_ns = cadence_ns;
  }

  std::vector<Collection> needs() const override {
    std::vector<Collection> all;
    for (const Asked& asked : rules_) {
      for (Collection& need : asked.rule->needs()) all.push_back(std::move(need));
    }
    return all;
  }

  std::optional<TimeSchedule> schedule() const override { return schedule_; }

  Verdict evaluate(const StepWindow& window) override {
    for (Asked& asked : rules_) {
      if (asked.rule->judges_steps()) take(asked, asked.rule->evaluate(window));
    }
    last_step_ = window.global_step();
    const Trial* const trial = window.trial();
    const bool is_end = trial != nullptr && trial->loaded_all_steps() && trial->last_complete_step() == last_step_;
    if (is_end && !has_windows_) return sum_up();
    return Verdict::not_applicable("it judges the run as a whole, when it has ended");
  }

  Verdict evaluate_time(const TimeWindow& window) override {
    has_windows_ = true;
    const bool last = is_last_window(window);
    for (Asked& asked : rules_) {
      if (asked.schedule && (last || is_due(asked, window))) ask(asked, window);
    }
    last_step_ = std::max(last_step_, window.last_step);
    if (last) return sum_up();
    return Verdict::insufficient_data(fmt::format("the run goes on; so far there are {} findings", findings().size()));
  }

 private:
  static void take(Asked& asked, Verdict verdict) {
    asked.judged = asked.judged || verdict.outcome == Outcome::kOk || verdict.outcome == Outcome::kFired;
    if (verdict.outcome == Outcome::kFired && verdict.severity != Severity::kInfo) asked.fired = std::move(verdict);
  }

  // Has a multiple of its cadence passed since it was asked?
  static bool is_due(const Asked& asked, const TimeWindow& window) {
    const std::int64_t cadence_ns = asked.schedule->cadence_ns;
    return asked.asked_until / cadence_ns != window.to_unix_ns / cadence_ns;
  }

  // With its own metrics, as far back as it looks.
  static void ask(Asked& asked, const TimeWindow& window) {
    const std::int64_t from = window.to_unix_ns - asked.schedule->window_ns;
    const auto& sources = asked.schedule->metrics.sources;
    std::vector<MetricSeries> own;
    for (const MetricSeries& series : window.series) {
      const bool fits =
          sources.empty() || std::find(sources.begin(), sources.end(), series.metric.source) != sources.end();
      if (!fits || !asked.patterns.found_in(series.metric.name)) continue;
      const auto first =
          std::lower_bound(series.samples.begin(), series.samples.end(), from,
                           [](const Sample& sample, std::int64_t unix_ns) { return sample.unix_ns < unix_ns; });
      if (first != series.samples.end()) own.push_back({series.metric, series.worker, {first, series.samples.end()}});
    }
    if (own.empty()) return;
    asked.asked_until = window.to_unix_ns;
    take(asked, asked.rule->evaluate_time(
                    {window.trial, from, window.to_unix_ns, window.last_step, window.last_step_unix_ns, own}));
  }

  bool is_explained(const Asked& asked) const {
    return std::any_of(rules_.begin(), rules_.end(), [&](const Asked& other) {
      const auto& names = other.kind->description.consequences;
      return other.fired && std::find(names.begin(), names.end(), asked.name()) != names.end();
    });
  }

  // The greatest gain first; those without a known gain by what they cost, behind.
  std::vector<const Asked*> findings() const {
    std::vector<const Asked*> found;
    for (const Asked& asked : rules_) {
      if (asked.fired && !is_explained(asked)) found.push_back(&asked);
    }
    std::stable_sort(found.begin(), found.end(), [](const Asked* a, const Asked* b) {
      const auto rank = [](const Verdict& verdict) {
        return std::pair(evidence_of(verdict, "gain", 1), evidence_of(verdict, "step_share", 0));
      };
      return rank(*a->fired) > rank(*b->fired);
    });
    return found;
  }

  Verdict sum_up() const {
    const std::vector<const Asked*> found = findings();
    const auto judged = static_cast<std::size_t>(
        std::count_if(rules_.begin(), rules_.end(), [](const Asked& asked) { return asked.judged; }));
    if (found.empty() && judged == 0) {
      return Verdict::insufficient_data(fmt::format("none of its {} rules had enough to judge by", rules_.size()));
    }
    if (found.empty()) {
      Verdict verdict = Verdict::ok();
      verdict.message = fmt::format("{} of its {} rules could judge, and found nothing", judged, rules_.size());
      return verdict;
    }
    Verdict verdict = *found.front()->fired;
    verdict.message = fmt::format("{}: {}", found.front()->name(), verdict.message);
    if (found.size() > 1) {
      std::vector<std::string> others;
      for (const Asked* const other : found) others.push_back(other->name());
      others.erase(others.begin());
      verdict.message += fmt::format(" Besides there are {} findings: {}.", others.size(), fmt::join(others, ", "));
    }
    verdict.evidence.push_back({"", "", "findings", static_cast<double>(found.size()), 0, last_step_});
    if (verdict.evidence.size() > Verdict::kMaxEvidence) {
      verdict.evidence.erase(verdict.evidence.end() - 2);
    }
    return verdict;
  }

  std::vector<Asked> rules_;
  TimeSchedule schedule_;
  bool has_windows_ = false;
  std::int64_t last_step_ = -1;
};

std::vector<const RuleKind*> profiler_kinds() {
  std::vector<const RuleKind*> kinds;
  for (const RuleKind& kind : builtin_rules()) {
    if (kind.description.profiles) kinds.push_back(&kind);
  }
  return kinds;
}

// "cpubottleneck_THRESHOLD": the rule, and its parameter as it calls it.
Result<std::pair<const RuleKind*, std::string>> find_parameter(std::string_view text) {
  const std::size_t border = text.find('_');
  const std::string rule = lower(text.substr(0, border));
  for (const RuleKind* const kind : profiler_kinds()) {
    if (border == std::string_view::npos || lower(kind->description.name) != rule) continue;
    const std::string wanted = lower(text.substr(border + 1));
    for (const RuleParameter& parameter : kind->description.parameters) {
      if (lower(parameter.name) == wanted) return std::pair(kind, parameter.name);
    }
    // Says which there are.
    return check_declared(*kind, text.substr(border + 1)).with_context(std::string(text));
  }
  return Status(Code::kInvalidArgument,
                fmt::format("rule ProfilerReport has no parameter \"{}\"; expected the name of a rule of the set "
                            "profiler, \"_\" and the name of one of its parameters: CPUBottleneck_threshold",
                            printable(text)));
}

Result<Asked> ask_rule(const RuleKind& kind, RuleParameters parameters) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto rule, create_builtin(kind, std::move(parameters)));
  Asked asked{&kind, std::move(rule)};
  auto schedule = asked.rule->schedule();
  if (!schedule || schedule->metrics.patterns.empty()) return asked;  // beside a living run only
  TRAINWARDEN_ASSIGN_OR_RETURN(asked.patterns, RegexSet::compile(schedule->metrics.patterns));
  asked.schedule = std::move(schedule);
  return asked;
}

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  (void)read.boolean(kOptOut);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  std::map<const RuleKind*, RuleParameters> of_rules;
  for (const auto& [name, value] : parameters) {
    if (name == kOptOut) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto found, find_parameter(name));
    if (of_rules[found.first].emplace(found.second, value).second) continue;
    return Status(Code::kInvalidArgument, fmt::format("{} is given twice", printable(name)));
  }
  std::vector<Asked> rules;
  for (const RuleKind* const kind : profiler_kinds()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Asked asked, ask_rule(*kind, std::move(of_rules[kind])));
    rules.push_back(std::move(asked));
  }
  return std::unique_ptr<Rule>(new ProfilerReport(std::move(rules)));
}

}  // namespace
}  // namespace profiler_report_rule

Status check_report_parameter(std::string_view parameter) {
  return profiler_report_rule::find_parameter(parameter).status();
}

std::map<std::string, RuleParameters> parameters_handed_on(const RuleParameters& of_report) {
  std::map<std::string, RuleParameters> of_rules;
  for (const auto& [name, value] : of_report) {
    const auto found = profiler_report_rule::find_parameter(name);
    if (found.ok()) of_rules[found->first->description.name].emplace(found->second, value);
  }
  return of_rules;
}

RuleKind profiler_report() {
  return {{.name = kProfilerReport,
           .summary = "Asks all rules about where the time goes, and says at the end which finding gains most.",
           .parameters = {{profiler_report_rule::kOptOut, "False",
                           "taken and passed over, since scripts for the service give it: nothing is sent anywhere"}},
           .topic = "profiling",
           .details =
               "Asks every rule of the set `profiler` about each step and window, and fires when the run has ended and "
               "any of them has fired above a note: with the message, advice and evidence of the one whose predicted "
               "gain is greatest, and the names of the others. Findings that another one explains are left out; those "
               "without a known gain come last.\n\n"
               "Parameters of those rules are given as `<RuleName>_<parameter>`, in any case: "
               "`CPUBottleneck_threshold=40`. A range of steps is its own.\n\n"
               "Mended of the original: its HTML told a server of the service that it was opened; nothing is sent "
               "anywhere. It is not part of the set `profiler`, whose rules it asks itself. Evidence: that of the "
               "finding, and `findings`, their number.",
           .source = "SageMaker Debugger; the order of findings is ours"},
          profiler_report_rule::create};
}

}  // namespace trainwarden::rules
