// Data: what reaches the model, and whether it fits what it is to learn.
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
      largest.push_back(std::max(std::abs(snapshot.at(what, kMin)), std::abs(snapshot.at(what, kMax))));
      if (share > 0 && std::string_view(what) != "input1") {
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
    const double usual = median(largest), peak = *std::max_element(largest.begin(), largest.end());
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
    double farthest = 0;
    for (const Snapshot& snapshot : seen.snapshots()) {
      const double share = snapshot.at(std::string(what) + "_peak"), zeros = snapshot.at(what, 4);
      if (!std::isfinite(share) || zeros > 0.9 || snapshot.at("input_shape", 0) < 16) continue;
      ++count;
      if (share < 0.5) continue;
      ++hit;
      farthest = std::max({farthest, std::abs(snapshot.at(what, kMin)), std::abs(snapshot.at(what, kMax))});
    }
    const Course& train = seen.symptoms.train;
    const bool hurts = seen.is_ill() || seen.symptoms.is_rough || train.peak > 3 * std::abs(train.first);
    if (count < 6 || hit * 10 < count) continue;
    findings.push_back(
        {"bad_samples",
         hurts ? 0.75 : 0.45,
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

// The program sets the same seed again and again, so that "random" means the same each time.
void look_for_seeds(const Case& seen, Findings& findings) {
  std::size_t looks = 0, same = 0;
  double first = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    if (snapshot.step < 1) continue;
    ++looks;
    const double seed = snapshot.at("seeds", 1);
    if (!(snapshot.at("seeds", 0) >= 1)) continue;
    if (same == 0) first = seed;
    same += seed == first ? 1 : 0;
  }
  if (looks >= 6 && same >= 4 && same * 10 < looks * 8) {
    findings.push_back(
        {"random_state_repeated",
         same * 5 >= looks ? 0.7 : 0.6,  // an evaluation may be to draw the same each time
         fmt::format("The program sets the seed {} again and again while it trains", number(first)),
         {fmt::format("before {} of {} looked-at steps: what is drawn at random repeats from there", same, looks)},
         {},
         1,
         {}});
    return;
  }
  if (looks < 4 || same * 10 < looks * 8) return;
  findings.push_back({"random_state_repeated",
                      0.88,
                      fmt::format("The program sets the seed {} again in each step", number(first)),
                      {fmt::format("at {} of {} looked-at steps after the first", same, looks)},
                      {},
                      1,
                      {}});
}

void look_for_input_scale(const Case& seen, Findings& findings) {
  const double mean = median_of(seen.history, "input", kMean), deviation = median_of(seen.history, "input", kDeviation);
  if (!std::isfinite(mean) || seen.snapshots().empty()) return;
  const bool are_numbers =
      std::isfinite(median_of(seen.history, "input_scales", 0)) || seen.snapshots().front().at("input_shape", 2) > 0;
  if (!are_numbers) return;
  const bool is_embedded = std::any_of(seen.structure().modules.begin(), seen.structure().modules.end(),
                                       [](const Module& each) { return starts_with_embedding(each.kind); });
  if (is_embedded && !std::isfinite(median_of(seen.history, "input_scales", 0))) return;
  const double size = std::max(deviation, std::abs(mean));
  const double widest = median_of(seen.history, "input_scales", 0),
               narrowest = median_of(seen.history, "input_scales", 1);
  const bool ill = seen.is_ill() || !seen.symptoms.learns_well || seen.symptoms.skill < 0.6 ||
                   seen.symptoms.train.first > 3 * seen.symptoms.constant;
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

void look_for_evaluation_preprocessing(const Case& seen, Findings& findings) {
  Values means, deviations;
  for (const Evaluated& each : seen.history.evaluations) {
    if (std::isfinite(each.numbers.at("eval_input", kMean)))
      means.push_back(each.numbers.at("eval_input", kMean)),
          deviations.push_back(each.numbers.at("eval_input", kDeviation));
  }
  const double mean = median_of(seen.history, "input", kMean), deviation = median_of(seen.history, "input", kDeviation);
  if (means.empty() || !(deviation > 1e-9)) return;
  const double other_mean = median(means), other_deviation = median(deviations);
  const double shift = std::abs(other_mean - mean) / deviation, ratio = other_deviation / deviation;
  // Batches vary among themselves: that is the yardstick.
  Values usual;
  for (const Snapshot& snapshot : seen.snapshots())
    usual.push_back(std::abs(snapshot.at("input", kMean) - mean) / deviation);
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

void look_for_repeated_batches(const Case& seen, Findings& findings) {
  std::map<double, std::size_t> times;
  for (const auto& [step, print] : seen.history.prints) ++times[print];
  const std::size_t count = seen.history.prints.size();
  if (count < 8) return;
  std::size_t in_row = 0;
  for (std::size_t i = 1; i < count; ++i)
    in_row += seen.history.prints[i].second == seen.history.prints[i - 1].second ? 1 : 0;
  if (times.size() == 1) {
    const bool evaluates = seen.symptoms.evaluations > 0;
    findings.push_back(
        {"same_batch_repeated",
         evaluates && (seen.symptoms.eval_late > 2 * seen.symptoms.compared_late ||
                       seen.symptoms.eval_accuracy < seen.symptoms.accuracy - 0.3)
             ? 0.8
             : 0.45,
         fmt::format("All {} looked-at steps trained on the same batch", count),
         {fmt::format("{} fingerprints of batches, {} of them different", count, times.size())},
         evaluates ? std::vector<std::string>() : std::vector<std::string>{"full-batch training looks the same"},
         1,
         {}});
  } else if (in_row * 10 > count * 8 || (times.size() <= 3 && count >= 30)) {
    const bool is_bad = seen.symptoms.eval_late > 2 * seen.symptoms.compared_late;
    findings.push_back({"same_batch_repeated",
                        is_bad ? 0.6 : 0.4,
                        fmt::format("The same {} batches come again and again", times.size()),
                        {fmt::format("{} fingerprints of batches, {} of them different", count, times.size())},
                        {},
                        1,
                        {}});
  }
}

void look_for_order(const Case& seen, Findings& findings) {
  const double repeats = median_of(seen.history, "repeats");
  Values labels_sum;
  std::size_t pure = 0, batches = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* labels = snapshot.find("labels");
    if (labels == nullptr) continue;
    double total = 0, largest = 0;
    labels_sum.resize(std::max(labels_sum.size(), labels->size()));
    for (std::size_t i = 0; i < labels->size(); ++i)
      total += (*labels)[i], largest = std::max(largest, (*labels)[i]), labels_sum[i] += (*labels)[i];
    if (total < 8) continue;
    ++batches;
    pure += largest > 0.95 * total ? 1 : 0;
  }
  if (batches < 4) return;
  double total = 0, largest = 0;
  for (const double each : labels_sum) total += each, largest = std::max(largest, each);
  const double majority = largest / total;
  if (pure * 10 > batches * 6 && majority < 0.8) {
    findings.push_back(
        {"data_not_shuffled",
         0.92,
         "The samples come sorted: most batches hold one class only",
         {fmt::format(
             "{} of {} examined batches hold one class alone, although no class has more than {:.0f} % of the labels",
             pure, batches, 100 * majority)},
         {},
         0,
         {}});
  } else if (repeats > 0.9 && majority < 0.7) {
    findings.push_back({"data_not_shuffled",
                        0.75,
                        "The samples come sorted by class",
                        {fmt::format("{:.0f} % of the samples have the label of the one before", 100 * repeats)},
                        {},
                        0,
                        {}});
  }
}

void look_for_imbalance(const Case& seen, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  if (!(symptoms.majority > 0.85) || symptoms.majority > 0.9995 || symptoms.is_adversarial) return;
  const bool reconstructs = median_of(seen.history, "target_is_input") > 0.95;
  if (reconstructs) return;
  const std::size_t count = seen.snapshots().size();
  const double share = median_of(seen.history, "top_share", 0, count - std::min<std::size_t>(count, 3));
  const bool no_better = symptoms.accuracy < symptoms.majority + 0.2 * (1 - symptoms.majority);
  // What was seen at the beginning alone says nothing: all models begin so.
  const bool is_seen_late = count > 0 && 2 * seen.snapshots().back().step >= symptoms.steps;
  const bool gives_one = share > 0.98 && no_better && !(symptoms.skill > 0.5) && is_seen_late;
  findings.push_back(
      {"class_imbalance",
       gives_one                            ? 0.85
       : no_better && !symptoms.learns_well ? 0.6
                                            : 0.3,
       fmt::format("{:.0f} % of the labels are of one class, and the model gives that for {:.0f} % of the samples",
                   100 * symptoms.majority, 100 * share),
       {fmt::format("accuracy {:.3f}, that of always giving the largest class {:.3f}", symptoms.accuracy,
                    symptoms.majority)},
       {},
       0,
       {}});
}

// Images and signals are smooth: neighbours are alike. Where what lies two to four places apart is more alike than
// neighbours, axes were mixed up.
void look_for_mixed_axes(const Case& seen, Findings& findings) {
  const double next = median_of(seen.history, "neighbours", 0);
  double other = -1;
  std::size_t lag = 0;
  for (std::size_t i = 1; i < 4; ++i) {
    const double here = median_of(seen.history, "neighbours", i);
    if (here > other) other = here, lag = i + 1;
  }
  if (!std::isfinite(next) || !(other > next + 0.15) || other < 0.3) return;
  findings.push_back({"inputs_scrambled",
                      0.8,
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

// A recurrent layer that takes time first got the batch first: it runs over the samples.
void look_for_recurrence_over_samples(const Case& seen, Findings& findings) {
  const double batch_first = median_of(seen.history, "recurrent_axes", 0),
               first = median_of(seen.history, "recurrent_axes", 1),
               second = median_of(seen.history, "recurrent_axes", 2);
  if (!(batch_first == 0) || seen.structure().compared.empty()) return;
  const std::vector<std::int64_t>& target = seen.structure().compared.front().target;
  if (target.empty() || static_cast<double>(target.front()) != first || first == second) return;
  findings.push_back({"inputs_scrambled",
                      0.88,
                      fmt::format("A recurrent layer with batch_first=False gets the {} samples of the batch as its "
                                  "steps in time",
                                  first),
                      {fmt::format("it gives [{}, {}, ...], and there are {} targets", first, second, target.front())},
                      {},
                      0,
                      {}});
}

// What is left when the machinery works and nothing is learned: inputs and answers do not belong together.
void look_for_misalignment(const Case& seen, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  if (!std::isfinite(symptoms.skill) || symptoms.train.count < 30 || symptoms.has_diverged) return;
  if (symptoms.is_adversarial) return;
  // The machinery works: weights have moved far, and the loss has come down to the constant answer and stays there.
  double moved = 0;
  const auto& snapshots = seen.snapshots();
  Values updates;
  for (const Snapshot& snapshot : snapshots) {
    const Values* update = snapshot.find("update");
    const Values* weight = snapshot.find("weight");
    if (update == nullptr || weight == nullptr) continue;
    Values ratios;
    for (std::size_t i = 0; i < std::min(update->size(), weight->size()); ++i) {
      if ((*weight)[i] > 1e-9) ratios.push_back((*update)[i] / (*weight)[i]);
    }
    updates.push_back(median(ratios));
  }
  const double ratio = median(updates);
  moved = ratio * std::sqrt(static_cast<double>(symptoms.steps));
  const bool falls = symptoms.train.trend > 2.5 && symptoms.skill > 0.035;  // slowly, but it learns
  const bool works = moved > 0.01 && ratio < 0.1 && !falls;
  // Where the evaluation is no better, either, a little more than nothing is next to nothing.
  const bool is_stuck = symptoms.learns_nothing || (symptoms.train.trend < 2 && symptoms.is_seen_late &&
                                                    !(symptoms.eval_late < 0.9 * symptoms.constant));
  if (is_stuck && works && std::abs(symptoms.skill) < 0.12) {
    const double order = median_of(seen.history, "neighbours", 0);
    findings.push_back({"inputs_scrambled",
                        std::abs(order) < 0.15 ? 0.5 : 0.4,
                        "The model trains as it should and still knows no more than the best constant answer: its "
                        "inputs may not mean what it takes them for",
                        seen.course(),
                        {},
                        0,
                        {}});
    const bool attends = std::any_of(seen.structure().modules.begin(), seen.structure().modules.end(),
                                     [](const Module& each) { return contains(lower_case(each.kind), "attention"); });
    if (attends) {
      findings.push_back(
          {"attention_mask",
           0.45,
           "The model trains as it should and still learns nothing: its attention may not see what it must",
           seen.course(),
           {},
           0,
           {}});
    }
    findings.push_back({"label_noise",
                        0.42,
                        "The model trains as it should and still learns next to nothing: many labels may be wrong",
                        seen.course(),
                        {},
                        0,
                        {}});
    findings.push_back({"labels_misaligned",
                        0.5,
                        "The model trains as it should and still knows no more than the best constant answer: labels "
                        "and inputs do not belong together",
                        seen.course(),
                        {},
                        0,
                        {}});
  }
  const bool learns_by_heart = symptoms.skill > 0.3 && symptoms.eval_late > 1.25 * symptoms.constant &&
                               symptoms.eval_best > 0.93 * symptoms.constant &&
                               !(symptoms.eval_accuracy_best > symptoms.majority + 0.1);
  if (learns_by_heart) {
    findings.push_back(
        {"labels_misaligned",
         0.6,
         "The model learns its training data by heart, and nothing of it holds for the evaluation: labels and inputs "
         "do not belong together",
         {fmt::format("the loss is {} in training and {} in evaluation, where it was never better than {}",
                      number(symptoms.compared_late), number(symptoms.eval_late), number(symptoms.eval_best)),
          seen.course().back()},
         {},
         0,
         {}});
  }
}

void look_for_leak(const Case& seen, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  if (!(symptoms.skill > 0.995) || symptoms.steps < 20 || symptoms.train.count < 20) return;
  // How early was it as good as solved?
  std::size_t at = 0;
  const auto& values = seen.history.losses.values;
  while (at < values.size() && values[at] > 0.05 * symptoms.constant) ++at;
  if (at >= values.size()) return;
  const double share = static_cast<double>(at) / static_cast<double>(values.size());
  if (share > 0.15) return;
  findings.push_back({"target_leak",
                      0.35,
                      fmt::format("The task is as good as solved at step {} of {}: the answer may be in the inputs",
                                  seen.history.losses.steps[at], symptoms.steps),
                      seen.course(),
                      {},
                      seen.history.losses.steps[at],
                      {}});
}

// One feature that says as much as the target.
void look_for_telling_feature(const Case& seen, Findings& findings) {
  const double telling = median_of(seen.history, "telling", 0);
  if (!(telling > 0.985)) return;
  findings.push_back(
      {"target_leak",
       0.85,
       fmt::format("Feature {} of the input is the target in disguise", number(median_of(seen.history, "telling", 1))),
       {fmt::format("their correlation is {:.3f} in the median batch", telling)},
       {},
       0,
       {}});
}

// A decoder that is taught by the tokens before gets the answers one place on; one that gets them where they stand has
// but to copy them.
void look_for_unshifted_answers(const Case& seen, Findings& findings) {
  const double same = median_of(seen.history, "fed", 0), shifted = median_of(seen.history, "fed", 1);
  if (!(same > 0.97) || !(shifted < 0.6)) return;
  findings.push_back({"target_leak",
                      seen.symptoms.skill > 0.9 ? 0.9 : 0.8,
                      "The model is fed the very tokens that it must predict: they are not shifted",
                      {fmt::format("{:.0f} % of the targets are what an embedding gets at the same place", 100 * same)},
                      {},
                      0,
                      seen.place("loss")});
}

// Models of sequences: what a target is to its input.
void look_for_shifts(const Case& seen, Findings& findings) {
  Values matches;
  for (std::size_t i = 0; i < 4; ++i) matches.push_back(median_of(seen.history, "shift_match", i));
  if (!std::isfinite(matches[0])) return;
  const auto best = static_cast<std::size_t>(std::max_element(matches.begin(), matches.end()) - matches.begin());
  if (matches[best] < 0.97) return;
  if (best == 0 && seen.symptoms.skill > 0.9) {
    findings.push_back({"target_leak",
                        0.6,
                        "Each target is the token at the same place of the input, so the model has only to copy",
                        {fmt::format("{:.0f} % of the targets equal the input there", 100 * matches[0])},
                        {},
                        0,
                        seen.place("loss")});
  } else if (best >= 2) {
    findings.push_back(
        {"labels_misaligned",
         0.9,
         fmt::format("Targets are shifted {} times against the input: each is the token {} places on", best, best),
         {fmt::format("{:.0f} % of them equal the input there", 100 * matches[best])},
         {},
         0,
         seen.place("loss")});
  } else if (best == 1 && seen.symptoms.skill > 0.97) {
    findings.push_back(
        {"attention_mask",
         0.65,
         "The next token is predicted nearly without error: the model may see it, as without a causal mask",
         seen.course(),
         {},
         0,
         {}});
  }
}

}  // namespace

void look_at_data(const Case& seen, Findings& findings) {
  if (seen.snapshots().empty()) return;
  look_for_bad_samples(seen, findings);
  look_for_lone_elements(seen, findings);
  look_for_constant_inputs(seen, findings);
  look_for_unknown_tokens(seen, findings);
  look_for_seeds(seen, findings);
  look_for_input_scale(seen, findings);
  look_for_evaluation_preprocessing(seen, findings);
  look_for_repeated_batches(seen, findings);
  look_for_order(seen, findings);
  look_for_imbalance(seen, findings);
  look_for_mixed_axes(seen, findings);
  look_for_mixed_samples(seen, findings);
  look_for_recurrence_over_samples(seen, findings);
  look_for_misalignment(seen, findings);
  look_for_leak(seen, findings);
  look_for_telling_feature(seen, findings);
  look_for_shifts(seen, findings);
  look_for_unshifted_answers(seen, findings);
}

}  // namespace trainwarden::diagnosis
