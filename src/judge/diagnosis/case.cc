#include <algorithm>
#include <filesystem>

#include <cmath>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {

std::string Case::place(std::string_view what) const {
  const auto found = history.structure.places.find(std::string(what));
  if (found == history.structure.places.end()) return {};
  return std::filesystem::path(found->second).filename().string();
}

std::vector<std::string> Case::course() const {
  const Course& train = symptoms.train;
  std::vector<std::string> lines;
  if (train.count > 0) {
    lines.push_back(fmt::format("the loss went from {} to {} in {} steps, its best was {}", number(train.first),
                                number(train.late), symptoms.steps, number(train.best)));
  }
  if (std::isfinite(symptoms.constant))
    lines.push_back(
        fmt::format("the best answer that does not look at the input has a loss of {}", number(symptoms.constant)));
  return lines;
}

std::string Case::kind_of_owner(const Parameter& parameter) const {
  const auto dot = parameter.name.rfind('.');
  const Module* owner = structure().module(dot == std::string::npos ? std::string() : parameter.name.substr(0, dot));
  return owner != nullptr ? owner->kind : std::string();
}

bool Case::is_map(const Parameter& parameter) const {
  const std::string kind = kind_of_owner(parameter);
  return parameter.shape.size() >= 2 && !contains(kind, "Embedding") && !contains(kind, "Norm");
}

// Of 1 is 0.58 for the initialisation of torch's own, and 1.41 for He's.
double Case::weight_gain(const Snapshot& snapshot) const {
  Values gains;
  for (std::size_t i = 0; i < structure().parameters.size(); ++i) {
    const Parameter& parameter = structure().parameters[i];
    const double weight = snapshot.at("weight", i);
    if (is_map(parameter) && !parameter.optimizers.empty() && weight > 1e-9)
      gains.push_back(weight * std::sqrt(parameter.fan_in()));
  }
  return median(gains);
}

bool Case::has_batch_norm() const {
  return std::any_of(structure().modules.begin(), structure().modules.end(),
                     [](const Module& each) { return contains(each.kind, "BatchNorm"); });
}

bool Case::reconstructs() const {
  return median_of(history, "target_is_input") > 0.95;
}

bool Case::is_ill() const {
  return symptoms.has_diverged || symptoms.learns_nothing || symptoms.loses_what_it_learned;
}

std::string Case::kind_of_optimizer() const {
  if (structure().optimizers.empty()) return "the optimizer";
  const std::string& kind = structure().optimizers.front().kind;
  return kind.empty() ? "the program's own update" : kind;
}

bool Case::is_adaptive() const {
  const std::string kind = kind_of_optimizer();
  return contains(kind, "Adam") || kind == "RMSprop";
}

}  // namespace trainwarden::diagnosis
