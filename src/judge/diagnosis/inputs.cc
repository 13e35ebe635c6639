// Inputs: what goes into the model, and whether it means what the model takes it for.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// Places in "input": mean, deviation, minimum, maximum, zeros, not finite.
constexpr std::size_t kMean = 0, kDeviation = 1, kMin = 2, kMax = 3, kNotFinite = 5;

// The samples of which the data loader's batches were seen to be bad in this way, each once, the first two; what is
// known besides comes after.
std::vector<std::string> with_samples(const Case& seen, std::string_view kind, std::vector<std::string> evidence) {
  constexpr std::size_t kMost = 2;
  std::set<std::pair<std::int64_t, std::string>> told;
  std::vector<std::string> lines;
  for (const BadBatch& batch : seen.history.bad_batches) {
    const BadSample& first = batch.samples.front();
    if (batch.kind != kind || lines.size() == kMost || !told.emplace(first.index, first.source).second) continue;
    lines.push_back(described(batch));
  }
  lines.insert(lines.end(), evidence.begin(), evidence.end());
  return lines;
}

// Batches that the examination has not seen go in: the loss shows it.
void look_for_bad_batches(const Case& seen, Findings& findings) {
  const auto& batches = seen.history.bad_batches;
  const auto bad =
      std::find_if(batches.begin(), batches.end(), [](const BadBatch& batch) { return batch.kind == "not_finite"; });
  if (bad == batches.end() || seen.symptoms.train.not_finite == 0) return;
  const auto count =
      std::count_if(batches.begin(), batches.end(), [](const BadBatch& batch) { return batch.kind == "not_finite"; });
  findings.push_back(
      {"bad_samples",
       0.9,
       fmt::format("The data loader gives values that are not numbers, first at step {}", bad->step),
       with_samples(seen, "not_finite", {fmt::format("in {} of the batches that were looked at", count)}),
       {},
       bad->step,
       {}});
}

// Are numbers that a model gets, or is to give, not finite by themselves? What a program makes of its own model's
// output, as the targets of temporal differences or the input of a discriminator, is no number once the model gives
// none: then all of it or most of it is not, whereas of data it is the part that is bad.
bool is_bad_by_itself(const Snapshot& snapshot, std::string_view what, double share) {
  constexpr double kMostly = 0.5;
  if (!(share > 0)) return false;
  const double predicted = snapshot.at("predicted", kNotFinite);
  if (what == "target" && std::isfinite(predicted)) return predicted == 0 || share < kMostly * predicted;
  const Values* const weights = snapshot.find("weight");
  const bool is_broken = weights != nullptr && std::any_of(weights->begin(), weights->end(),
                                                           [](double each) { return !std::isfinite(each); });
  return !is_broken || share < kMostly;
}

// NaN where it was not looked at.
double extent(const Snapshot& snapshot, std::string_view what) {
  return std::max(std::abs(snapshot.at(what, kMin)), std::abs(snapshot.at(what, kMax)));
}

// The largest number of all looks. A target that is large where the answer is as large may be made of that.
double peak_by_itself(const Case& seen, std::string_view what) {
  constexpr double kFollows = 0.5;
  double peak = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const double here = extent(snapshot, what);
    const bool follows = what == "target" && extent(snapshot, "predicted") > kFollows * here;
    if (here > peak && !follows) peak = here;
  }
  return peak;
}

void look_for_bad_samples(const Case& seen, Findings& findings) {
  const std::size_t before = findings.size();
  for (const char* what : {"input", "target", "input1"}) {
    std::size_t hit = 0, seen_count = 0;
    std::int64_t step = -1;
    double worst = 0;
    Values largest;
    for (const Snapshot& snapshot : seen.snapshots()) {
      const double share = snapshot.at(what, kNotFinite);
      if (!std::isfinite(share)) continue;
      ++seen_count;
      largest.push_back(extent(snapshot, what));
      if (std::string_view(what) != "input1" && is_bad_by_itself(snapshot, what, share)) {
        ++hit;
        worst = std::max(worst, share);
        if (step < 0) step = snapshot.step;
      }
    }
    if (hit > 0) {
      findings.push_back({"bad_samples",
                          0.95,
                          fmt::format("{} hold values that are not numbers, first at step {}",
                                      std::string_view(what) == "target" ? "Targets" : "Inputs", step),
                          with_samples(seen, "not_finite",
                                       {fmt::format("in {} of {} examined batches, up to {} % of a batch", hit,
                                                    seen_count, number(100 * worst))}),
                          {},
                          step,
                          {}});
      continue;
    }
    if (largest.size() < 8) continue;
    const double usual = median(largest), peak = peak_by_itself(seen, what);
    if (peak > 50 * usual && usual > 0 &&
        (seen.is_ill() || seen.symptoms.is_rough || seen.symptoms.train.peak > 5 * seen.symptoms.train.first)) {
      findings.push_back(
          {"bad_samples",
           0.8,
           fmt::format("Some {} hold values of {}, where {} is usual",
                       std::string_view(what) == "target" ? "targets" : "inputs", number(peak), number(usual)),
           with_samples(seen, "outlier", {fmt::format("the loss peaked at {}", number(seen.symptoms.train.peak))}),
           {},
           0,
           {}});
    }
  }
  if (findings.size() == before) look_for_bad_batches(seen, findings);
}

