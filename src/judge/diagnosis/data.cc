// Data: labels, batches and what is to be learned of them, against what the model gets.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/graph_walk.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// What is sorted at the beginning alone is a curriculum.
bool is_mixed_later(std::size_t pure_later, std::size_t later) {
  constexpr std::size_t kEnough = 3, kFew = 2;
  return (later >= kEnough && pure_later * 10 <= later * 6) || (later >= kFew && pure_later == 0);
}

// While a training runs, its first batches alone do not tell a curriculum from data that stay sorted.
bool is_too_early(const Case& seen) {
  constexpr std::int64_t kMinSteps = 100;
  return !seen.history.has_ended && seen.symptoms.steps < kMinSteps;
}

bool is_past_a_third(const Case& seen, const Snapshot& snapshot) {
  return 3 * snapshot.step > seen.symptoms.steps;
}

// Batches of one or two classes only, and other ones later on: the looks may all be of the begin and the end of the
// data.
bool do_classes_follow_each_other(const Case& seen) {
  constexpr double kFew = 0.95, kSame = 0.05, kMinSamples = 16;
  constexpr std::size_t kEnough = 4;
  std::vector<Values> shares;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* const labels = snapshot.find("labels");
    if (labels == nullptr || labels->size() < 3) continue;
    double total = 0;
    for (const double each : *labels) total += each;
    if (!(total >= kMinSamples) || !std::isfinite(total)) continue;
    Values share = *labels;
    for (double& each : share) each /= total;
    Values sorted = share;
    std::sort(sorted.rbegin(), sorted.rend());
    if (sorted[0] + sorted[1] < kFew) return false;
    if (!shares.empty() && shares.front().size() != share.size()) return false;
    shares.push_back(std::move(share));
  }
  if (shares.size() < kEnough) return false;
  double same = 0;
  for (std::size_t i = 0; i < shares.front().size(); ++i) same += std::min(shares.front()[i], shares.back()[i]);
  return same < kSame;
}

