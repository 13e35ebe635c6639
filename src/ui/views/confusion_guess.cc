// Guesses which tensors of a run are labels and predictions, and what the classes are called.
#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/parse_json.h"
#include "judge/rules/builtin/data/class_labels.h"
#include "ui/views/confusion.h"

namespace trainwarden::views {
namespace {

constexpr std::size_t kMostCandidates = 20;
constexpr std::size_t kMostClassNames = 100'000;
constexpr std::size_t kMostPairs = 2'000;

// What a name says, the surest first.
struct Word {
  const char* pattern;
  const char* reason;
};
constexpr std::array kLabelWords = {
    Word{"(?i)^(labels?|targets?)$", "by its name"},
    Word{"(?i)(^|[^a-z])(labels?|targets?|y_true|ground_truth)([^a-z]|$)", "by a word of its name"}};
constexpr std::array kPredictionWords = {
    Word{"(?i)^(predictions?|logits|outputs?)$", "by its name"},
    Word{"(?i)(^|[^a-z])(predictions?|preds?|y_pred|logits?|scores?|probs?|probabilities)([^a-z]|$)",
         "by a word of its name"},
    Word{"(?i)(^|[^a-z])outputs?([^a-z]|$)", "it is an output"}};

struct Candidate {
  GuessedTensor tensor;
  int rank = 0;  // less is surer
  Shape shape;
};

// Every name's rank by the first word that is found in it; those of the collection come first.
template <std::size_t N>
std::vector<Candidate> candidates_of(const Trial& trial, const std::array<Word, N>& words, const char* collection) {
  std::vector<Candidate> found;
  std::set<std::string> seen;
  const auto add = [&](const TensorQuery& query, int rank, const std::string& reason) {
    const auto names = trial.tensor_names(query);
    if (!names.ok()) return;  // the run has no such collection
    for (const std::string& name : *names) {
      if (!seen.insert(name).second) continue;
      const auto info = trial.tensor_info(name);
      const bool countable = info.ok() && info->values > 0 && info->has_shape && info->dtype != DType::kString &&
                             !is_complex(info->dtype) && info->shape.element_count() > 0;
      if (countable) found.push_back({{name, reason}, rank, info->shape});
    }
  };
  add({.include = {}, .collection = collection}, 0, fmt::format("of collection {}", collection));
  for (std::size_t i = 0; i < N; ++i) add({.include = {words[i].pattern}}, static_cast<int>(i) + 1, words[i].reason);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return found;
}

// A number for each label, or a row of scores: in the last dimension, or behind the batch.
bool fits(const Shape& labels, const Shape& predictions) {
  if (labels == predictions) return true;
  if (labels.element_count() == predictions.element_count()) return true;
  if (predictions.rank() != labels.rank() + 1) return false;
  for (const int scores : {1, predictions.rank() - 1}) {
    bool same = scores < predictions.rank();
    for (int i = 0, j = 0; same && i < predictions.rank(); ++i) {
      if (i != scores) same = predictions[i] == labels[j++];
    }
    if (same) return true;
  }
  return false;
}

std::vector<GuessedTensor> with_first(const std::vector<Candidate>& candidates, std::size_t first) {
  std::vector<GuessedTensor> tensors = {candidates[first].tensor};
  for (std::size_t i = 0; i < candidates.size() && tensors.size() < kMostCandidates; ++i) {
    if (i != first) tensors.push_back(candidates[i].tensor);
  }
  return tensors;
}

std::vector<std::string> names_in(const std::string& text) {
  const auto json = format::parse_ordered_json(text, "names");
  if (!json.ok() || !json->is_array()) return split_list(text);
  std::vector<std::string> names;
  for (const auto& name : *json) names.push_back(name.is_string() ? name.get<std::string>() : name.dump());
  return names;
}

}  // namespace

ConfusionGuess guess_confusion(const Trial& trial) {
  const auto labels = candidates_of(trial, kLabelWords, rules::kLabels);
  const auto predictions = candidates_of(trial, kPredictionWords, rules::kPredictions);
  std::size_t tried = 0;
  std::tuple<int, std::size_t, std::size_t> best = {1'000, 0, 0};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t j = 0; j < predictions.size() && tried < kMostPairs; ++j, ++tried) {
      if (labels[i].tensor.name == predictions[j].tensor.name || !fits(labels[i].shape, predictions[j].shape)) continue;
      if (confusion_steps(trial, labels[i].tensor.name, predictions[j].tensor.name).empty()) continue;
      best = std::min(best, {labels[i].rank + predictions[j].rank, i, j});
    }
  }
  const auto& [rank, label, prediction] = best;
  if (rank == 1'000) return {};
  return {with_first(labels, label), with_first(predictions, prediction)};
}

ClassNames class_names(Trial& trial) {
  for (const char* const label : {"classes", "class_names"}) {
    const auto found = trial.labels().find(label);
    if (found != trial.labels().end()) return {names_in(found->second), fmt::format("label {} of the run", label)};
  }
  const auto names = trial.tensor_names({.include = {"(?i)(^|[^a-z])(class_?names|classes|label_?names)([^a-z]|$)"}});
  if (!names.ok()) return {};
  for (const std::string& name : *names) {
    const auto info = trial.tensor_info(name);
    const bool are_texts = info.ok() && info->values > 0 && info->dtype == DType::kString;
    const std::vector<std::int64_t> steps =
        are_texts ? trial.steps_of(name, Mode::kGlobal, Kept::kValue) : std::vector<std::int64_t>();
    if (steps.empty()) continue;
    auto value = trial.value(name, steps.back());
    if (value.ok() && value->strings.size() <= kMostClassNames) {
      return {std::move(value->strings), fmt::format("tensor {}", name)};
    }
  }
  return {};
}

}  // namespace trainwarden::views