// One element has most of the spread of a whole batch: a sentinel, a wrong unit, a slip of the pen.
void look_for_lone_elements(const Case& seen, Findings& findings) {
  for (const char* what : {"input", "input1", "input2", "input3", "target"}) {
    std::size_t hit = 0, count = 0;
    double farthest = 0, other_side = 0;  // what is usual on the other side of zero
    for (const Snapshot& snapshot : seen.snapshots()) {
      const double share = snapshot.at(std::string(what) + "_peak"), zeros = snapshot.at(what, 4);
      if (!std::isfinite(share) || zeros > 0.9 || snapshot.at("input_shape", 0) < 16) continue;
      ++count;
      if (share < 0.5) continue;
      ++hit;
      farthest = std::max({farthest, std::abs(snapshot.at(what, kMin)), std::abs(snapshot.at(what, kMax))});
      other_side = std::max(other_side, std::min(std::abs(snapshot.at(what, kMin)), std::abs(snapshot.at(what, kMax))));
    }
    const Course& train = seen.symptoms.train;
    const bool hurts = seen.is_ill() || seen.symptoms.is_rough || train.peak > 3 * std::abs(train.first);
    if (count < 6 || hit * 10 < count) continue;
    // Numbers around 300, of which one is 420, are no slip.
    constexpr double kOrdinary = 3;
    if (farthest < kOrdinary * std::abs(median_of(seen.history, what, kMean))) continue;
    // In so many batches, and so far from all that is on the other side: a number that stands for a missing one.
    const bool is_mark = hit * 3 >= count && other_side > 0 && farthest > 300 * other_side;
    findings.push_back(
        {"bad_samples",
         !hurts    ? 0.45
         : is_mark ? 0.88
                   : 0.75,
         fmt::format("Single {} of up to {} outweigh all others of their batch",
                     std::string_view(what) == "target" ? "targets" : "inputs", number(farthest)),
         with_samples(
             seen, "outlier",
             {fmt::format("in {} of {} examined batches one element has more than half of the variance", hit, count),
              fmt::format("the loss peaked at {}, it began at {}", number(train.peak), number(train.first))}),
         {},
         0,
         {}});
    return;
  }
}

// Of two models that a step calls one after the other, as the towers of a contrastive training.
void look_for_constant_inputs_of_another(const Case& seen, Findings& findings) {
  const double share = median_of(seen.history, "other_input_spread", 1);
  const bool is_start = !(median_of(seen.history, "other_input", kDeviation) > 1e-6);  // of a decoder, as zeros
  if (!(share > 0.999) || is_start || !(median_of(seen.history, "input_shape", 0) >= 4)) return;
  findings.push_back({"constant_inputs",
                      0.85,
                      "All samples of a batch have the same input in the second of the models that are trained",
                      {fmt::format("{} % of its features are the same in all samples of a batch", number(100 * share))},
                      {},
                      0,
                      {}});
}

void look_for_constant_inputs(const Case& seen, Findings& findings) {
  const double share = median_of(seen.history, "input_spread", 1),
               deviation = median_of(seen.history, "input", kDeviation);
  if (!(share > 0.999) && !(deviation <= 1e-9)) return;
  const bool is_small = seen.snapshots().front().at("input_shape", 0) < 2;
  if (is_small) return;
  findings.push_back(
      {"constant_inputs",
       0.9,
       deviation <= 1e-9 ? "The inputs are all the same number" : "All samples of a batch have the same input",
       with_samples(seen, "same",
                    {fmt::format("{} % of the features are the same in all samples of a batch", number(100 * share)),
                     fmt::format("inputs have a mean of {} and a spread of {}",
                                 number(median_of(seen.history, "input", kMean)), number(deviation))}),
       {},
       0,
       {}});
}

