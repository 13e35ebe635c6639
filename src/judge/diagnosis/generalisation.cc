// Generalisation: training against evaluation, and what is left when nothing else explains a bad loss.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// Each sample against all others of its batch: as many classes as samples, or one less where it is left out itself.
bool is_contrastive(const Case& seen) {
  constexpr std::int64_t kMinSamples = 8;
  if (seen.structure().compared.empty()) return false;
  const auto& shape = seen.structure().compared.front().predicted;
  return shape.size() == 2 && shape[0] >= kMinSamples && (shape[0] == shape[1] || shape[0] == shape[1] + 1);
}

// Has the evaluation never been better than an answer that does not look at the input, while the training learned?
bool never_generalised(const Case& seen) {
  constexpr double kLearned = 0.2, kNothing = 0.98;
  constexpr std::size_t kEnough = 3;
  const Symptoms& symptoms = seen.symptoms;
  if (!(symptoms.skill > kLearned) || !(symptoms.eval_best > kNothing * symptoms.constant)) return false;
  std::vector<std::int64_t> steps;
  for (const Evaluated& each : seen.history.evaluations) {
    if (std::isfinite(each.loss)) steps.push_back(each.after_step);
  }
  return steps.size() >= kEnough && 3 * steps.back() > symptoms.steps;
}

// What is learned by heart and holds for no other sample: the labels belong to other inputs, here or there.
void look_for_learning_by_heart(const Case& seen, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  if (!never_generalised(seen) || symptoms.is_adversarial || is_contrastive(seen) || learns_new_samples(seen)) return;
  findings.push_back({"labels_misaligned",
                      0.8,
                      "The training is learned by heart: the evaluation never was better than an answer that does not "
                      "look at the input",
                      {fmt::format("the evaluation was best with {}, and {} is the best constant answer",
                                   number(symptoms.eval_best), number(symptoms.constant)),
                       seen.course().front()},
                      {"inputs that are prepared in another way for the evaluation look the same"},
                      0,
                      {}});
  findings.push_back({"evaluation_preprocessing",
                      0.5,
                      "The evaluation was never better than an answer that does not look at the input: its inputs may "
                      "be prepared in another way",
                      {seen.course().front()},
                      {"labels that belong to other inputs look the same"},
                      0,
                      {}});
}

// Since its worst the evaluation has come down again by much: what rose was a part of the loss that learns later.
bool has_come_down_again(const Case& seen) {
  constexpr double kMuch = 0.6;
  double worst = 0;
  for (const Evaluated& each : seen.history.evaluations) {
    if (std::isfinite(each.loss) && each.after_step > seen.symptoms.eval_best_after) worst = std::max(worst, each.loss);
  }
  return seen.symptoms.eval_late < kMuch * worst;
}

// Is each evaluation since the best one worse than the one before?
bool rises_steadily(const Case& seen) {
  constexpr std::size_t kEnough = 3;
  double before = seen.symptoms.eval_best;
  std::size_t risen = 0;
  for (const Evaluated& each : seen.history.evaluations) {
    if (!std::isfinite(each.loss) || each.after_step <= seen.symptoms.eval_best_after) continue;
    if (!(each.loss > before)) return false;
    before = each.loss;
    ++risen;
  }
  return risen >= kEnough;
}

