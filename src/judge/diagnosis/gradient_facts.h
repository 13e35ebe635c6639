// GradientFacts: of each parameter whether gradients were there when an optimizer stepped.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "judge/diagnosis/finding.h"

namespace trainwarden::diagnosis {

struct GradientFacts {
  std::size_t seen = 0, present = 0, nonzero = 0;
};

// A gradient that is the same at all looks is left over from another training.
inline std::vector<GradientFacts> gradients_of(const Case& seen) {
  std::vector<GradientFacts> facts(seen.structure().parameters.size());
  Values before(facts.size(), kUnknown);
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* gradient = snapshot.find("gradient");
    if (gradient == nullptr || gradient->size() != facts.size()) continue;
    for (std::size_t i = 0; i < facts.size(); ++i) {
      ++facts[i].seen;
      facts[i].present += (*gradient)[i] >= 0 || std::isnan((*gradient)[i]) ? 1 : 0;
      const bool is_left_over = facts[i].seen > 1 && (*gradient)[i] == before[i];
      facts[i].nonzero += ((*gradient)[i] > 0 && !is_left_over) || std::isnan((*gradient)[i]) ? 1 : 0;
      before[i] = (*gradient)[i];
    }
  }
  return facts;
}

inline bool is_trained(const Parameter& parameter) {
  return parameter.trainable && !parameter.optimizers.empty();
}

// Of "encoder.0.weight" it is "encoder.0".
inline std::string name_of_owner(const std::string& parameter) {
  const auto dot = parameter.rfind('.');
  return dot == std::string::npos ? std::string() : parameter.substr(0, dot);
}

}  // namespace trainwarden::diagnosis
