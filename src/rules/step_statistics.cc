#include "rules/step_statistics.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "rules/step_place.h"

namespace trainwarden::rules {
namespace {

// Adds the names that answer the query. An unknown collection has none.
void add_names(const StepWindow& window, TensorQuery query, std::vector<std::string>& names, Status& damage) {
  query.step = window.global_step();
  auto found = window.trial().tensor_names(query);
  if (found.ok()) {
    names.insert(names.end(), std::make_move_iterator(found->begin()), std::make_move_iterator(found->end()));
  } else if (found.status().code() != Code::kNotFound) {
    damage = found.status();
  }
}

std::vector<std::string> select(const TensorSelection& selection, const StepWindow& window, Status& damage) {
  std::vector<std::string> names;
  if (selection.all) add_names(window, {}, names, damage);
  for (const std::string& collection : selection.collections) {
    add_names(window, {.collection = collection}, names, damage);
  }
  if (!selection.patterns.empty()) add_names(window, {.include = selection.patterns}, names, damage);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Kept in a form that has no statistics: nothing that a rule on numbers judges.
bool has_no_numbers(const Status& status) {
  return status.code() == Code::kOutOfRange || status.code() == Code::kInvalidArgument;
}

}  // namespace

StepStatistics read_statistics(const TensorSelection& selection, const StepWindow& window) {
  Trial& trial = window.trial();
  StepStatistics read;
  for (const std::string& tensor : select(selection, window, read.first_damage)) {
    for (const std::string& worker : trial.workers_of(tensor, window.global_step())) {
      auto statistics = trial.statistics(tensor, window.global_step(), Mode::kGlobal, worker);
      if (statistics.ok()) {
        read.tensors.push_back({tensor, trial.world_size() > 1 ? worker : "", *std::move(statistics)});
      } else if (!has_no_numbers(statistics.status()) && read.first_damage.ok()) {
        read.first_damage = statistics.status();
      }
    }
  }
  return read;
}

std::optional<Verdict> nothing_to_judge(const StepStatistics& read, std::string_view what, const StepWindow& window) {
  if (!read.tensors.empty()) return std::nullopt;
  if (read.first_damage.ok()) {
    return Verdict::not_applicable(fmt::format("no {} was captured at {}", what, describe_step(window)));
  }
  return Verdict::insufficient_data(
      fmt::format("no {} could be read at {}: {}", what, describe_step(window), read.first_damage.to_string()));
}

std::string describe_step(const StepWindow& window) {
  return step_text(place_of(window.trial(), window.global_step()));
}

Verdict fired(std::string message, std::string advice, std::vector<Evidence> evidence, Severity severity) {
  if (evidence.size() > Verdict::kMaxEvidence) evidence.resize(Verdict::kMaxEvidence);
  return {Outcome::kFired, severity, std::move(message), std::move(advice), std::move(evidence)};
}

}  // namespace trainwarden::rules
