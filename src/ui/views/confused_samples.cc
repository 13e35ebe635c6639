#include "ui/views/confused_samples.h"

#include <algorithm>
#include <utility>

#include "core/base/clock.h"
#include "judge/rules/builtin/data/class_labels.h"
#include "judge/rules/trial_window.h"

namespace trainwarden::views {
namespace {

// By dimension. Labels that are distributions over classes have a dimension more than samples: then by number alone.
std::vector<std::int64_t> place_of(std::int64_t number, std::size_t samples, const Shape& labels) {
  if (labels.element_count() != static_cast<std::int64_t>(samples) || labels.rank() < 2) return {number};
  std::vector<std::int64_t> place(static_cast<std::size_t>(labels.rank()));
  for (int i = labels.rank() - 1; i >= 0; --i) {
    place[static_cast<std::size_t>(i)] = number % labels[i];
    number /= labels[i];
  }
  return place;
}

class SampleSearch {
 public:
  SampleSearch(Trial& trial, const SampleQuestion& question) : trial_(trial), question_(question) {}

  bool full() const { return found_.more; }
  ConfusedSamples take() { return std::move(found_); }

  // What cannot be read, or does not fit, has no samples: the matrix shows it.
  void look_at(std::int64_t step) {
    const rules::TrialWindow window(trial_, step, &memory_);
    const auto labels = rules::choose({rules::tensor_named(question_.labels), {}}, window);
    const auto predictions = rules::choose({rules::tensor_named(question_.predictions), {}}, window);
    if (!labels.ok() || !predictions.ok()) return;
    for (const TensorSpot& label : *labels) {
      for (const TensorSpot& prediction : *predictions) {
        if (label.worker == prediction.worker) look_at(window, label, prediction);
      }
    }
  }

 private:
  void look_at(const rules::TrialWindow& window, const TensorSpot& labels, const TensorSpot& predictions) {
    const auto label_value = window.value(labels);
    const auto prediction_value = window.value(predictions);
    if (!label_value.ok() || !prediction_value.ok()) return;
    const auto actual = rules::label_classes(label_value->view);
    const auto predicted = rules::predicted_classes(prediction_value->view, label_value->view, false);
    if (!actual.ok() || !predicted.ok() || actual->size() != predicted->size()) return;
    for (std::size_t i = 0; i < actual->size() && !full(); ++i) {
      if ((*actual)[i] != question_.actual || (*predicted)[i] != question_.predicted) continue;
      if (found_.samples.size() == question_.most) {
        found_.more = true;
        return;
      }
      found_.samples.push_back({window.global_step(), labels.shown_worker,
                                place_of(static_cast<std::int64_t>(i), actual->size(), label_value->view.shape)});
    }
  }

  Trial& trial_;
  const SampleQuestion& question_;
  rules::TrialMemory memory_;
  ConfusedSamples found_;
};

}  // namespace

Result<ConfusedSamples> confused_samples(Trial& trial, const SampleQuestion& question, const ConfusionLimits& limits) {
  const auto steps = confusion_steps(trial, question.labels, question.predictions, question.range.mode);
  const std::int64_t end_ns = system_clock().steady_ns() + std::chrono::nanoseconds(limits.time).count();
  SampleSearch search(trial, question);
  std::uint64_t looked_at = 0;
  for (auto step = steps.rbegin(); step != steps.rend() && !search.full(); ++step) {
    if (*step < question.range.from || *step > question.range.to) continue;
    if (looked_at++ == limits.steps || (looked_at > 1 && system_clock().steady_ns() >= end_ns)) {
      ConfusedSamples found = search.take();
      found.more = true;
      return found;
    }
    search.look_at(*step);
  }
  return search.take();
}

}  // namespace trainwarden::views
