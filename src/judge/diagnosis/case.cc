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

bool Case::is_ill() const {
  return symptoms.has_diverged || symptoms.learns_nothing || symptoms.loses_what_it_learned;
}

}  // namespace trainwarden::diagnosis
