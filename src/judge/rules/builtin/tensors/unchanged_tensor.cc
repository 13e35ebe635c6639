// UnchangedTensor: a tensor that stays the same.
//
// Source: the documented rule of SageMaker Debugger: NumPy's allclose over the last num_steps steps at which the tensor
// was captured, which need not follow each other; the inspected set is the union of collections and patterns, one of
// which must be given. Ours where the documentation is silent: each of the earlier steps is compared with the newest
// one, and another shape is a change. Where no values were kept the tensor is unchanged when its hash is, or, without a
// hash, its exact statistics: then any change counts, however small.
//
// State: of each tensor num_steps - 1 snapshots, whose values take kMostHeldBytes in all at most; what is past that is
// remembered by its hash.
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/tensors/selection_parameters.h"
#include "judge/rules/builtin/tensors/tensor_snapshot.h"
#include "judge/rules/builtin/tensors/tensors_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace unchanged_tensor_rule {
namespace {

constexpr std::size_t kMostHeldBytes = std::size_t{256} << 20;
constexpr std::int64_t kMostSteps = 1000;
constexpr double kStatisticsConfidence = 0.9;  // the elements might have changed places
constexpr const char* kAdvice =
    "See that the optimizer has these tensors in one of its groups, that their gradients are not zero, and that they "
    "ask for gradients; what is frozen on purpose is best left out of the selection.";

class UnchangedTensor final : public Rule {
 public:
  UnchangedTensor(TensorSelection selection, std::int64_t num_steps, const Closeness& closeness)
      : selection_(std::move(selection)), num_steps_(static_cast<std::size_t>(num_steps)), closeness_(closeness) {}

  Verdict evaluate(const StepWindow& window) override {
    std::size_t judged = 0;
    std::size_t young = 0;  // tensors with too short a history
    std::vector<Evidence> unchanged;
    double confidence = 1;
    const JudgingGaps gaps = visit_tensors(selection_, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto likeness, judge(spot, window));
      ++(likeness ? judged : young);
      if (!likeness || !likeness->alike) return {};
      if (likeness->ground == LikenessGround::kStatistics) confidence = kStatisticsConfidence;
      unchanged.push_back(evidence(spot, *likeness, window));
      return {};
    });
    if (judged == 0 && young == 0) return nothing_to_judge(gaps, "tensor", window);
    if (judged == 0) {
      return Verdict::insufficient_data(fmt::format("none of the {} tensors has been captured {} times by {}", young,
                                                    num_steps_, describe_step(window)));
    }
    if (unchanged.empty()) return Verdict::ok();
    Verdict verdict = fired(message(unchanged, judged, window), kAdvice, unchanged);
    verdict.confidence = confidence;
    return verdict;
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "unchanged_tensor", {.values = false, .statistics = true, .hash = true}, 1);
  }

 private:
  using Key = std::pair<std::string, std::string>;  // tensor, worker
  using History = std::deque<TensorSnapshot>;       // the oldest first

  // The newest with each of the earlier ones; none while there are too few. The newest joins the history.
  Result<std::optional<Likeness>> judge(const TensorSpot& spot, const StepWindow& window) {
    TRAINWARDEN_ASSIGN_OR_RETURN(TensorSnapshot now,
                                 TensorSnapshot::take(spot, window, kMostHeldBytes - std::min(held_, kMostHeldBytes)));
    History& history = histories_[{spot.tensor, spot.worker}];
    std::optional<Likeness> worst;
    if (history.size() + 1 >= num_steps_) {
      TRAINWARDEN_ASSIGN_OR_RETURN(worst, compare_all(history, now));
    }
    held_ += now.held_bytes();
    history.push_back(std::move(now));
    while (history.size() >= num_steps_) {
      held_ -= history.front().held_bytes();
      history.pop_front();
    }
    return worst;
  }

  // The newest of the earlier ones first: what moves differs from it.
  Result<Likeness> compare_all(const History& history, const TensorSnapshot& now) const {
    Likeness all{true, LikenessGround::kValues, 0};
    for (auto before = history.rbegin(); all.alike && before != history.rend(); ++before) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const Likeness one, TensorSnapshot::compare(*before, now, closeness_));
      all.alike = one.alike;
      all.ground = std::min(all.ground, one.ground);
      all.largest_difference = std::max(all.largest_difference, one.largest_difference);
    }
    return all;
  }

  Evidence evidence(const TensorSpot& spot, const Likeness& likeness, const StepWindow& window) const {
    Evidence evidence{spot.tensor,     spot.shown_worker,   "largest_difference", likeness.largest_difference,
                      closeness_.atol, window.global_step()};
    if (likeness.ground == LikenessGround::kValues) return evidence;
    evidence.quantity = "steps_unchanged";
    evidence.value = evidence.threshold = static_cast<double>(num_steps_);
    return evidence;
  }

  std::string message(const std::vector<Evidence>& unchanged, std::size_t judged, const StepWindow& window) const {
    return fmt::format(
        "{} of {} tensors have stayed the same over the last {} steps at which they were captured, up to "
        "{}: the first is \"{}\".",
        unchanged.size(), judged, num_steps_, describe_step(window), unchanged.front().tensor);
  }

  const TensorSelection selection_;
  const std::size_t num_steps_;
  const Closeness closeness_;
  std::map<Key, History> histories_;
  std::size_t held_ = 0;  // bytes of values in all histories
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection = read_selection(read);
  const std::int64_t num_steps = read.integer("num_steps", 2, kMostSteps);
  const Closeness closeness{read.number("rtol", 0), read.number("atol", 0), read.boolean("equal_nan")};
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  TRAINWARDEN_RETURN_IF_ERROR(check_chosen(selection));
  return std::unique_ptr<Rule>(new UnchangedTensor(std::move(selection), num_steps, closeness));
}

}  // namespace
}  // namespace unchanged_tensor_rule

RuleKind unchanged_tensor() {
  return {
      {.name = "UnchangedTensor",
       .summary = "Fires when a tensor stays the same over its last captured steps.",
       .parameters = with_selection(
           {{"num_steps", "3", "how many of the tensor's captured steps are compared, the newest among them"},
            {"rtol", "1e-05", "how far two elements may differ and still be the same, as a part of the newer one"},
            {"atol", "1e-08", "the same in the tensor's own unit; both allowances are added"},
            {"equal_nan", "False", "True: two NaN are the same"}}),
       .topic = "tensors",
       .details =
           "Compares each chosen tensor of each worker with itself at the steps at which it was captured last, which "
           "need not follow each other. Where values were kept (or it is a scalar) all elements must be close: "
           "`|a - b| <= atol + rtol * |b|`; the evidence is `largest_difference`. Else the hash of its statistics "
           "must be equal, or, where there is none, all of the exact statistics: the elements might have changed "
           "places, so the confidence is 0.9. Then any change counts, however small, and the evidence is "
           "`steps_unchanged`. The rule asks for hashes, not for values.\n\n"
           "It is not a default rule, since much stays the same by design (frozen layers, masks, constants): choose "
           "the tensors. At most 256 MiB of values are remembered; what is past that is compared by its hash.",
       .source = "SageMaker Debugger, unchanged_tensor",
       .by_default = false,
       .in_process = true,
       .consequences = {}},
      unchanged_tensor_rule::create};
}

}  // namespace trainwarden::rules