void look_for_overfitting(const Case& seen, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  if (never_generalised(seen) || has_come_down_again(seen)) return;  // it had nothing to lose, or learns still
  if (symptoms.evaluations < 3 || symptoms.is_adversarial || !(symptoms.compared_late >= 0)) return;
  const double train = symptoms.compared_late, late = symptoms.eval_late, best = symptoms.eval_best;
  const bool fails_apart = best > symptoms.yardstick && learns_new_samples(seen);
  if (!(late > 0) || !(best > 0)) return;
  // Of several losses that are added up, one that is next to nothing is not what the training is about.
  constexpr double kPart = 0.05;
  if (std::abs(symptoms.part) < kPart && !symptoms.is_seen_late) return;
  // Answers that stay right, of which a few wrong ones have become surer.
  constexpr double kRight = 0.95, kLost = 0.03;
  const bool is_right = symptoms.eval_accuracy > kRight && symptoms.eval_accuracy_best - symptoms.eval_accuracy < kLost;
  constexpr double kRise = 1.15, kSteadyRise = 1.08;
  const bool rises =
      late > (rises_steadily(seen) ? kSteadyRise : kRise) * best && late - best > 0.02 * std::abs(symptoms.eval_first);
  const bool parts =
      late > 2 * train && late - train > 0.15 * std::fmax(symptoms.constant, std::abs(symptoms.train.first));
  const double share =
      static_cast<double>(symptoms.eval_best_after) / static_cast<double>(std::max<std::int64_t>(1, symptoms.steps));
  std::vector<std::string> evidence = {
      fmt::format("the loss is {} in training and {} in evaluation", number(train), number(late)),
      fmt::format("the evaluation was best at step {} of {}, with {}", symptoms.eval_best_after, symptoms.steps,
                  number(best))};
  if (rises && parts) {
    // Who learned samples that were new has not learned by heart what the evaluation fails at.
    const double weight = share > 0.75 || is_right || fails_apart ? 0.45  // or it was stopped soon after its best
                          : late > 1.5 * best                     ? 0.85
                                                                  : 0.7;
    if (share < 0.4)
      findings.push_back({"overtraining",
                          weight,
                          fmt::format("The training goes on long after its best, at step {} of {}",
                                      symptoms.eval_best_after, symptoms.steps),
                          evidence,
                          {},
                          symptoms.eval_best_after,
                          {}});
    findings.push_back({"overfitting",
                        weight,
                        "The evaluation becomes worse while the training goes on to improve",
                        evidence,
                        {},
                        symptoms.eval_best_after,
                        {}});
  } else if (parts && symptoms.skill > 0.5) {
    findings.push_back({"overfitting",
                        late > 4 * train && late > 0.9 * symptoms.constant ? 0.6 : 0.4,
                        "The evaluation stays far behind the training",
                        evidence,
                        {},
                        symptoms.eval_best_after,
                        {}});
  }
}

constexpr double kTolerated = 0.15;  // of what was gained, or of the best

// How far a metric that the program prints has fallen behind its best, as shares of what it had gained and of the best.
struct Setback {
  double of_gain = 0, of_best = 0;
  double best = kUnknown, late = kUnknown;
  std::int64_t best_step = 0;
};

Setback setback_of(const PrintedSeries& series) {
  const bool falls = series.kind == PrintedKind::kLoss || series.kind == PrintedKind::kError;
  const Values& values = series.numbers.values;
  const auto best =
      falls ? std::min_element(values.begin(), values.end()) : std::max_element(values.begin(), values.end());
  const std::size_t last = std::max<std::size_t>(1, values.size() / 4);
  Setback setback;
  setback.best = *best;
  setback.best_step = series.numbers.steps[static_cast<std::size_t>(best - values.begin())];
  setback.late = median(Values(values.end() - static_cast<std::ptrdiff_t>(last), values.end()));
  const double lost = falls ? setback.late - *best : *best - setback.late;
  const double gained = std::abs(*best - values.front());
  setback.of_gain = gained > 0 ? lost / gained : lost > 0 ? 1 : 0;
  setback.of_best = *best != 0 ? lost / std::abs(*best) : 0;
  return setback;
}

// Is another number of the evaluation at its best at the end, as where one model learns several tasks?
bool does_another_improve(const Case& seen, const PrintedSeries& than) {
  constexpr double kLate = 0.8;
  const auto& all = seen.history.printed;
  return std::any_of(all.begin(), all.end(), [&](const PrintedSeries& each) {
    if (each.is_of_training || each.name == than.name || each.numbers.size() < than.numbers.size()) return false;
    const Setback setback = setback_of(each);
    const double gained = std::abs(setback.best - each.numbers.values.front());
    return static_cast<double>(setback.best_step) >= kLate * static_cast<double>(each.numbers.steps.back()) &&
           setback.of_gain < kTolerated && gained > kTolerated * std::abs(setback.best);
  });
}

