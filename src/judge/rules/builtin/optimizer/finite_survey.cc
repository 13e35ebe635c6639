#include "judge/rules/builtin/optimizer/finite_survey.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "judge/rules/builtin/tensors/non_finite_search.h"

namespace trainwarden::rules {
namespace {

constexpr std::string_view kGradientPrefix = "gradient/";

TensorSelection collection(std::string name) {
  return {.collections = {std::move(name)}};
}

std::array<TensorSelection, kStepPhaseCount> selections() {
  return {collection("batch_inputs"), collection("outputs"), collection("losses"), collection("gradients"),
          TensorSelection{.collections = {"weights", "biases", "buffers"}}};
}

// What makes it not finite, if anything does.
std::optional<NonFiniteTensor> look_at(const Statistics& statistics) {
  NonFiniteTensor found;
  if (statistics.nan_count > 0) {
    found.quantity = "nan_count";
    found.value = static_cast<double>(statistics.nan_count);
    found.has_nan = true;
  } else if (statistics.inf_count() > 0) {
    found.quantity = "inf_count";
    found.value = static_cast<double>(statistics.inf_count());
    found.negative_only = statistics.positive_inf_count == 0;
  } else {
    return std::nullopt;
  }
  return found;
}

Result<std::optional<NonFiniteTensor>> look_at(const TensorSpot& spot, const StepWindow& window) {
  const auto statistics = window.statistics(spot);
  if (statistics.ok()) return look_at(**statistics);
  const auto saved = window.saved_reductions(spot);
  if (!saved.ok()) return statistics.status();
  const NonFiniteSearch search = search_non_finite(*saved, false);
  if (!search.decided) return statistics.status();
  if (!search.found) return std::optional<NonFiniteTensor>();
  NonFiniteTensor found;
  found.quantity = identifier(*search.found);
  found.value = search.found->value;
  found.has_nan = std::isnan(found.value);
  return std::optional(found);
}

// "conv1_output_0" → "conv1"; "gradient/conv1.weight" → "conv1"; "conv1.weight" → "conv1".
std::string_view module_of(const NonFiniteTensor& tensor) {
  std::string_view name = tensor.spot.tensor;
  if (tensor.phase == StepPhase::kOutputs) return name.substr(0, name.rfind("_output_"));
  if (name.substr(0, kGradientPrefix.size()) == kGradientPrefix) name.remove_prefix(kGradientPrefix.size());
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

// Sorts what was found in one phase.
void sort_by_execution(std::vector<NonFiniteTensor>& found, StepPhase phase, const TrainingFacts& facts) {
  constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();
  const auto is_earlier = [&](const NonFiniteTensor& a, const NonFiniteTensor& b) {
    const std::size_t at_a = facts.module_order(module_of(a)).value_or(kUnknown);
    const std::size_t at_b = facts.module_order(module_of(b)).value_or(kUnknown);
    return at_a != at_b ? at_a < at_b : natural_less(a.spot.tensor, b.spot.tensor);
  };
  if (phase == StepPhase::kGradients) {
    std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return is_earlier(b, a); });
  } else {
    std::stable_sort(found.begin(), found.end(), is_earlier);
  }
}

void keep_first(JudgingGaps& gaps, JudgingGaps more) {
  if (gaps.first_damage.ok()) gaps.first_damage = std::move(more.first_damage);
  if (gaps.first_unfit.ok()) gaps.first_unfit = std::move(more.first_unfit);
}

std::set<std::pair<std::string, std::string>> losses_of(const StepWindow& window) {
  std::set<std::pair<std::string, std::string>> losses;
  const auto spots = window.select(collection("losses"));
  if (!spots.ok()) return losses;  // visit_tensors meets the same failure and keeps it
  for (const TensorSpot& spot : *spots) losses.emplace(spot.tensor, spot.worker);
  return losses;
}

}  // namespace

std::string_view name(StepPhase phase) {
  switch (phase) {
    case StepPhase::kBatch: return "batch";
    case StepPhase::kOutputs: return "output";
    case StepPhase::kLosses: return "loss";
    case StepPhase::kGradients: return "gradient";
    case StepPhase::kState: return "weight";
  }
  return "";
}

std::size_t FiniteSurvey::judged_count() const {
  return std::accumulate(judged.begin(), judged.end(), std::size_t{0});
}

FiniteSurvey survey_step(const StepWindow& window, const TrainingFacts& facts) {
  FiniteSurvey survey;
  const auto losses = losses_of(window);
  const auto all = selections();
  for (std::size_t i = 0; i < kStepPhaseCount; ++i) {
    const auto phase = static_cast<StepPhase>(i);
    std::vector<NonFiniteTensor> found;
    keep_first(survey.gaps, visit_tensors(all[i], window, [&](const TensorSpot& spot) -> Status {
                 if (phase == StepPhase::kOutputs && losses.count({spot.tensor, spot.worker}) > 0) return Status();
                 TRAINWARDEN_ASSIGN_OR_RETURN(auto tensor, look_at(spot, window));
                 ++survey.judged[i];
                 if (!tensor) return Status();
                 tensor->spot = spot;
                 tensor->phase = phase;
                 found.push_back(*std::move(tensor));
                 return Status();
               }));
    sort_by_execution(found, phase, facts);
    survey.found.insert(survey.found.end(), found.begin(), found.end());
  }
  return survey;
}

std::vector<std::string> surveyed_collections() {
  std::vector<std::string> names;
  for (const TensorSelection& selection : selections()) {
    names.insert(names.end(), selection.collections.begin(), selection.collections.end());
  }
  return names;
}

bool natural_less(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto take_number = [&](std::string_view& text) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
    std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(digits.size());
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
  };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view left = take_number(a);
      const std::string_view right = take_number(b);
      if (left != right) return std::tuple(left.size(), left) < std::tuple(right.size(), right);
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

}  // namespace trainwarden::rules
