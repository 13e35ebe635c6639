// GradientByDepth: gradients that vanish or explode from the last layer to the first.
//
// Source: AutoTrainer (ICSE 2021): vanishing when ‖g(first)‖ / ‖g(last)‖ < 1e-3 and ‖g(first)‖ < 1e-4, exploding when
// the ratio is above 70. Ours: the layers are the weights (not biases) whose gradient is not zero, in the order of the
// model; it must hold for `checks` steps in a row; and exploding asks for ‖g(first)‖ > 1 and for norms that rise with
// depth nearly everywhere, since one wide first layer is no explosion. With several optimizers there is no one order.
// State: two counts for each worker.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/optimizer/finite_survey.h"
#include "judge/rules/builtin/optimizer/optimizer_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/training_facts.h"

namespace trainwarden::rules {
namespace gradient_by_depth_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::size_t kLeastLayers = 3;
constexpr double kMostlyRising = 0.75;  // of neighbouring layers
constexpr double kLeastExploding = 1;   // norm
constexpr double kGuessedOrder = 0.6;   // confidence
constexpr std::string_view kPrefix = "gradient/";
constexpr const char* kVanishingAdvice =
    "Give the gradient a way: residual connections, a normalisation layer, an activation that does not saturate, or "
    "an initialisation that fits it; then compare the norms of the first and last layer again.";
constexpr const char* kExplodingAdvice =
    "Clip gradients, or make the layers' gains smaller (initialisation, normalisation); then compare the norms of the "
    "first and last layer again.";

struct Limits {
  double vanishing_ratio = 1e-3;
  double vanishing_norm = 1e-4;
  double exploding_ratio = 70;
  std::int64_t checks = 10;
};

struct Layer {
  std::size_t order = 0;
  TensorSpot spot;
  double norm = 0;
};

struct Counts {
  std::int64_t vanishing = 0;
  std::int64_t exploding = 0;
};

std::string_view module_of(std::string_view gradient) {
  gradient.remove_prefix(kPrefix.size());
  const std::size_t dot = gradient.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : gradient.substr(0, dot);
}

bool rises_towards_the_first(const std::vector<Layer>& layers) {
  std::size_t rising = 0;
  for (std::size_t i = 1; i < layers.size(); ++i) rising += layers[i - 1].norm > layers[i].norm ? 1 : 0;
  return static_cast<double>(rising) >= kMostlyRising * static_cast<double>(layers.size() - 1);
}

class GradientByDepth final : public Rule {
 public:
  explicit GradientByDepth(const Limits& limits) : limits_(limits) {}

  Verdict evaluate(const StepWindow& window) override {
    const Status facts = facts_.update(window);
    if (!facts.ok()) return Verdict::insufficient_data(facts.message());
    if (facts_.has_several_optimizers()) {
      return Verdict::not_applicable("several optimizers train several models, which have no order in common");
    }
    std::map<std::string, std::vector<Layer>> workers;
    const JudgingGaps gaps = read_layers(window, workers);
    if (workers.empty()) return nothing_to_judge(gaps, "gradient of a weight", window);
    std::optional<Verdict> worst;
    bool is_judged = false;
    for (auto& [worker, layers] : workers) {
      if (layers.size() < kLeastLayers) continue;
      is_judged = true;
      std::stable_sort(layers.begin(), layers.end(), [](const Layer& a, const Layer& b) {
        return a.order != b.order ? a.order < b.order : natural_less(a.spot.tensor, b.spot.tensor);
      });
      auto verdict = judge(layers, counts_[worker], window);
      if (verdict && !worst) worst = std::move(verdict);
    }
    if (worst) return *std::move(worst);
    if (is_judged) return Verdict::ok();
    return Verdict::insufficient_data(
        fmt::format("at least {} weights with a gradient other than zero are needed", kLeastLayers));
  }

  std::vector<Collection> needs() const override { return {need_statistics("gradients"), need_signals()}; }

 private:
  JudgingGaps read_layers(const StepWindow& window, std::map<std::string, std::vector<Layer>>& workers) const {
    return visit_tensors({.collections = {"gradients"}}, window, [&](const TensorSpot& spot) -> Status {
      const std::string& name = spot.tensor;
      const bool is_weight = name.rfind(kPrefix, 0) == 0 && name.find("weight") != std::string::npos;
      if (!is_weight) return Status();
      TRAINWARDEN_ASSIGN_OR_RETURN(const double norm, window.reduction(spot, Reduction::kL2));
      if (!(norm > 0) || !std::isfinite(norm)) return Status();
      const auto order = facts_.module_order(module_of(name));
      workers[spot.worker].push_back({order.value_or(std::numeric_limits<std::size_t>::max()), spot, norm});
      return Status();
    });
  }

