// The signals of one step, read for the rules of this folder: what each worker said under a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/format/json.h"
#include "judge/rules/signals.h"
#include "judge/rules/step_statistics.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

template <class T>
struct Signal {
  TensorSpot spot;
  T value{};
};

// All signals of one name, also those that came more than once within the step (name#1, ...): by name, then by worker.
template <class T>
struct SignalsFound {
  std::vector<Signal<T>> signals;
  JudgingGaps gaps;  // what was there and could not be read
};

SignalsFound<double> scalar_signals(const StepWindow& window, std::string_view name);
SignalsFound<std::vector<double>> list_signals(const StepWindow& window, std::string_view name);  // a numeric tensor
SignalsFound<format::Json> json_signals(const StepWindow& window, std::string_view name);         // a JSON object each

// The value that this worker said; nullptr when it said none. Of several the first.
template <class T>
const T* signal_of(const SignalsFound<T>& found, std::string_view worker) {
  for (const Signal<T>& signal : found.signals) {
    if (signal.spot.worker == worker) return &signal.value;
  }
  return nullptr;
}

}  // namespace trainwarden::rules
