// Evaluation inputs: whether what is evaluated is prepared as what is trained on.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// Is it the same model's? Of several that a program has, as an encoder and a probe of it, another one may be evaluated.
bool are_of_one_kind(const Values* trained, const Values* evaluated) {
  if (trained == nullptr || evaluated == nullptr) return true;  // not known, in runs of older versions
  if (trained->size() != evaluated->size()) return false;
  bool has_same = trained->size() < 2;
  for (std::size_t i = 1; i < trained->size(); ++i) has_same = has_same || (*trained)[i] == (*evaluated)[i];
  return has_same;
}

void look_for_evaluation_preprocessing(const Case& seen, Findings& findings) {
  constexpr std::size_t kEnough = 3;
  const Values* shape = nullptr;
  Values means, deviations;
  for (const Evaluated& each : seen.history.evaluations) {
    if (!std::isfinite(each.numbers.at("eval_input", 0))) continue;
    shape = each.numbers.find("eval_input_shape");
    means.push_back(each.numbers.at("eval_input", 0));
    deviations.push_back(each.numbers.at("eval_input", 1));
  }
  Values trained_means, trained_deviations;
  for (const Snapshot& snapshot : seen.snapshots()) {
    if (!are_of_one_kind(snapshot.find("input_shape"), shape)) continue;
    trained_means.push_back(snapshot.at("input", 0));
    trained_deviations.push_back(snapshot.at("input", 1));
  }
  if (trained_means.size() < kEnough) return;
  const double mean = median(trained_means), deviation = median(trained_deviations);
  if (means.empty() || !(deviation > 1e-9)) return;
  const double other_mean = median(means), other_deviation = median(deviations);
  const double shift = std::abs(other_mean - mean) / deviation, ratio = other_deviation / deviation;
  // Batches vary among themselves: that is the yardstick.
  Values usual;
  for (const double each : trained_means) usual.push_back(std::abs(each - mean) / deviation);
  const double noise = std::max(0.02, 4 * median(usual));
  const bool shifted = shift > std::max(0.4, 4 * noise), stretched = ratio > 1.8 || ratio < 0.55;
  if (!shifted && !stretched) return;
  const bool are_numbers = seen.snapshots().empty() || std::isfinite(median_of(seen.history, "input_scales", 0)) ||
                           seen.snapshots().front().at("input_shape", 2) > 0;
  if (!are_numbers) return;
  // Noise that a model of images is fed with to draw from it is no badly prepared sample: is the evaluation worse for
  // it?
  const Symptoms& symptoms = seen.symptoms;
  const bool is_worse =
      symptoms.eval_late > 1.3 * symptoms.compared_late || symptoms.eval_accuracy < symptoms.accuracy - 0.08;
  const bool is_known = std::isfinite(symptoms.eval_late) || std::isfinite(symptoms.eval_accuracy);
  findings.push_back(
      {"evaluation_preprocessing",
       is_worse                 ? 0.9
       : is_known               ? 0.35
       : symptoms.is_classifier ? 0.6
                                : 0.45,
       fmt::format("Inputs have a mean of {} and a spread of {} in evaluation, but {} and {} in training",
                   number(other_mean), number(other_deviation), number(mean), number(deviation)),
       {fmt::format("the loss is {} in evaluation and {} in training", number(seen.symptoms.eval_late),
                    number(seen.symptoms.compared_late))},
       {},
       0,
       {}});
}

// What the program prints of its evaluation as the share of the variance that is explained, late; NaN where it does
// not.
double printed_r2(const Case& seen) {
  for (const PrintedSeries& series : seen.history.printed) {
    if (series.metric == "r2" && !series.is_of_training && !series.numbers.empty()) return series.numbers.values.back();
  }
  return kUnknown;
}

// Is the evaluation worse than the training? Nothing where that is not known.
std::optional<bool> is_evaluation_worse(const Case& seen) {
  constexpr double kTimes = 1.3, kBehind = 0.15;
  const Symptoms& symptoms = seen.symptoms;
  if (std::isfinite(symptoms.eval_late)) return symptoms.eval_late > kTimes * symptoms.compared_late;
  const double behind = symptoms.skill - printed_r2(seen);
  return std::isfinite(behind) ? std::optional(behind > kBehind) : std::nullopt;
}

