// OptimizerHeavy: updating the weights takes much of each step.
//
// Source: an optimizer that takes more than a quarter of the step and is not fused, as profilers of training advise
// (fused kernels update all parameters in a few passes over memory). Ours: clipping and zeroing count too, the least
// cost, what of it can go, and what goes over whole tables of embeddings of which a batch uses some rows.
//
// State: sums of phases, by worker (PhaseShares); of the recorded steps whether a fused kernel was seen, and sums.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/phase_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/recorded_calls.h"
#include "judge/rules/builtin/profiler/table_updates.h"

namespace trainwarden::rules {
namespace optimizer_heavy_rule {
namespace {

constexpr Phase kUpdates[] = {Phase::kOptimizer, Phase::kClip, Phase::kZeroGrad};
constexpr const char* kFuse =
    "Use a fused optimizer (fused=True, or foreach=True in older versions) and zero_grad(set_to_none=True); on an "
    "accelerator phase/optimizer falls to a few launches.";
constexpr double kTablesMatter = 0.5;  // of the optimizer's time
constexpr const char* kSparse =
    "Have only the rows updated that a batch uses: nn.Embedding(..., sparse=True) with torch.optim.SparseAdam, Adagrad "
    "or SGD for the tables, and the optimizer that there was for the rest; phase/optimizer and phase/backward fall.";
constexpr const char* kFewerUpdates =
    "Update less often: gradients of several batches added up, or larger batches; a parameter that does not learn need "
    "not be in the optimizer. phase/optimizer falls with the number of updates.";

class OptimizerHeavy final : public PhaseRule {
 public:
  using PhaseRule::PhaseRule;

 private:
  void look_at(const StepWindow& window) override {
    for (const RecordedStep& step : calls_.take(window)) {
      ++recorded_steps_;
      const TableUpdates tables = table_updates(step.batch);
      table_share_ += tables.share();
      gradient_share_ += std::min(1.0, static_cast<double>(tables.gradient_ns) / static_cast<double>(step.wall_ns));
      for (const std::string& name : step.batch.names) {
        is_fused_ = is_fused_ || name.find("_fused_adam") != std::string::npos ||
                    name.find("_fused_sgd") != std::string::npos || name.find("_fused_adamw") != std::string::npos;
      }
    }
  }

  Verdict judge(const StepWindow& window) override {
    if (!shares().has_seen(Phase::kOptimizer)) {
      return Verdict::not_applicable("the run says nothing of the time that optimizers take");
    }
    const ShareRange share = shares().share(kUpdates);
    const double seconds = shares().seconds_a_step(kUpdates);
    if (!is_worth_it(share, seconds)) return Verdict::ok();
    if (recorded_steps_ > 0 && table_share_ / recorded_steps_ >= kTablesMatter)
      return of_tables(share, seconds, window);
    // Half of it goes when passes over the weights are put together, and up to nine tenths where launches dominate.
    const Cost cost = cost_of(share, is_fused_ ? Removable{0.5, 0, 0.75} : Removable{0.5, 0, 0.9});
    std::string message = fmt::format(
        "Updating the weights takes {:.3g} % of the time, {} a step{}. If half of that goes, training is {}.",
        100 * share.mean, seconds_text(seconds),
        is_fused_ ? ", with a fused optimizer" : (recorded_steps_ > 0 ? ", and no fused optimizer was seen" : ""),
        gain_text(cost));
    return finding(std::move(message), is_fused_ ? kFewerUpdates : kFuse, cost,
                   {own("optimizer_share", share.mean, limits().share, window),
                    own("optimizer_seconds", seconds, limits().seconds_a_step, window),
                    own("fused", is_fused_ ? 1 : 0, 0, window)},
                   window.global_step());
  }

  // All of that goes but for the rows that are used, and making the tables' gradients with it.
  Verdict of_tables(const ShareRange& share, double seconds, const StepWindow& window) const {
    const double tables = table_share_ / recorded_steps_;
    const double gradients = gradient_share_ / recorded_steps_;
    const auto removed = [&](double updates) { return std::min(1.0, updates * tables + gradients); };
    const Cost cost = cost_of({removed(share.mean), removed(share.low), removed(share.high)}, {0.95, 0, 1});
    std::string message = fmt::format(
        "Updating the weights takes {:.3g} % of the time, {} a step. {:.3g} % of that goes over whole tables of "
        "embeddings, and {:.3g} % of the time is spent on their gradients, though a batch uses some of their rows. "
        "With these alone training is {}.",
        100 * share.mean, seconds_text(seconds), 100 * tables, 100 * gradients, gain_text(cost));
    return finding(
        std::move(message), kSparse, cost,
        {own("optimizer_share", share.mean, limits().share, window),
         own("optimizer_seconds", seconds, limits().seconds_a_step, window),
         own("table_share", tables, kTablesMatter, window), own("table_gradient_share", gradients, 0, window)},
        window.global_step());
  }

  RecordedCalls calls_;
  double recorded_steps_ = 0;
  double table_share_ = 0;     // of the optimizer's time, sum over the recorded steps
  double gradient_share_ = 0;  // of the steps, sum over the recorded steps
  bool is_fused_ = false;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const PhaseLimits limits = read_phase_limits(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new OptimizerHeavy(limits));
}

}  // namespace
}  // namespace optimizer_heavy_rule

RuleKind optimizer_heavy() {
  return {
      {.name = "OptimizerHeavy",
       .summary = "Fires when updating the weights takes much of each step.",
       .parameters = phase_limit_parameters("0.25", "0.005"),
       .topic = "profiling",
       .details =
           "Fires when `phase/optimizer`, `phase/clip` and `phase/zero_grad` together take at least `threshold` of the "
           "wall time of train steps, and `min_seconds` of each. Whether the optimizer is fused is read from the "
           "operators of the steps that were recorded.\n\n"
           "Predicted gain: for half of that time. Bounds: none of it, and nine tenths (three quarters where the "
           "optimizer is fused already): on a CPU little can go, on an accelerator most of it.\n\n"
           "Where the recorded operators show tables of embeddings whose gradients are as large as they are "
           "(`aten::embedding_dense_backward`), and the parameters that take longest, one for a table, have at least "
           "half of the optimizer's time, the advice is to update only rows that are used. The gain is then for "
           "nineteen twentieths of that time and of the time of these gradients; bounds: none of it, where a batch "
           "uses most rows, and all. An optimizer that updates all parameters at once shows no table.\n\n"
           "Needs the phases of train steps. On an accelerator these are the host's times. Evidence: `step_share`, "
           "`gain`, `gain_min`, `gain_max`, `optimizer_share`, `optimizer_seconds`, and `fused` or `table_share` and "
           "`table_gradient_share`.",
       .source = "the share of an optimizer that is not fused; the least cost and the gain's bounds are ours",
       .profiles = true},
      optimizer_heavy_rule::create};
}

}  // namespace trainwarden::rules