// Most samples of each batch are one and the same, as when nearly everything was rounded away.
void look_for_samples_that_are_one(const Case& seen, Findings& findings) {
  constexpr double kMost = 0.5, kFeatures = 16, kUseful = 0.3;
  constexpr std::size_t kEnoughLooks = 3, kEnoughSamples = 8;
  if (seen.symptoms.skill > kUseful || seen.symptoms.is_adversarial) return;
  std::size_t looks = 0, empty = 0;
  double sum = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* prints = snapshot.find("row_prints");
    const Values* shape = snapshot.find("input_shape");
    if (prints == nullptr || prints->size() < kEnoughSamples || shape == nullptr) continue;
    double features = 1;
    for (std::size_t axis = 1; axis < shape->size(); ++axis) features *= (*shape)[axis];
    if (!(features >= kFeatures) || !(snapshot.at("float_inputs", 0) > 0)) continue;
    std::map<double, std::size_t> counts;
    std::size_t most = 0;
    for (const double print : *prints) {
      if (std::isfinite(print)) most = std::max(most, ++counts[print]);
    }
    ++looks;
    const double share = static_cast<double>(most) / static_cast<double>(prints->size());
    sum += share;
    empty += share >= kMost ? 1 : 0;
  }
  if (looks < kEnoughLooks || empty < looks) return;
  findings.push_back(
      {"constant_inputs",
       seen.symptoms.learns_nothing ? 0.85 : 0.6,
       fmt::format("{:.0f} % of the samples of a batch are exactly the same", 100 * sum / static_cast<double>(looks)),
       {fmt::format("in each of {} batches that were looked at", looks),
        "a conversion may have rounded what tells the samples apart to nothing"},
       {},
       0,
       {}});
}

// Of tokens: nearly all are the same, as when a vocabulary does not know the words.
void look_for_unknown_tokens(const Case& seen, Findings& findings) {
  const double count = median_of(seen.history, "symbols", 0), distinct = median_of(seen.history, "symbols", 1);
  double known = 0;
  for (const Module& module : seen.structure().modules) {
    const auto found = module.settings.find("num_embeddings");
    if (found != module.settings.end()) known = std::max(known, found->second);
  }
  if (!(count >= 64) || known < 16 || !(distinct <= 3)) return;
  findings.push_back(
      {"constant_inputs",
       0.85,
       fmt::format("The inputs hold {:.0f} different tokens, of {:.0f} that the embedding has", distinct, known),
       {fmt::format("{:.0f} tokens of a batch were looked at", count),
        "a vocabulary that knows none of the words gives one number for all"},
       {},
       0,
       {}});
}

// One feature a sample, as the time of a physical model.
bool is_column_of_numbers(const Case& seen) {
  return median_of(seen.history, "float_inputs", 0) > 0.5 && seen.snapshots().front().at("input_shape", 1) == 1;
}

// Does batch norm come before all other layers, so that it does not matter on which scale inputs are?
bool begins_with_norm(const Case& seen) {
  const auto& layers = seen.structure().layers;
  const Module* const first = layers.empty() ? nullptr : seen.structure().module(layers.front());
  return first != nullptr && contains(first->kind, "BatchNorm");
}

