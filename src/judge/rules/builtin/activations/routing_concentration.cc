// RoutingConcentration: a router that sends nearly all tokens to one expert.
//
// Source: the share of tokens that go to one expert as an early sign of divergence is reported for mixtures of experts
// (the README of a training monitor: 4 to 12 steps ahead); threshold, patience and the least number of tokens are ours.
// A token goes to the expert with the highest score of its row. It fires when the most frequent expert has more than a
// threshold of the tokens for `patience` captured steps in a row.
//
// State: a counter for each router.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/activations/activations_rules.h"
#include "judge/rules/builtin/activations/row_measures.h"
#include "judge/rules/builtin/tensors/selection_parameters.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace routing_concentration_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::int64_t kSaveInterval = 10;
constexpr std::int64_t kLeastTokens = 64;
constexpr const char* kAdvice =
    "See that the loss that balances the experts is added and large enough; try noise on the scores of the router, a "
    "lower learning rate for it, or a limit on the tokens of an expert.";

class RoutingConcentration final : public Rule {
 public:
  RoutingConcentration(TensorSelection selection, double threshold, std::int64_t patience)
      : selection_(std::move(selection)), threshold_(threshold), patience_(patience) {}

  Verdict evaluate(const StepWindow& window) override {
    std::size_t judged = 0;
    std::vector<Evidence> concentrated;
    std::map<std::string, std::int64_t> experts;  // by tensor
    const JudgingGaps gaps = visit_tensors(selection_, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue value, window.value(spot));
      TRAINWARDEN_ASSIGN_OR_RETURN(const TopShare top, top_share(value.view));
      if (top.rows < kLeastTokens) {
        return Status(Code::kOutOfRange,
                      fmt::format("\"{}\" has {} tokens; at least {} are needed", spot.tensor, top.rows, kLeastTokens));
      }
      ++judged;
      std::int64_t& steps = steps_concentrated_[{spot.tensor, spot.worker}];
      steps = top.share > threshold_ ? steps + 1 : 0;
      if (steps < patience_) return {};
      experts[spot.tensor] = top.choice;
      concentrated.push_back(
          {spot.tensor, spot.shown_worker, "top_share", top.share, threshold_, window.global_step()});
      return {};
    });
    if (judged == 0) return nothing_to_judge(gaps, "output of a router", window);
    if (concentrated.empty()) return Verdict::ok();
    std::stable_sort(concentrated.begin(), concentrated.end(),
                     [](const auto& a, const auto& b) { return a.value > b.value; });
    const Evidence& worst = concentrated.front();
    return fired(
        fmt::format("{} of {} routers have sent nearly all tokens to one expert for {} captured steps, up to {}: "
                    "\"{}\" sends {:.3g} of them to expert {}, up to {:g} is fine.",
                    concentrated.size(), judged, patience_, describe_step(window), worst.tensor, worst.value,
                    experts.at(worst.tensor), threshold_),
        kAdvice, concentrated);
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "routing_concentration", KeepForm::whole(), kSaveInterval);
  }

 private:
  const TensorSelection selection_;
  const double threshold_;
  const std::int64_t patience_;
  std::map<std::pair<std::string, std::string>, std::int64_t> steps_concentrated_;  // by tensor and worker
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection = read_selection(read);
  const double threshold = read.number("threshold", 0, 1);
  const std::int64_t patience = read.integer("patience", 1, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  TRAINWARDEN_RETURN_IF_ERROR(check_chosen(selection));
  return std::unique_ptr<Rule>(new RoutingConcentration(std::move(selection), threshold, patience));
}

}  // namespace
}  // namespace routing_concentration_rule

RuleKind routing_concentration() {
  return {
      {.name = "RoutingConcentration",
       .summary = "Fires when a router of a mixture of experts sends nearly all tokens to one expert.",
       .parameters = {{"collection_names", "", "collections whose tensors are judged, separated by commas"},
                      {"tensor_regex", R"((?i)(^|[._/])(router|gate)_output_\d+$)",
                       "patterns of tensors that are judged as scores of experts, one row a token"},
                      {"threshold", "0.8", "the highest share of tokens of one expert that is fine, from 0 to 1"},
                      {"patience", "3", "captured steps in a row for which it must be higher"}},
       .topic = "activations",
       .details =
           "Takes a tensor [..., experts] as the scores of one token a row (before or after softmax); a token goes to "
           "the expert with the highest. It fires when one expert gets more than `threshold` of the tokens at "
           "`patience` captured steps in a row. The evidence is `top_share`. Fewer than 64 tokens are not judged. It "
           "needs the values of the routers, which are small, every 10 steps.\n\n"
           "It finds modules that are called router or gate. It is not a default rule, since gates of other kinds "
           "bear the same name and mean something else. Experts that are chosen by other means than the highest "
           "score it does not see.",
       .source = "the README of a training monitor for the signal; the condition is ours",
       .by_default = false,
       .in_process = false,
       .consequences = {"LossNotDecreasing", "LossSpike", "Divergence"}},
      routing_concentration_rule::create};
}

}  // namespace trainwarden::rules
