// OverallFrameworkMetrics: what the train steps were spent on, and the operators; it never fires.
//
// Source: SageMaker Debugger's rule of this name, whose shares of phases are ratios of sums; ours are of the wall time.
//
// State: sums of phases, by worker (PhaseShares); a table of operators over recorded steps.
#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "judge/rules/builtin/profiler/phase_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/recorded_calls.h"
#include "judge/rules/step_statistics.h"
#include "read/profile/operator_table.h"

namespace trainwarden::rules {
namespace overall_framework_metrics_rule {
namespace {

constexpr double kNamed = 0.01;  // shares below are left out of the message
constexpr std::size_t kOperatorsNamed = 3;

class OverallFrameworkMetrics final : public PhaseRule {
 public:
  OverallFrameworkMetrics() : PhaseRule({}) {}

 private:
  void look_at(const StepWindow& window) override {
    for (const RecordedStep& step : calls_.take(window)) table_.add(step.batch);
  }

  Verdict judge(const StepWindow& window) override {
    Verdict verdict = Verdict::ok();
    verdict.severity = Severity::kInfo;
    std::vector<std::pair<double, Phase>> phases;
    for (std::size_t i = 0; i < kPhaseCount; ++i) {
      const auto phase = static_cast<Phase>(i);
      phases.emplace_back(shares().share(phase).mean, phase);
    }
    std::sort(phases.begin(), phases.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> named;
    for (const auto& [share, phase] : phases) {
      if (share < kNamed) continue;
      named.push_back(fmt::format("{} {:.1f} %", rules::name(phase), 100 * share));
      verdict.evidence.push_back(own(std::string(rules::name(phase)).c_str(), share, 0, window));
    }
    verdict.message = fmt::format("{:.0f} train steps of {} (mean): {}{}.", shares().steps(),
                                  seconds_text(shares().seconds() / std::max(1.0, shares().steps())),
                                  fmt::join(named, ", "), operators());
    return verdict;
  }

  std::string operators() const {
    if (table_.calls() == 0) return "";
    std::vector<std::string> named;
    for (const auto& row : table_.rows(profile::OperatorOrder::kSelf)) {
      if (named.size() == kOperatorsNamed) break;
      named.push_back(fmt::format("{} {:.1f} %", printable(row.name), 100 * table_.share(row)));
    }
    return fmt::format("; of {} recorded steps most in {}", table_.batches(), fmt::join(named, ", "));
  }

  RecordedCalls calls_;
  profile::OperatorTable table_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters&) {
  return std::unique_ptr<Rule>(new OverallFrameworkMetrics());
}

}  // namespace
}  // namespace overall_framework_metrics_rule

RuleKind overall_framework_metrics() {
  return {{.name = "OverallFrameworkMetrics",
           .summary = "Says what the train steps were spent on; it never fires.",
           .topic = "profiling",
           .details =
               "Its verdict of each train step has the shares of the phases of the wall time until then, and the three "
               "operators with the most time of their own in recorded steps. Of several workers the median one of each "
               "phase counts, so that shares need not sum to 100 %. Needs the phases of 20 train steps. Evidence: a "
               "quantity for each phase of at least 1 %.",
           .source = "SageMaker Debugger's rule of this name; shares of the wall time are ours",
           .profiles = true},
          overall_framework_metrics_rule::create};
}

}  // namespace trainwarden::rules
