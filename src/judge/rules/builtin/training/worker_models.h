// WorkerModels: whether the workers of a run train the same model.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "data/format/json.h"
#include "judge/rules/builtin/training/signal_reading.h"

namespace trainwarden::rules {

// Holds the newest trainwarden/model of each worker.
class WorkerModels {
 public:
  void take(const StepWindow& window) {
    auto recorded = json_signals(window, signals::kModel);
    for (auto& [spot, json] : recorded.signals) models_[spot.worker] = std::move(json);
  }

  // Two workers have said what they train, and it is not the same. Not so when nobody has said anything.
  bool differ() const {
    for (const auto& [worker, model] : models_) {
      if (model != models_.begin()->second) return true;
    }
    return false;
  }

 private:
  std::map<std::string, format::Json> models_;
};

}  // namespace trainwarden::rules
