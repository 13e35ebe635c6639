#include "classes/splits.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <string>

#include "text/drawing.h"

namespace bert {
namespace {

using Members = std::vector<const LabelledText*>;

// Texts of each class in an order of their own.
std::map<std::string, Members> shuffled_classes(const std::vector<LabelledText>& texts, std::uint64_t seed) {
  std::map<std::string, Members> classes;
  for (const LabelledText& text : texts) classes[text.label].push_back(&text);
  std::mt19937_64 random(seed);
  for (auto& [label, members] : classes) {
    for (std::size_t left = members.size(); left > 1; --left) {
      std::swap(members[left - 1], members[draw_below(random, left)]);
    }
  }
  return classes;
}

void cut_to_rarest(std::map<std::string, Members>& classes) {
  std::size_t rarest = SIZE_MAX;
  for (const auto& [label, members] : classes) rarest = std::min(rarest, members.size());
  for (auto& [label, members] : classes) members.resize(rarest);
}

// Takes the last `fraction` of `size` out of `members`.
Members taken(Members& members, std::size_t size, double fraction) {
  const auto wanted = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(size)));
  const auto begin = members.end() - static_cast<std::ptrdiff_t>(std::min(wanted, members.size()));
  const Members part(begin, members.end());
  members.erase(begin, members.end());
  return part;
}

void append(Members& all, const Members& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

Splits split_texts(const std::vector<LabelledText>& texts, const SplitOptions& options) {
  const double sum = options.train + options.validation + options.test;
  if (!(options.train >= 0 && options.validation >= 0 && options.test >= 0 && std::abs(sum - 1) < 1e-6)) {
    throw std::runtime_error("expected fractions for training, validation and test that are 1 together, found " +
                             std::to_string(options.train) + ", " + std::to_string(options.validation) + " and " +
                             std::to_string(options.test));
  }
  Splits splits;
  auto classes = shuffled_classes(texts, options.seed);
  if (options.balance == Balance::kAll) cut_to_rarest(classes);
  for (auto& [label, members] : classes) {
    const std::size_t size = members.size();
    append(splits.validation, taken(members, size, options.validation));
    append(splits.test, taken(members, size, options.test));
  }
  if (options.balance == Balance::kTrain) cut_to_rarest(classes);
  for (const auto& [label, members] : classes) append(splits.train, members);
  if (splits.train.empty()) throw std::runtime_error("nothing is left to train on: there are too few texts of a class");
  for (Members* part : {&splits.train, &splits.validation, &splits.test}) std::sort(part->begin(), part->end());
  return splits;
}

}  // namespace bert