void look_for_input_scale(const Case& seen, Findings& findings) {
  if (begins_with_norm(seen)) return;
  const bool is_number = !(median_of(seen.history, "float_inputs", 0) < 0.5);
  double mean = is_number ? median_of(seen.history, "input", kMean) : 0,
         deviation = is_number ? median_of(seen.history, "input", kDeviation) : 0;
  if (!std::isfinite(mean) || seen.snapshots().empty()) return;
  const bool are_numbers = std::isfinite(median_of(seen.history, "input_scales", 0)) ||
                           seen.snapshots().front().at("input_shape", 2) > 0 || !is_number ||
                           is_column_of_numbers(seen);
  if (!are_numbers) return;
  const bool is_embedded = std::any_of(seen.structure().modules.begin(), seen.structure().modules.end(),
                                       [](const Module& each) { return starts_with_embedding(each.kind); });
  if (is_embedded && is_number && !std::isfinite(median_of(seen.history, "input_scales", 0))) return;
  double size = std::max(deviation, std::abs(mean));
  for (std::size_t other = 1; other < 4; ++other) {
    if (!(median_of(seen.history, "float_inputs", other) > 0.5)) continue;
    const std::string name = fmt::format("input{}", other);
    const double far = std::abs(median_of(seen.history, name, kMean)), wide = median_of(seen.history, name, kDeviation);
    if (std::max(far, wide) > size) size = std::max(far, wide), mean = far, deviation = wide;
  }
  const double widest = median_of(seen.history, "input_scales", 0),
               narrowest = median_of(seen.history, "input_scales", 1);
  // Before the first step the model answers as if the targets were as large as the inputs.
  const Snapshot& first = seen.snapshots().front();
  const bool begins_far = first.at("predicted", 1) > 30 * std::max(1.0, first.at("target", 1));
  // A loss of the program's own, whose yardstick is not known, and which inputs far off have made absurd.
  constexpr double kFarOff = 1000, kAbsurd = 20, kFallen = 5;
  const bool is_absurd = size > kFarOff && !std::isfinite(seen.symptoms.skill) && seen.symptoms.train.first > kAbsurd &&
                         seen.symptoms.train.first > kFallen * seen.symptoms.train.late;
  const bool ill = seen.is_ill() || !seen.symptoms.learns_well || seen.symptoms.skill < 0.6 || begins_far ||
                   is_absurd || seen.symptoms.train.first > 3 * seen.symptoms.constant;
  if (size > 15) {
    findings.push_back({"input_scale",
                        !ill        ? 0.35
                        : size > 60 ? 0.88
                                    : 0.75,
                        fmt::format("Inputs are on a scale of {}: they have a mean of {} and a spread of {}",
                                    number(size), number(mean), number(deviation)),
                        seen.course(),
                        {},
                        0,
                        {}});
  } else if (widest > 100 * narrowest && widest > 10) {
    findings.push_back({"input_scale",
                        ill ? 0.8 : 0.4,
                        fmt::format("Features are on very different scales: their spreads go from {} to {}",
                                    number(narrowest), number(widest)),
                        seen.course(),
                        {},
                        0,
                        {}});
  } else if (size < 0.01 && size > 0 && ill) {
    findings.push_back(
        {"input_scale",
         0.75,
         fmt::format("Inputs are tiny: they have a mean of {} and a spread of {}", number(mean), number(deviation)),
         seen.course(),
         {},
         0,
         {}});
  }
}

// Images and signals are smooth: neighbours are alike. Where what lies two to four places apart is more alike than
// neighbours, axes were mixed up.
void look_for_mixed_axes(const Case& seen, Findings& findings) {
  const double next = median_of(seen.history, "neighbours", 0);
  double other = -1, third = -1;  // the largest, and the one below it
  std::size_t lag = 0;
  for (std::size_t i = 1; i < 4; ++i) {
    const double here = median_of(seen.history, "neighbours", i);
    third = std::max(third, std::min(here, other));
    if (here > other) other = here, lag = i + 1;
  }
  const double axis = median_of(seen.history, "input_shape", 1), rows = median_of(seen.history, "neighbours", 4);
  // Smooth from left to right and not from top to bottom, by pixels of three channels each.
  const bool is_comb = lag == 3 && axis == 3 && next > 0.3 && rows < 0.25 * next && other > third + 0.08;
  if (!std::isfinite(next) || !(other > next + 0.15 || is_comb)) return;
  // Of images with noise little is left, but it lies as far apart as there are channels.
  const bool is_of_channels =
      lag == 3 && median_of(seen.history, "input_shape", 1) == 3 && other > 0.12 && other > third + 0.12;
  if (other < 0.3 && !is_of_channels) return;
  // Else it may be a texture that repeats itself; so it is where rows that follow each other are as alike.
  const bool is_of_the_axis =
      axis >= 2 && std::fmod(static_cast<double>(lag), axis) == 0 && !(rows > 0.3 && rows > 0.8 * next);
  findings.push_back({"inputs_scrambled",
                      is_of_the_axis ? 0.8 : 0.4,
                      fmt::format("Elements of the input that lie {} apart are more alike than neighbours: axes were "
                                  "mixed up, as by reshape() in place of permute()",
                                  lag),
                      {fmt::format("their correlation is {:.2f}, that of neighbours {:.2f}", other, next)},
                      {},
                      0,
                      {}});
}

