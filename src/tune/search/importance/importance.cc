#include "tune/search/importance/importance.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tune/search/importance/ped_anova.h"

namespace trainwarden::tune {
namespace {

bool all_equal(const std::vector<double>& costs) {
  return std::all_of(costs.begin(), costs.end(), [&](double cost) { return cost == costs.front(); });
}

// Why nothing can be said; empty where something can.
std::string nothing_note(const ImportanceSample& sample, const StudyMetric& metric) {
  if (sample.trials() < kMinImportanceTrials) {
    return fmt::format("What mattered is not known yet: {} complete trials with {} are needed, there {} {}.",
                       kMinImportanceTrials, metric.name, sample.trials() == 1 ? "is" : "are", sample.trials());
  }
  if (all_equal(sample.costs)) {
    return fmt::format("Nothing mattered: {} is the same in all {} trials.", metric.name, sample.trials());
  }
  if (sample.parameters.empty()) return "No parameter has been tried with more than one value.";
  return "";
}

template <class List>
void sort_falling(List& list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.share.importance > b.share.importance; });
}

std::vector<ParameterImportance> named(const ImportanceSample& sample, const std::vector<ImportanceShare>& shares) {
  std::vector<ParameterImportance> list;
  for (std::size_t i = 0; i < shares.size(); ++i) list.push_back({sample.parameters[i].parameter(), shares[i]});
  sort_falling(list);
  return list;
}

ForestImportance named(const ImportanceSample& sample, const ForestAnova& forest) {
  ForestImportance result{forest.r2, forest.is_trusted, named(sample, forest.single), {}};
  for (const PairShare& pair : forest.pairs) {
    result.pairs.push_back(
        {sample.parameters[pair.first].parameter(), sample.parameters[pair.second].parameter(), pair.share});
  }
  return result;
}

std::string note_of(const ImportanceSample& sample, const StudyImportance& found) {
  std::vector<std::string> sentences;
  if (!found.beats_chance) {
    sentences.emplace_back("No parameter stands out among the best trials more than chance would show.");
  }
  if (found.forest && !found.forest->is_trusted) {
    sentences.push_back(fmt::format(
        "fANOVA says nothing: its forest explains {:.2f} of trials that it has not seen (R2), and needs {:.2f}.",
        found.forest->r2, kMinTrustedR2));
  }
  if (sample.passed_over > 0) {
    sentences.push_back(
        fmt::format("{} trials were drawn at random from {}.", sample.trials(), sample.trials() + sample.passed_over));
  }
  if (sample.moved > 0) {
    sentences.push_back(fmt::format("{} values far from all others count as nearer ones in fANOVA.", sample.moved));
  }
  return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace

StudyImportance importance_of(const History& history, std::size_t metric, ImportanceParts parts) {
  ImportanceSample sample = sample_trials(history, metric);
  StudyImportance found;
  found.trials = sample.trials();
  found.left_out = sample.left_out;
  found.note = nothing_note(sample, history.metrics[metric]);
  if (!found.note.empty()) return found;
  const PedAnova ped = ped_anova(sample, history.seed);
  found.ped_anova = named(sample, ped.single);
  found.beats_chance = ped.beats_chance;
  if (parts == ImportanceParts::kAll) {
    hold_outliers(sample);
    found.forest = named(sample, forest_anova(sample, history.seed));
  }
  found.note = note_of(sample, found);
  return found;
}

}  // namespace trainwarden::tune