// Where the evaluation tells no loss, but the program prints another number of it, which becomes worse.
void look_for_printed_setback(const Case& seen, Findings& findings) {
  constexpr std::size_t kEnough = 5;
  constexpr double kSomeGain = 0.15, kSomeBest = 0.05, kMuchGain = 0.6, kMuchBest = 0.2, kEarly = 0.6,
                   kSomeAnswers = 0.25;
  const Symptoms& symptoms = seen.symptoms;
  if (std::isfinite(symptoms.eval_late) || symptoms.is_adversarial || !symptoms.learns_well) return;
  for (const PrintedSeries& series : seen.history.printed) {
    if (series.is_of_training || series.numbers.size() < kEnough ||
        5 * series.numbers.steps.back() < 4 * symptoms.steps)
      continue;
    const Setback setback = setback_of(series);
    const bool is_early =
        static_cast<double>(setback.best_step) < kEarly * static_cast<double>(series.numbers.steps.back());
    if (!is_early || setback.of_gain < kSomeGain || setback.of_best < kSomeBest) continue;
    // Few right answers that become fewer: it has never generalised, for whatever reason.
    const double answers = setback.best > 1 ? setback.best / 100 : setback.best;
    const bool was_good = series.kind != PrintedKind::kAccuracy || answers > kSomeAnswers;
    const bool is_much = series.is_called_so && was_good && setback.of_gain > kMuchGain &&
                         setback.of_best > kMuchBest && !does_another_improve(seen, series);
    const std::vector<std::string> evidence = {
        fmt::format("\"{}\" was {} at step {}, and is {} now", series.name, number(setback.best), setback.best_step,
                    number(setback.late)),
        seen.course().front()};
    if (2 * setback.best_step < series.numbers.steps.back()) {
      findings.push_back(
          {"overtraining",
           is_much ? 0.82 : 0.45,
           fmt::format("The training goes on long after its best, at step {} of {}", setback.best_step, symptoms.steps),
           evidence,
           {},
           setback.best_step,
           {}});
    }
    findings.push_back({"overfitting",
                        is_much ? 0.82 : 0.45,
                        "The evaluation becomes worse while the training goes on to improve",
                        evidence,
                        {},
                        setback.best_step,
                        {}});
    return;
  }
}

// What the program prints of both its training and its evaluation: how far apart are they at the end?
void look_for_printed_gap(const Case& seen, Findings& findings) {
  constexpr double kFar = 0.2, kVeryFar = 0.3, kTimes = 2.5;
  const Symptoms& symptoms = seen.symptoms;
  if (symptoms.is_adversarial) return;
  for (const PrintedSeries& ours : seen.history.printed) {
    const auto& all = seen.history.printed;
    const auto theirs = std::find_if(all.begin(), all.end(), [&](const PrintedSeries& each) {
      return ours.is_of_training && !each.is_of_training && each.metric == ours.metric;
    });
    if (theirs == all.end() || 5 * theirs->numbers.steps.back() < 3 * symptoms.steps) continue;
    const bool is_score = ours.kind == PrintedKind::kAccuracy || ours.kind == PrintedKind::kScore;
    const double train = ours.numbers.values.back(), evaluation = theirs->numbers.values.back();
    const double gap = is_score ? train - evaluation : 0;
    const bool parts =
        is_score ? train <= 1 && evaluation >= 0 && gap > kFar : train > 0 && evaluation > kTimes * train;
    if (!parts) continue;
    findings.push_back({"overfitting",
                        gap > kVeryFar && !learns_new_samples(seen) ? 0.6 : 0.45,
                        fmt::format("\"{}\" is {} and \"{}\" is {}: the evaluation stays far behind the training",
                                    ours.name, number(train), theirs->name, number(evaluation)),
                        {seen.course().front()},
                        {},
                        theirs->numbers.steps.back(),
                        {}});
    return;
  }
}

// Of numbers the program prints the share of the variance that is explained: is it never above that of their mean?
void look_for_nothing_explained(const Case& seen, Findings& findings) {
  constexpr std::size_t kEnough = 4;
  constexpr double kNothing = 0.01;
  const Symptoms& symptoms = seen.symptoms;
  if (std::isfinite(symptoms.eval_late) || symptoms.is_adversarial) return;
  for (const PrintedSeries& series : seen.history.printed) {
    if (series.metric != "r2" || series.is_of_training || series.numbers.size() < kEnough) continue;
    const Values& values = series.numbers.values;
    const double best = *std::max_element(values.begin(), values.end());
    if (!(best < kNothing) || 5 * series.numbers.steps.back() < 3 * symptoms.steps) continue;
    findings.push_back(
        {"labels_misaligned",
         0.6,
         "Nothing that the model learns holds for the evaluation: labels and inputs may not belong together",
         {fmt::format("\"{}\" was never better than {} in {} evaluations that the program printed", series.name,
                      number(best), values.size())},
         {},
         series.numbers.steps.front(),
         {}});
    return;
  }
}

