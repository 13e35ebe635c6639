// ClippingAlways: the gradients are clipped at every step of a long window.
//
// Source: profiler specification, rule 16 (BLOOM's clipping bug). A step is clipped when the norm before clipping
// (signal trainwarden/clip/norm) is above the limit (trainwarden/clip/limit); of several clippings in a step each must
// be. State: one count for each worker.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/optimizer/optimizer_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/signals.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/training_facts.h"

namespace trainwarden::rules {
namespace clipping_always_rule {
namespace {

constexpr std::int64_t kMostSteps = 10'000'000;
constexpr const char* kAdvice =
    "Look at the distribution of the norm: set the limit a little above its median, so that only outliers are clipped, "
    "or know that the limit now sets the step size and tune the learning rate with it.";

struct Clipping {
  std::int64_t steps = 0;   // clipped in a row
  double least_excess = 0;  // norm / limit, the least of those
};

class ClippingAlways final : public Rule {
 public:
  explicit ClippingAlways(std::int64_t window) : window_(window) {}

  Verdict evaluate(const StepWindow& window) override {
    const auto norms = read_signals(window, signals::kClipNorm);
    const auto limits = read_signals(window, signals::kClipLimit);
    if (!norms.ok()) return Verdict::insufficient_data(norms.status().message());
    if (!limits.ok()) return Verdict::insufficient_data(limits.status().message());
    if (norms->empty() || norms->size() != limits->size()) {
      return Verdict::not_applicable("no clipping of gradients was captured at this step");
    }
    std::map<std::string, double> excess;  // the least of the step, by worker
    for (std::size_t i = 0; i < norms->size(); ++i) {
      const double ratio = (*norms)[i].value / (*limits)[i].value;
      const auto [place, is_new] = excess.try_emplace((*norms)[i].spot.worker, ratio);
      if (!is_new) place->second = std::min(place->second, ratio);
    }
    return judge(excess, (*norms)[0].spot.tensor, window);
  }

  std::vector<Collection> needs() const override { return {need_signals()}; }

 private:
  Verdict judge(const std::map<std::string, double>& excess, const std::string& signal, const StepWindow& window) {
    std::vector<Evidence> evidence;
    for (const auto& [worker, ratio] : excess) {
      Clipping& clipping = workers_[worker];
      const bool is_clipped = ratio > 1 && std::isfinite(ratio);
      clipping.least_excess = clipping.steps == 0 ? ratio : std::min(clipping.least_excess, ratio);
      clipping.steps = is_clipped ? clipping.steps + 1 : 0;
      if (clipping.steps < window_) continue;
      const std::string shown = window.workers().size() > 1 ? worker : "";
      evidence.push_back({signal, shown, "steps_clipped", static_cast<double>(clipping.steps),
                          static_cast<double>(window_), window.global_step()});
      evidence.push_back({signal, shown, "least_norm_to_limit", clipping.least_excess, 1, window.global_step()});
    }
    if (evidence.empty()) return Verdict::ok();
    std::string text = fmt::format(
        "Gradients were clipped at each of the last {} steps until {}: their norm was at least "
        "{:.3g} times the limit.",
        window_, describe_step(window), evidence[1].value);
    return fired(std::move(text), kAdvice, std::move(evidence));
  }

  const std::int64_t window_;
  std::map<std::string, Clipping> workers_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const std::int64_t window = read.integer("window", 1, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new ClippingAlways(window));
}

}  // namespace
}  // namespace clipping_always_rule

RuleKind clipping_always() {
  RuleDescription description;
  description.name = "ClippingAlways";
  description.summary = "Fires when gradients are clipped at every step of a long window.";
  description.parameters = {{"window", "200", "steps with clipping in a row at which the norm is above the limit"}};
  description.topic = "gradients";
  description.details =
      R"(Fires when the norm of the gradients before clipping (signal `trainwarden/clip/norm`) has been above the limit
(`trainwarden/clip/limit`) at each of the last `window` steps that clip. The limit, not the gradient, then sets the size
of every step. Evidence: `steps_clipped`, `least_norm_to_limit`. Steps that do not clip at all do not count, a norm that
is not finite ends the count.

Not one of the default rules: many language models are trained so on purpose.)";
  description.source = "ours, after the clipping bug of the BLOOM training (DeepSpeed 1801)";
  description.in_process = true;
  return {std::move(description), clipping_always_rule::create};
}

}  // namespace trainwarden::rules