// Where the axes of samples and of time were mixed up by reshape(), what lies as far apart as there are samples is what
// followed each other.
void look_for_mixed_samples(const Case& seen, Findings& findings) {
  const double near = median_of(seen.history, "batch_order", 0), far = median_of(seen.history, "batch_order", 1);
  if (!(far > 0.5) || !(far > near + 0.3)) return;
  findings.push_back({"inputs_scrambled",
                      0.85,
                      "The rows of the input mix samples: their axes were exchanged by reshape() in place of permute()",
                      {fmt::format("elements that lie as far apart as there are samples have a correlation of {:.2f}, "
                                   "neighbours in a row one of {:.2f}",
                                   far, near)},
                      {},
                      0,
                      {}});
}

// Batches are of one size, and the longest of their sequences is not.
bool does_only_the_second_vary(const Case& seen) {
  constexpr std::size_t kEnough = 3;
  std::set<double> firsts, seconds;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const double first = snapshot.at("recurrent_axes", 1);
    if (!std::isfinite(first)) continue;
    firsts.insert(first);
    seconds.insert(snapshot.at("recurrent_axes", 2));
  }
  return firsts.size() == 1 && seconds.size() >= kEnough;
}

// A recurrent layer that takes time first got the batch first: it runs over the samples.
void look_for_recurrence_over_samples(const Case& seen, Findings& findings) {
  const double batch_first = median_of(seen.history, "recurrent_axes", 0),
               first = median_of(seen.history, "recurrent_axes", 1),
               second = median_of(seen.history, "recurrent_axes", 2);
  if (!(batch_first == 0) || seen.structure().compared.empty()) return;
  const std::vector<std::int64_t>& target = seen.structure().compared.front().target;
  if (target.empty() || first == second) return;
  const bool has_target_of_each = static_cast<double>(target.front()) == first,
             varies = does_only_the_second_vary(seen);
  if (!has_target_of_each && !varies) return;
  // Targets with both axes may have time first, too.
  const bool has_both = target.size() >= 2 && static_cast<double>(target[1]) == second;
  findings.push_back({"inputs_scrambled",
                      has_both && !varies ? 0.45 : 0.88,
                      fmt::format("A recurrent layer with batch_first=False gets the {} samples of the batch as its "
                                  "steps in time",
                                  first),
                      {has_target_of_each ? fmt::format("it gives [{}, {}, ...], and there are {} targets", first,
                                                        second, target.front())
                                          : "of what it gives the first axis has the same size in each batch, and "
                                            "the second one another"},
                      {},
                      0,
                      {}});
}

// What a recurrent layer gave for places past the end of a sequence is zeros; whoever takes the last place of all
// sequences takes those of the shorter ones.
void look_for_rows_past_the_end(const Case& seen, Findings& findings) {
  constexpr double kMany = 0.1;
  const auto& modules = seen.structure().modules;
  const bool has_recurrence = std::any_of(modules.begin(), modules.end(), [](const Module& module) {
    return module.kind == "LSTM" || module.kind == "GRU" || module.kind == "RNN";
  });
  const double share = median_of(seen.history, "empty_rows");
  // All of them, as a state that begins with zeros, are none behind an end: the longest sequence has none.
  if (!has_recurrence || !(share > kMany) || share == 1) return;
  findings.push_back({"inputs_scrambled",
                      0.88,
                      fmt::format("A linear layer gets nothing but zeros for {:.0f} % of the samples: the place behind "
                                  "the end of their sequences",
                                  100 * share),
                      {"take what the recurrent layer gives at the last place of each sequence, or its final state"},
                      {},
                      0,
                      {}});
}

}  // namespace

void look_at_inputs(const Case& seen, Findings& findings) {
  if (seen.snapshots().empty()) return;
  look_for_bad_samples(seen, findings);
  look_for_lone_elements(seen, findings);
  look_for_constant_inputs(seen, findings);
  look_for_constant_inputs_of_another(seen, findings);
  look_for_samples_that_are_one(seen, findings);
  look_for_unknown_tokens(seen, findings);
  look_for_input_scale(seen, findings);
  look_for_mixed_axes(seen, findings);
  look_for_mixed_samples(seen, findings);
  look_for_recurrence_over_samples(seen, findings);
  look_for_rows_past_the_end(seen, findings);
}

}  // namespace trainwarden::diagnosis