void look_for_order(const Case& seen, Findings& findings) {
  const double repeats = median_of(seen.history, "repeats");
  Values labels_sum;
  std::size_t pure = 0, batches = 0, pure_later = 0, later = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* labels = snapshot.find("labels");
    if (labels == nullptr) continue;
    double total = 0, largest = 0;
    labels_sum.resize(std::max(labels_sum.size(), labels->size()));
    for (std::size_t i = 0; i < labels->size(); ++i)
      total += (*labels)[i], largest = std::max(largest, (*labels)[i]), labels_sum[i] += (*labels)[i];
    if (total < 8) continue;
    const bool is_pure = largest > 0.95 * total;
    ++batches;
    pure += is_pure ? 1 : 0;
    if (!is_past_a_third(seen, snapshot)) continue;
    ++later;
    pure_later += is_pure ? 1 : 0;
  }
  if (batches < 4 || is_mixed_later(pure_later, later) || is_too_early(seen)) return;
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
  } else if (do_classes_follow_each_other(seen)) {
    findings.push_back(
        {"data_not_shuffled",
         0.88,
         "The samples come sorted: batches hold one or two classes only, and later ones others",
         {fmt::format("of {} examined batches the last one has none of the classes of the first", batches)},
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

// The same of targets that are 0 or 1: batches of one of them only, where a batch of samples at random has both.
void look_for_order_of_binary(const Case& seen, Findings& findings) {
  constexpr double kMany = 0.6, kByChance = 0.05, kMinSamples = 8;
  constexpr std::size_t kMinLooks = 4;
  std::size_t pure = 0, batches = 0, ones = 0, pure_later = 0, later = 0;
  double sum = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const double mean = snapshot.at("target", 0), low = snapshot.at("target", 2), high = snapshot.at("target", 3);
    if (!std::isfinite(mean)) continue;
    if (low < 0 || high > 1 || (low != high && (low != 0 || high != 1))) return;  // other numbers
    ++batches;
    sum += mean;
    pure += low == high ? 1 : 0;
    ones += low == 1 ? 1 : 0;
    if (!is_past_a_third(seen, snapshot)) continue;
    ++later;
    pure_later += low == high ? 1 : 0;
  }
  if (is_mixed_later(pure_later, later) || is_too_early(seen)) return;
  const double samples = median_of(seen.history, "input_shape", 0);
  if (batches < kMinLooks || samples < kMinSamples || ones == 0 || ones == pure || seen.symptoms.is_adversarial) return;
  const double share = sum / static_cast<double>(batches), larger = std::max(share, 1 - share);
  if (static_cast<double>(pure) < kMany * static_cast<double>(batches) || std::pow(larger, samples) > kByChance) return;
  findings.push_back({"data_not_shuffled",
                      0.9,
                      "The samples come sorted: most batches hold one class only",
                      {fmt::format("{} of {} examined batches have targets of 0 alone or of 1 alone, although {:.0f} % "
                                   "of those that were looked at are 1",
                                   pure, batches, 100 * share)},
                      {},
                      0,
                      {}});
}

void look_for_imbalance(const Case& seen, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  if (!(symptoms.majority > 0.85) || symptoms.majority > 0.9995 || symptoms.is_adversarial || seen.reconstructs())
    return;
  const std::size_t count = seen.snapshots().size();
  // Classes that weigh differently in the loss are what is done about it.
  const double plain = median_of(seen.history, "plain_loss") / median_of(seen.history, "compared_loss");
  const bool is_weighted = std::abs(plain - 1) > 0.02;
  const double share = median_of(seen.history, "top_share", 0, count - std::min<std::size_t>(count, 3));
  const bool no_better = symptoms.accuracy < symptoms.majority + 0.2 * (1 - symptoms.majority);
  // What was seen at the beginning alone says nothing: all models begin so.
  const auto is_late = [&](std::int64_t step) { return 2 * step >= symptoms.steps; };
  const bool is_seen_late = count > 0 && is_late(seen.snapshots().back().step);
  const bool is_evaluated_late =
      !seen.history.evaluations.empty() && is_late(seen.history.evaluations.back().after_step);
  // An evaluation of other shares shows it, though the training's own answers are nearly all right.
  const bool fails =
      share > 0.98 && symptoms.eval_accuracy < symptoms.majority - 0.2 && (is_seen_late || is_evaluated_late);
  // One that tells the samples apart and finds none of them more likely than not has learned what there is to learn.
  const bool is_ruined = symptoms.train.not_finite > 0 || symptoms.train.late > 100 * std::abs(symptoms.train.first);
  const bool gives_one = !is_ruined &&  // after which a model gives anything
                         (fails || (share > 0.98 && no_better && !(symptoms.skill > 0.12) && is_seen_late));
  findings.push_back(
      {"class_imbalance",
       is_weighted                          ? 0.3
       : gives_one                          ? 0.85
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

// What is left when the machinery works and nothing is learned: inputs and answers do not belong together.
void look_for_misalignment(const Case& seen, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  if (!std::isfinite(symptoms.skill) || symptoms.train.count < 30 || symptoms.has_diverged) return;
  // Who reconstructs the input has no labels.
  if (symptoms.is_adversarial || seen.reconstructs()) return;
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
  const bool gives_one =
      symptoms.majority > 0.85 && !(symptoms.accuracy < symptoms.majority);  // one class fits nearly all
  if (learns_by_heart && !gives_one) {
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

// Is the target yes or no?
bool is_yes_or_no(const Case& seen) {
  const auto& compared = seen.structure().compared;
  return seen.symptoms.classes == 2 || (!compared.empty() && contains(compared.front().function, "binary"));
}

// One feature that says as much as the target.
void look_for_telling_feature(const Case& seen, Findings& findings) {
  constexpr double kMarks = 1, kSeries = 2;  // what was compared
  const double telling = median_of(seen.history, "telling", 0), kind = median_of(seen.history, "telling", 2);
  const bool is_series = kind == kSeries;  // whose next value is much like the last one
  // The numbers of a few classes are no quantity: that one of several features rises with them happens by chance.
  const bool are_few_classes = seen.symptoms.classes == 3 || seen.symptoms.classes == 4;
  // In a handful of samples a feature that is good may look like one that is perfect.
  constexpr double kHandful = 16;
  const bool is_handful = median_of(seen.history, "input_shape", 0) < kHandful;
  const std::string feature = number(median_of(seen.history, "telling", 1));
  if (!(telling > (is_series ? 0.9998 : are_few_classes || is_handful ? 0.9995 : 0.985))) {
    // Of yes or no a single honest feature seldom says nearly all.
    if (!(telling > 0.9) || kind == kMarks || is_series || is_handful || !is_yes_or_no(seen)) return;
    findings.push_back({"target_leak",
                        0.55,
                        fmt::format("Feature {} of the input says nearly all that there is to know of the target: was "
                                    "it known before the target was?",
                                    feature),
                        {fmt::format("their correlation is {:.3f} in the median batch", telling)},
                        {},
                        0,
                        {}});
    return;
  }
  findings.push_back(
      {"target_leak",
       is_series ? 0.9 : 0.85,
       is_series        ? "The value to predict is in the series that the model gets"
       : kind == kMarks ? fmt::format("Whether feature {} of the input is filled in is the target in disguise", feature)
                        : fmt::format("Feature {} of the input is the target in disguise", feature),
       {fmt::format("their correlation is {:.4f} in the median batch", telling)},
       {},
       0,
       {}});
}

// A decoder that is taught by the tokens before gets the answers one place on; one that gets them where they stand has
// but to copy them.
void look_for_unshifted_answers(const Case& seen, Findings& findings) {
  const double same = median_of(seen.history, "fed", 0), shifted = median_of(seen.history, "fed", 1);
  // Of those that a decoder gets one place on, some may be dropped.
  if (!(same > 0.97) || !(shifted < 0.35)) return;
  findings.push_back({"target_leak",
                      seen.symptoms.skill > 0.9 ? 0.9 : 0.8,
                      "The model is fed the very tokens that it must predict: they are not shifted",
                      {fmt::format("{:.0f} % of the targets are what an embedding gets at the same place", 100 * same)},
                      {},
                      0,
                      seen.place("loss")});
}

// A model of series whose targets are the very numbers that it gets, at the same places: windows that are cut one step
// too late. One that squeezes a series and gives it back is seldom as exact.
void look_for_copied_series(const Case& seen, Findings& findings) {
  constexpr double kExact = 0.99, kSame = 0.97;
  constexpr double kMinLength = 8;
  const bool is_of_series =
      std::any_of(seen.structure().modules.begin(), seen.structure().modules.end(), [](const Module& each) {
        return is_one_of(each.kind, {"LSTM", "GRU", "RNN", "TransformerEncoder", "MultiheadAttention"});
      });
  const double same = median_of(seen.history, "target_is_input");
  if (!is_of_series || !(same > kSame) || !(seen.symptoms.skill > kExact)) return;
  if (!(median_of(seen.history, "input_shape", 1) >= kMinLength)) return;
  findings.push_back({"target_leak",
                      0.6,
                      "Each target is the number at the same place of the input, so the model has only to copy",
                      {fmt::format("{:.0f} % of the targets equal the input there", 100 * same), seen.course().back()},
                      {"a model that is to give its input back has the same targets"},
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
  look_for_order(seen, findings);
  look_for_order_of_binary(seen, findings);
  look_for_imbalance(seen, findings);
  look_for_misalignment(seen, findings);
  look_for_leak(seen, findings);
  look_for_telling_feature(seen, findings);
  look_for_shifts(seen, findings);
  look_for_copied_series(seen, findings);
  look_for_unshifted_answers(seen, findings);
}

}  // namespace trainwarden::diagnosis