// Where the evaluation tells no loss, but how many answers are right.
void look_for_accuracy_gap(const Case& seen, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  if (symptoms.evaluations < 2 || symptoms.is_adversarial || std::isfinite(symptoms.eval_late)) return;
  const auto& evaluations = seen.history.evaluations;
  if (evaluations.empty() || 5 * evaluations.back().after_step < 3 * symptoms.steps) return;  // of a time long past
  const double gap = symptoms.accuracy - symptoms.eval_accuracy;
  if (!(gap > 0.15) || !(symptoms.accuracy > 0.9)) return;
  const double lost = symptoms.eval_accuracy_best - symptoms.eval_accuracy;
  constexpr double kAbove = 0.05, kWideGap = 0.25;
  const bool is_chance =
      symptoms.eval_accuracy < 1.3 * symptoms.chance || symptoms.eval_accuracy_best < symptoms.majority + kAbove;
  // Who learned samples that were new has not learned by heart what the evaluation fails at.
  const bool fails_apart = symptoms.accuracy - symptoms.eval_accuracy_best > kWideGap && learns_new_samples(seen);
  findings.push_back({"overfitting",
                      is_chance || fails_apart     ? 0.4
                      : gap > 0.25 && lost >= 0.03 ? 0.82
                      : gap > 0.25                 ? 0.65
                      : lost > 0.04                ? 0.6
                                                   : 0.45,
                      fmt::format("{:.0f} % of the answers are right in training, and {:.0f} % in evaluation",
                                  100 * symptoms.accuracy, 100 * symptoms.eval_accuracy),
                      {fmt::format("the evaluation was best with {:.0f} %", 100 * symptoms.eval_accuracy_best)},
                      {},
                      0,
                      {}});
  if (is_chance) {
    findings.push_back({"labels_misaligned",
                        0.5,
                        "The model learns its training data by heart, and its answers in evaluation are by chance",
                        {fmt::format("{:.0f} % of them are right, chance gives {:.0f} %", 100 * symptoms.eval_accuracy,
                                     100 * symptoms.chance)},
                        {},
                        0,
                        {}});
    findings.push_back({"evaluation_preprocessing",
                        0.48,
                        "The model's answers in evaluation are by chance: its inputs may be prepared in another way",
                        {fmt::format("{:.0f} % of them are right, {:.0f} % in training", 100 * symptoms.eval_accuracy,
                                     100 * symptoms.accuracy)},
                        {},
                        0,
                        {}});
  }
}

// Of the last evaluation until this step.
double last_accuracy(const Case& seen, std::int64_t step) {
  double accuracy = kUnknown;
  for (const Evaluated& each : seen.history.evaluations) {
    if (each.after_step <= step && std::isfinite(each.accuracy)) accuracy = each.accuracy;
  }
  return accuracy;
}