// Whoever standardises samples with what another set has gets means that are off by chance. Those of an evaluation that
// are 0 to four digits are its own.
void look_for_own_statistics(const Case& seen, Findings& findings) {
  constexpr double kMinSamples = 64, kMinFeatures = 2, kMinExpected = 10;
  const Evaluated* last = nullptr;
  for (const Evaluated& each : seen.history.evaluations) {
    if (each.numbers.at("eval_standardised", 1) >= kMinFeatures) last = &each;
  }
  if (last == nullptr) return;
  const double samples = last->numbers.at("eval_standardised", 0), exact = last->numbers.at("eval_standardised", 1),
               features = last->numbers.at("eval_standardised", 2);
  // Or each batch is standardised by itself, wherever it goes.
  if (samples < kMinSamples || 2 * exact < features || median_of(seen.history, "standardised", 1) >= kMinFeatures)
    return;
  // Or the training's own samples are evaluated: of so many some would be known.
  const KnownSamples known = known_samples(seen);
  const double expected = static_cast<double>(known.evaluated) * static_cast<double>(known.trained) / samples;
  if (known.shared > 0 || expected < kMinExpected) return;
  findings.push_back(
      {"evaluation_preprocessing",
       is_evaluation_worse(seen).value_or(false) ? 0.85 : 0.5,  // it may do no harm
       "The evaluation is standardised with its own mean and deviation, not with those of the training",
       {fmt::format("{:.0f} of {:.0f} features have a mean of 0 and a deviation of 1 over the {:.0f} samples of the "
                    "evaluation, to four digits",
                    exact, features, samples)},
       {},
       0,
       {}});
}

// Of one input of the training: what each look found of its features, and what the last evaluation did.
struct FeatureLooks {
  std::vector<const Values*> training;
  const Values* evaluation = nullptr;
};

FeatureLooks features_of(const Case& seen, const std::string& name) {
  FeatureLooks looks;
  const Values* shape = nullptr;
  for (const Evaluated& each : seen.history.evaluations) {
    if (const Values* const found = each.numbers.find("eval_" + name)) {
      looks.evaluation = found;
      shape = each.numbers.find("eval_input_shape");
    }
  }
  if (looks.evaluation == nullptr) return looks;
  // Of tokens it does not matter how many a sample has.
  const bool are_tokens = median_of(seen.history, "float_inputs", name == "features" ? 0 : 1) == 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* const found = snapshot.find(name);
    if (found == nullptr || found->size() != looks.evaluation->size()) continue;
    const Values* const ours = snapshot.find("input_shape");
    const bool is_alike = ours != nullptr && shape != nullptr && !ours->empty() && ours->size() == shape->size() &&
                          std::equal(ours->begin() + 1, ours->end(), shape->begin() + 1);
    if (is_alike || are_tokens) looks.training.push_back(found);
  }
  return looks;
}

Values mean_of(const std::vector<const Values*>& looks) {
  Values mean(looks.front()->size());
  for (const Values* const look : looks) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += (*look)[i] / static_cast<double>(looks.size());
  }
  return mean;
}

// Of tokens: half the sum of what their shares differ by, 1 where none is in both.
double distance(const Values& one, const Values& other) {
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) sum += std::abs(one[i] - other[i]) / 2;
  return sum;
}

struct OtherFeatures {
  double share = 0;  // of the features that are far from where they are in training
  std::string what;
};

OtherFeatures other_tokens(const FeatureLooks& looks) {
  constexpr double kFar = 0.25, kNoise = 3;
  const Values mean = mean_of(looks.training);
  Values usual;
  for (const Values* const look : looks.training) usual.push_back(distance(*look, mean));
  const double far = distance(*looks.evaluation, mean);
  if (!(far > kFar) || !(far > kNoise * median(usual))) return {};
  return {std::min(1.0, 2 * far),
          fmt::format("{:.0f} % of the tokens or codes of the evaluation would have to be others to be as frequent as "
                      "in training; batches of the training differ by {:.0f} %",
                      100 * far, 100 * median(usual))};
}