  std::optional<Verdict> judge(const std::vector<Layer>& layers, Counts& counts, const StepWindow& window) const {
    const double first = layers.front().norm;
    const double ratio = first / layers.back().norm;
    const bool vanishes = ratio < limits_.vanishing_ratio && first < limits_.vanishing_norm;
    const bool explodes = ratio > limits_.exploding_ratio && first > kLeastExploding && rises_towards_the_first(layers);
    counts.vanishing = vanishes ? counts.vanishing + 1 : 0;
    counts.exploding = explodes ? counts.exploding + 1 : 0;
    if (counts.vanishing < limits_.checks && counts.exploding < limits_.checks) return std::nullopt;
    return verdict_on(layers, ratio, vanishes, window);
  }

  Verdict verdict_on(const std::vector<Layer>& layers, double ratio, bool vanishes, const StepWindow& window) const {
    const Layer& first = layers.front();
    const Layer& last = layers.back();
    std::vector<Evidence> evidence = {
        {first.spot.tensor, first.spot.shown_worker, "ratio_to_last", ratio,
         vanishes ? limits_.vanishing_ratio : limits_.exploding_ratio, window.global_step()},
        {first.spot.tensor, first.spot.shown_worker, "l2", first.norm,
         vanishes ? limits_.vanishing_norm : kLeastExploding, window.global_step()},
        {last.spot.tensor, last.spot.shown_worker, "l2", last.norm, first.norm, window.global_step()}};
    Verdict verdict =
        fired(fmt::format(
                  "Gradients {} with depth: the norm is {:.3g} in \"{}\" and {:.3g} in \"{}\" at {}, {:.3g} times, and "
                  "it has been so for {} steps.",
                  vanishes ? "vanish" : "explode", first.norm, first.spot.tensor, last.norm, last.spot.tensor,
                  describe_step(window), ratio, limits_.checks),
              vanishes ? kVanishingAdvice : kExplodingAdvice, std::move(evidence));
    if (!facts_.knows_model()) verdict.confidence = kGuessedOrder;
    return verdict;
  }

  const Limits limits_;
  TrainingFacts facts_;
  std::map<std::string, Counts> counts_;  // by worker
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  Limits limits;
  limits.vanishing_ratio = read.number("vanishing_ratio", 0);
  limits.vanishing_norm = read.number("vanishing_norm", 0);
  limits.exploding_ratio = read.number("exploding_ratio", 1);
  limits.checks = read.integer("checks", 1, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new GradientByDepth(limits));
}

}  // namespace
}  // namespace gradient_by_depth_rule

RuleKind gradient_by_depth() {
  RuleDescription description;
  description.name = "GradientByDepth";
  description.summary = "Fires when gradients vanish or explode from the last layer to the first.";
  description.parameters = {
      {"vanishing_ratio", "0.001", "norm of the first layer's gradient over the last one's below which it vanishes"},
      {"vanishing_norm", "0.0001", "and the norm of the first layer's gradient below which it does"},
      {"exploding_ratio", "70", "the ratio above which it explodes"},
      {"checks", "10", "steps with gradients in a row for which it must be so"}};
  description.topic = "gradients";
  description.details =
      R"(Takes the l2 norms of the gradients of all weights (biases left out, and norms of zero), in the order of the model.
Vanishing: first / last is below `vanishing_ratio` and the first below `vanishing_norm`. Exploding: the ratio is above
`exploding_ratio`, the first above 1, and three of four neighbouring layers rise towards the first. Either must hold for
`checks` steps in a row. Evidence: `ratio_to_last`, and `l2` of the first and the last layer.

It needs three such layers. The order comes from the signal `trainwarden/model`; without it from the names, with a
confidence of 0.6. Not applicable with several optimizers. In a model with branches first and last are those that the
model lists first and last.)";
  description.source = "AutoTrainer (ICSE 2021), with its limits";
  description.by_default = true;
  description.is_symptom = true;
  description.in_process = true;
  description.consequences = {"VanishingGradient", "LossNotDecreasing", "UnchangedTensor", "AdamEpsilon"};
  return {std::move(description), gradient_by_depth_rule::create};
}

}  // namespace trainwarden::rules