// Answers that are better in evaluation than in training: nothing of the kind of dropout makes training so much harder.
void look_for_wrong_labels(const Case& seen, Findings& findings) {
  constexpr double kGap = 0.25, kMaxDropout = 0.25;
  const Symptoms& symptoms = seen.symptoms;
  if (!symptoms.is_classifier || symptoms.evaluations < 2 || symptoms.is_adversarial) return;
  const bool drops =
      std::any_of(seen.structure().modules.begin(), seen.structure().modules.end(), [](const Module& each) {
        const auto p = each.settings.find("p"), dropout = each.settings.find("dropout");
        return (p != each.settings.end() && p->second > kMaxDropout) ||
               (dropout != each.settings.end() && dropout->second > kMaxDropout);
      });
  // Mixed samples have two labels each, and a loss for either.
  const Graph* const graph = seen.graph();
  const auto losses =
      graph == nullptr ? 0 : std::count_if(graph->nodes.begin(), graph->nodes.end(), [](const GraphNode& each) {
        return each.operation.rfind("NllLoss", 0) == 0;
      });
  if (is_contrastive(seen)) return;  // its labels are places in the batch, and an evaluation has others
  // Each with the evaluation before it, since when the model has not become worse.
  Values late, gaps;
  for (const Snapshot& snapshot : seen.snapshots()) {
    if (2 * snapshot.step <= symptoms.steps) continue;
    late.push_back(snapshot.at("accuracy"));
    gaps.push_back(last_accuracy(seen, snapshot.step) - late.back());
  }
  if (drops || losses > 1) return;
  std::erase_if(gaps, [](double each) { return !std::isfinite(each); });
  const bool is_wide = gaps.size() >= 3 && median(gaps) > kGap && symptoms.eval_accuracy > symptoms.majority + kGap;
  // The same of losses, where the labels leave little to be learned.
  const double shown = 1 - symptoms.eval_late / symptoms.constant;
  const bool is_steady = symptoms.evaluations >= 3 && symptoms.skill < 0.2 && shown > symptoms.skill + 0.06 &&
                         symptoms.train.late - symptoms.eval_late > symptoms.train.noise;
  if (!is_wide && !is_steady) return;
  findings.push_back(
      {"label_noise",
       is_wide ? 0.82 : 0.6,
       "Many labels of the training are wrong: the model gives right answers in evaluation that it is "
       "not given in training",
       {is_wide ? fmt::format("{:.0f} % of the answers are right in evaluation, {:.0f} % in training",
                              100 * symptoms.eval_accuracy, 100 * median(late))
                : fmt::format("the loss is {} in evaluation and {} in training, {} without learning",
                              number(symptoms.eval_late), number(symptoms.compared_late), number(symptoms.constant))},
       {"inputs that are made much harder on purpose (crops, mixed samples) look the same"},
       0,
       {}});
}

void look_for_the_rest(const Case& seen, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  if (symptoms.is_adversarial || symptoms.train.count < 20) return;
  std::vector<std::string> evidence = {fmt::format("the loss went from {} to {} in {} steps",
                                                   number(symptoms.train.first), number(symptoms.train.late),
                                                   symptoms.steps)};
  if (std::isfinite(symptoms.constant))
    evidence.push_back(fmt::format("the best constant answer has a loss of {}", number(symptoms.constant)));
  if (symptoms.has_diverged)
    findings.push_back({"training_diverged",
                        0.6,
                        "The training diverges",
                        evidence,
                        {},
                        std::max<std::int64_t>(0, symptoms.train.first_bad_step),
                        {}});
  if (symptoms.learns_nothing)
    findings.push_back(
        {"no_learning", std::isfinite(symptoms.skill) ? 0.6 : 0.4, "The training learns nothing", evidence, {}, 0, {}});
}

// A layer of one or two units that all must pass through.
void look_for_narrow_layers(const Case& seen, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  const double targets = median_of(seen.history, "target_is_input");
  if (!(targets > 0.9) || !(symptoms.skill < 0.85) || symptoms.has_diverged || symptoms.train.count < 30) return;
  for (const Module& module : seen.structure().modules) {
    const auto in = module.settings.find("in_features"), out = module.settings.find("out_features");
    if (in == module.settings.end() || out == module.settings.end() || out->second > 2 || in->second < 8) continue;
    const bool goes_on =
        std::any_of(seen.structure().modules.begin(), seen.structure().modules.end(), [&](const Module& other) {
          const auto taken = other.settings.find("in_features");
          return taken != other.settings.end() && taken->second == out->second;
        });
    if (!goes_on) continue;  // what it gives is the answer
    findings.push_back(
        {"underfitting_capacity",
         0.55,
         fmt::format("All that is reconstructed passes through the {} units of {}", out->second, module.name),
         seen.course(),
         {},
         0,
         short_place(module.place)});
    return;
  }
}

}  // namespace

void look_at_generalisation(const Case& seen, Findings& findings) {
  look_for_overfitting(seen, findings);
  look_for_learning_by_heart(seen, findings);
  look_for_printed_setback(seen, findings);
  look_for_printed_gap(seen, findings);
  look_for_nothing_explained(seen, findings);
  look_for_accuracy_gap(seen, findings);
  look_for_wrong_labels(seen, findings);
  look_for_narrow_layers(seen, findings);
  look_for_the_rest(seen, findings);
}

}  // namespace trainwarden::diagnosis