// Far from its place in training, in units of its spread, and of how much batches differ; or of another spread.
OtherFeatures other_numbers(const FeatureLooks& looks) {
  constexpr double kFar = 0.8, kNoise = 5, kWide = 2.5, kSome = 0.1;
  const std::size_t count = looks.evaluation->size() / 2;
  const Values mean = mean_of(looks.training);
  double all = 0;
  for (std::size_t i = count; i < 2 * count; ++i) all += mean[i] * mean[i] / static_cast<double>(count);
  std::size_t far = 0, wide = 0, counted = 0;
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double between = 0;
    for (const Values* const look : looks.training)
      between += ((*look)[i] - mean[i]) * ((*look)[i] - mean[i]) / static_cast<double>(looks.training.size());
    between = std::sqrt(between);
    const double spread = std::max({mean[count + i], between, kSome * std::sqrt(all)});
    const double away = std::abs((*looks.evaluation)[i] - mean[i]);
    far += away > kFar * spread && away > kNoise * between ? 1 : 0;
    largest = std::max(largest, away / spread);
    if (!(mean[count + i] > kSome * std::sqrt(all))) continue;
    ++counted;
    const double ratio = (*looks.evaluation)[count + i] / mean[count + i];
    wide += ratio > kWide || ratio < 1 / kWide ? 1 : 0;
  }
  const double shifted = static_cast<double>(far) / static_cast<double>(count),
               stretched = counted == 0 ? 0 : static_cast<double>(wide) / static_cast<double>(counted);
  return {std::max(shifted, stretched),
          fmt::format("of {} features of the input {} lie elsewhere in evaluation than in training, by up to {} of "
                      "their spread; {} have another spread",
                      count, far, number(largest), wide)};
}

// Was the evaluation ever nearly as good as the training was then? What is badly prepared is not. Few texts, as of few
// authors, have other words than all, and are understood at first.
bool came_along(const Case& seen) {
  constexpr double kSome = 0.2, kMany = 0.4;
  const auto& losses = seen.history.losses;
  const double start = std::fmin(seen.symptoms.train.first, seen.symptoms.constant);  // what needs no understanding
  for (const Evaluated& each : seen.history.evaluations) {
    const auto next = std::upper_bound(losses.steps.begin(), losses.steps.end(), each.after_step);
    if (next == losses.steps.begin() || !std::isfinite(each.loss)) continue;
    const double gained = start - losses.values[static_cast<std::size_t>(next - losses.steps.begin()) - 1];
    if (gained > kSome * std::abs(start) && start - each.loss > kMany * gained) return true;
  }
  return false;
}

void look_for_other_features(const Case& seen, Findings& findings) {
  constexpr std::size_t kEnough = 6;
  constexpr double kSome = 0.12, kMany = 0.4, kGap = 0.2, kTimes = 2;
  const Symptoms& symptoms = seen.symptoms;
  if (symptoms.is_adversarial) return;
  const bool is_much_worse =
      symptoms.eval_late > kTimes * symptoms.compared_late || symptoms.eval_accuracy < symptoms.accuracy - kGap;
  if (!is_much_worse) return;
  for (const std::size_t input : {0, 1}) {
    const std::string name = input == 0 ? "features" : "features1";
    const FeatureLooks looks = features_of(seen, name);
    if (looks.training.size() < kEnough) continue;
    const bool are_numbers = median_of(seen.history, "float_inputs", input) > 0.5;
    const OtherFeatures other = are_numbers ? other_numbers(looks) : other_tokens(looks);
    if (!(other.share > kSome) || (!are_numbers && came_along(seen))) continue;
    findings.push_back({"evaluation_preprocessing",
                        other.share > kMany ? 0.82 : 0.7,
                        "The evaluation's inputs are not like those of the training",
                        {other.what, fmt::format("the loss is {} in evaluation and {} in training",
                                                 number(symptoms.eval_late), number(symptoms.compared_late))},
                        {},
                        0,
                        {}});
    return;
  }
}

}  // namespace

void look_at_evaluation_inputs(const Case& seen, Findings& findings) {
  if (seen.snapshots().empty()) return;
  look_for_evaluation_preprocessing(seen, findings);
  look_for_other_features(seen, findings);
  look_for_own_statistics(seen, findings);
}

}  // namespace trainwarden::diagnosis
