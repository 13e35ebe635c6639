#include "judge/diagnosis/symptoms.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "judge/diagnosis/graph_walk.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

constexpr double kTiny = 1e-12;
constexpr double kNoBetter = 0.9;  // a loss that is at least so much of a constant answer's

Values part(const Values& values, std::size_t from, std::size_t to) {
  Values result;
  for (std::size_t i = from; i < std::min(to, values.size()); ++i) result.push_back(values[i]);
  return result;
}

// Robust standard deviation: 1.4826 times the median of the absolute values.
double robust_deviation(Values values) {
  for (double& each : values) each = std::abs(each);
  return 1.4826 * median(std::move(values));
}

// The t value of a line's slope, positive for a fall.
double falling_trend(const Values& values) {
  const std::size_t n = values.size();
  if (n < 6) return kUnknown;
  double mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < n; ++i) mean_x += static_cast<double>(i), mean_y += values[i];
  mean_x /= static_cast<double>(n), mean_y /= static_cast<double>(n);
  double sxx = 0, sxy = 0, syy = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double dx = static_cast<double>(i) - mean_x, dy = values[i] - mean_y;
    sxx += dx * dx, sxy += dx * dy, syy += dy * dy;
  }
  const double slope = sxy / sxx, rest = std::max(syy - slope * sxy, kTiny * std::abs(syy) + 1e-300);
  return -slope / std::sqrt(rest / static_cast<double>(n - 2) / sxx);
}

void take_running_best(const StepNumbers& losses, Course& course) {
  const std::size_t window = std::max<std::size_t>(3, losses.size() / 12);
  for (std::size_t end = window; end <= losses.size(); end += std::max<std::size_t>(1, window / 3)) {
    const double here = median(part(losses.values, end - window, end));
    if (std::isfinite(here) && !(course.best <= here)) {
      course.best = here;
      course.best_step = losses.steps[end - 1];
    }
  }
}

// Of the last quarter of the steps, where enough of it was seen; else of the last fifth of the looks.
Values late_part(const StepNumbers& losses, std::int64_t steps) {
  Values late;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (4 * losses.steps[i] >= 3 * steps) late.push_back(losses.values[i]);
  }
  const std::size_t n = losses.size();
  return late.size() >= 3 ? late : part(losses.values, n - std::max<std::size_t>(1, n / 5), n);
}

Course course_of(const StepNumbers& losses, std::int64_t steps) {
  Course course;
  const Values& values = losses.values;
  const std::size_t n = values.size();
  course.count = n;
  if (n == 0) return course;
  course.first = median(part(values, 0, std::max<std::size_t>(1, std::min<std::size_t>(3, n / 8))));
  course.early = median(part(values, 0, std::max<std::size_t>(3, n / 10)));
  course.late = median(late_part(losses, steps));
  take_running_best(losses, course);
  Values half, jumps;
  for (std::size_t i = n / 2; i < n; ++i) {
    if (!std::isfinite(values[i])) continue;
    if (!half.empty()) jumps.push_back((values[i] - half.back()) / std::sqrt(2.0));
    half.push_back(values[i]);
  }
  course.noise = robust_deviation(jumps);
  Values around = half;
  for (double& each : around) each -= median(half);
  course.spread = robust_deviation(around);
  course.trend = falling_trend(half);
  course.roughness = course.noise / (std::abs(course.first - course.best) + kTiny);
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_bad = !std::isfinite(values[i]);
    course.not_finite += is_bad ? 1 : 0;
    if (!is_bad && !(course.peak >= values[i])) course.peak = values[i];
    const bool is_far = !is_bad && i > 0 && values[i] > 4 * std::abs(course.first) + 1e-6;
    if ((is_bad || is_far) && course.first_bad_step < 0) course.first_bad_step = losses.steps[i];
  }
  return course;
}

double entropy_of(const Values& counts) {
  double total = 0, entropy = 0;
  for (const double count : counts) total += count;
  for (const double count : counts) {
    if (count > 0) entropy -= count / total * std::log(count / total);
  }
  return entropy;
}

// Sums the vectors of that name over the snapshots, and says of how many; of differing lengths the first one counts.
std::size_t sum_over(const TrainingHistory& history, std::string_view name, Values& sum) {
  std::size_t count = 0;
  for (const Snapshot& snapshot : history.snapshots) {
    const Values* values = snapshot.find(name);
    if (values == nullptr || (!sum.empty() && values->size() != sum.size())) continue;
    sum.resize(values->size());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += (*values)[i];
    ++count;
  }
  return count;
}

std::string function_of(const TrainingHistory& history) {
  return history.structure.compared.empty() ? std::string() : history.structure.compared.front().function;
}

double binary_entropy(double share) {
  if (!(share > 0 && share < 1)) return 0;
  return -share * std::log(share) - (1 - share) * std::log(1 - share);
}

// Of the targets as columns.
void take_constant_of_columns(const TrainingHistory& history, const std::string& function, Symptoms& symptoms) {
  Values means, squares;
  const std::size_t count = sum_over(history, "target_mean", means);
  if (count == 0 || sum_over(history, "target_square", squares) != count) return;
  double variance = 0, entropy = 0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double mean = means[i] / static_cast<double>(count);
    variance += std::max(0.0, squares[i] / static_cast<double>(count) - mean * mean);
    entropy += binary_entropy(mean);
  }
  variance /= static_cast<double>(means.size()), entropy /= static_cast<double>(means.size());
  if (contains(function, "inary") || contains(function, "BCE")) {
    symptoms.constant = entropy;
    double share = 0;
    for (const double each : means) share += each / static_cast<double>(count * means.size());
    symptoms.majority = std::max(share, 1 - share);
    symptoms.chance = 0.5;
  } else if (contains(function, "mse") || contains(function, "MSE")) {
    symptoms.constant = variance;
  } else if (median_of(history, "rows_of_target_sum_to_1") > 0.99) {
    symptoms.constant = entropy_of(means);
  }
}

// Targets that the model makes itself, as those of temporal differences, move while it learns: no constant answer is a
// yardstick for them.
bool has_moving_targets(const TrainingHistory& history) {
  const std::size_t count = history.snapshots.size();
  if (count < 9 || !history.evaluations.empty()) return false;
  Values early, late, spread;
  for (std::size_t i = 0; i < count; ++i) {
    const double mean = history.snapshots[i].at("target", 0), deviation = history.snapshots[i].at("target", 1);
    if (!std::isfinite(mean)) return false;
    spread.push_back(deviation);
    if (i < count / 3) early.push_back(mean);
    if (i >= count - count / 3) late.push_back(mean);
  }
  return std::abs(median(late) - median(early)) > 0.7 * median(spread);
}

// Where nothing was seen of the late losses, evaluations may have been: are their answers no better than chance from
// the first one to one that is late?
bool evaluate_by_chance(const TrainingHistory& history, const Symptoms& symptoms) {
  constexpr std::size_t kEnough = 3;
  constexpr double kBetter = 0.1, kLopsided = 0.8;
  if (!(symptoms.majority < kLopsided) || history.evaluations.size() < kEnough) return false;
  if (5 * history.evaluations.back().after_step < 3 * history.last_step) return false;
  return std::all_of(history.evaluations.begin(), history.evaluations.end(),
                     [&](const Evaluated& each) { return each.accuracy < symptoms.majority + kBetter; });
}

void take_yardstick(const TrainingHistory& history, Symptoms& symptoms) {
  const std::string function = function_of(history);
  Values labels;
  if (sum_over(history, "labels", labels) > 0) {
    symptoms.is_classifier = true;
    double total = 0;
    for (const double count : labels) total += count;
    if (total > 0) {
      symptoms.constant = entropy_of(labels);
      symptoms.majority = *std::max_element(labels.begin(), labels.end()) / total;
    }
    symptoms.classes = static_cast<double>(labels.size());
    symptoms.chance = 1.0 / symptoms.classes;
  } else if (const double entropy = median_of(history, "label_entropy"); std::isfinite(entropy)) {
    symptoms.is_classifier = true;
    symptoms.classes = median_of(history, "classes");
    symptoms.constant = std::log(symptoms.classes);
  } else if (!has_moving_targets(history)) {
    take_constant_of_columns(history, function, symptoms);
  }
  StepNumbers compared;
  for (const Snapshot& snapshot : history.snapshots) {
    const std::string_view name = snapshot.find("plain_loss") != nullptr ? "plain_loss" : "compared_loss";
    if (snapshot.find(name) == nullptr) continue;
    compared.steps.push_back(snapshot.step);
    compared.values.push_back(snapshot.at(name));
  }
  // Where backward() is called on what the loss function gave, all looked-at losses count, not those of full
  // examinations alone.
  Values shares, parts;
  for (const Snapshot& snapshot : history.snapshots)
    parts.push_back(snapshot.at("compared_loss") / snapshot.at("loss"));
  symptoms.part = median(parts);
  for (const Snapshot& snapshot : history.snapshots)
    shares.push_back(snapshot.at(snapshot.find("plain_loss") != nullptr ? "plain_loss" : "compared_loss") /
                     snapshot.at("loss"));
  const bool is_the_loss = std::abs(median(shares) - 1) < 0.02;
  if (history.examinations == 0) compared = history.losses;  // all that was recorded
  const Course course = course_of(is_the_loss ? history.losses : compared, history.last_step + 1);
  const StepNumbers& yardstick = is_the_loss ? history.losses : compared;
  const bool is_seen_late = !yardstick.empty() && 5 * yardstick.steps.back() >= 3 * history.last_step;
  const bool is_known = course.late > kNoBetter * symptoms.constant && evaluate_by_chance(history, symptoms);
  symptoms.is_seen_late = symptoms.is_seen_late || is_known;
  symptoms.yardstick = symptoms.constant;
  if (!is_seen_late && !is_known) symptoms.constant = kUnknown;  // nothing is known of what it has come to
  symptoms.compared_early = course.first;
  symptoms.compared_late = course.late;
  symptoms.compared_best = course.best;
  // A loss that is weighted, or a sum with others, is far above and falls all the same: it has another constant answer.
  const bool is_other = symptoms.compared_late > 3 * symptoms.constant && symptoms.train.trend > 8 &&
                        symptoms.train.roughness < 0.1 && symptoms.compared_early < 30 * symptoms.constant;
  if (is_other) symptoms.constant = kUnknown;
  if (symptoms.constant > 1e-9) symptoms.skill = 1 - symptoms.compared_late / symptoms.constant;
  Values accuracies;
  for (const Snapshot& snapshot : history.snapshots) {
    if (const double accuracy = snapshot.at("accuracy"); std::isfinite(accuracy)) accuracies.push_back(accuracy);
  }
  symptoms.accuracy =
      median(part(accuracies, accuracies.size() - std::min<std::size_t>(accuracies.size(), 3), accuracies.size()));
}

// A loss function that gives one number for each element, of which the program takes some alone, or weighs them: what
// all elements say is no yardstick for that.
void leave_out_masked(const TrainingHistory& history, Symptoms& symptoms) {
  Values shares;
  for (const Snapshot& snapshot : history.snapshots)
    shares.push_back(snapshot.at("compared_elements") / snapshot.at("loss"));
  const double share = median(shares);
  if (!std::isfinite(share) || std::abs(share - 1) < 0.05) return;
  symptoms.constant = symptoms.yardstick = symptoms.skill = symptoms.compared_early = symptoms.compared_late =
      symptoms.compared_best = kUnknown;
  symptoms.majority = symptoms.accuracy = kUnknown;
}

bool goes_around_zero(const Values& losses) {
  const auto below =
      static_cast<std::size_t>(std::count_if(losses.begin(), losses.end(), [](double each) { return each < 0; }));
  if (below < 2 || losses.size() - below < 2) return false;
  const auto [low, high] = std::minmax_element(losses.begin(), losses.end());
  return std::abs(losses.front()) < 0.35 * (*high - *low);
}

// Log-likelihoods of what was chosen, each by an advantage that may have either sign.
bool is_of_a_policy(const TrainingHistory& history) {
  if (history.graphs.empty()) return false;
  const Graph& graph = history.graphs.front();
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const GraphNode& node) {
    const auto factor = node.settings.find("factor");
    if (node.operation != "Mul" || factor == node.settings.end() || factor->second != 0 || node.from.empty())
      return false;
    std::size_t at = node.from.front();
    for (int step = 0; step < 6; ++step) {
      const GraphNode& here = graph.nodes[at];
      if (is_one_of(here.operation, {"Gather", "LogSoftmax"})) return true;
      if (!(hands_on(here.operation) || is_one_of(here.operation, {"Neg", "Stack", "Sum"})) || here.from.empty())
        return false;
      at = here.from.front();
    }
    return false;
  });
}

// Results of evaluations, by rising step, each with the steps that the training had taken before it.
struct AfterSteps {
  std::vector<std::int64_t> steps;
  Values values;

  void add(std::int64_t after_step, double value) {
    if (!std::isfinite(value)) return;
    steps.push_back(after_step);
    values.push_back(value);
  }

  // The median of the last fifth. Where few evaluations were looked at, the last fifth of them may begin in the first
  // half of the training, so that the evaluations must lie near the last one, too.
  double late() const {
    if (values.empty()) return kUnknown;
    const auto near = std::lower_bound(steps.begin(), steps.end(), steps.back() - steps.back() / 5) - steps.begin();
    const std::size_t fifth = values.size() - std::max<std::size_t>(1, values.size() / 5);
    return median(part(values, std::max(fifth, static_cast<std::size_t>(near)), values.size()));
  }
};

void take_evaluations(const TrainingHistory& history, Symptoms& symptoms) {
  AfterSteps losses, accuracies;
  for (const Evaluated& each : history.evaluations) {
    losses.add(each.after_step, each.loss);
    accuracies.add(each.after_step, each.accuracy);
    if (std::isfinite(each.loss) && !(symptoms.eval_best <= each.loss)) {
      symptoms.eval_best = each.loss;
      symptoms.eval_best_after = each.after_step;
    }
    if (std::isfinite(each.accuracy) && !(symptoms.eval_accuracy_best >= each.accuracy)) {
      symptoms.eval_accuracy_best = each.accuracy;
    }
  }
  symptoms.evaluations = std::max(losses.values.size(), accuracies.values.size());
  if (!losses.values.empty()) symptoms.eval_first = losses.values.front();
  symptoms.eval_late = losses.late();
  symptoms.eval_accuracy = accuracies.late();
}

void conclude(Symptoms& symptoms) {
  const Course& train = symptoms.train;
  if (train.count == 0) return;
  const double scale = std::abs(train.first) + kTiny;
  symptoms.has_diverged = (train.not_finite > 0 && !std::isfinite(train.late)) ||
                          train.not_finite > static_cast<std::int64_t>(train.count / 4) ||
                          (train.first > 0 && train.late > 3 * train.first) ||
                          (symptoms.constant > 0 && symptoms.compared_late > 3 * symptoms.constant &&
                           symptoms.compared_late > 0.8 * symptoms.compared_early);
  const double fall = (train.first - train.late) / scale;
  const bool has_yardstick = std::isfinite(symptoms.skill);
  const bool is_enough = train.count >= 12 && symptoms.is_seen_late;
  // Where several losses are added up, one of them says nothing of the others.
  const bool is_part = has_yardstick && !(std::abs(std::abs(symptoms.part) - 1) < 0.05) && fall > 0.3;
  if (has_yardstick) {
    const bool evaluates_better = symptoms.eval_late < 0.95 * symptoms.constant;
    symptoms.learns_nothing =
        is_enough && symptoms.skill < 0.07 && !symptoms.has_diverged && !evaluates_better && !is_part;
    symptoms.learns_well =
        symptoms.skill > 0.3 || symptoms.eval_late < 0.7 * symptoms.constant || (is_part && train.first > 0);
  } else {
    const double noise =
        std::max(train.spread, train.noise) / std::sqrt(std::max<double>(1, static_cast<double>(train.count) / 5));
    symptoms.learns_nothing =
        is_enough && !symptoms.has_diverged && fall < 0.05 && train.first - train.late < 3 * noise;
    // Of a training that was not looked at late, its evaluation tells.
    const bool evaluates_well = !symptoms.is_seen_late && train.first > 0 && symptoms.eval_late < 0.5 * train.first;
    symptoms.learns_well = fall > 0.3 || evaluates_well;
  }
  symptoms.learns_slowly = is_enough && !symptoms.has_diverged && !symptoms.learns_well && train.trend > 4;
  symptoms.is_rough = is_enough && train.roughness > 0.35;
  if (symptoms.is_no_measure) {
    symptoms.learns_nothing = symptoms.learns_slowly = symptoms.is_rough = false;
    symptoms.has_diverged = symptoms.has_diverged && train.not_finite > 0;
  }
  symptoms.loses_what_it_learned = is_enough && train.first > train.best && !symptoms.has_diverged &&
                                   train.late - train.best > 0.5 * (train.first - train.best) &&
                                   train.late - train.best > 3 * train.noise;
}

// Backward passes in one step: with one for all of them, optimizers share a loss.
bool has_several_losses(const TrainingHistory& history) {
  Values calls;
  for (const Snapshot& snapshot : history.snapshots) {
    if (const double count = snapshot.at("calls", 0); std::isfinite(count)) calls.push_back(count);
  }
  return calls.empty() || *std::max_element(calls.begin(), calls.end()) >= 2;
}

}  // namespace

double median(Values values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double each) { return !std::isfinite(each); }),
               values.end());
  if (values.empty()) return kUnknown;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double median_of(const TrainingHistory& history, std::string_view name, std::size_t index, std::size_t first) {
  Values values;
  for (std::size_t i = first; i < history.snapshots.size(); ++i) values.push_back(history.snapshots[i].at(name, index));
  return median(std::move(values));
}

Symptoms symptoms_of(const TrainingHistory& history) {
  Symptoms symptoms;
  symptoms.train = course_of(history.losses, history.last_step + 1);
  symptoms.steps = history.last_step + 1;
  symptoms.is_seen_late = !history.losses.empty() && 5 * history.losses.steps.back() >= 3 * history.last_step;
  symptoms.is_adversarial = history.structure.optimizers.size() > 1 && has_several_losses(history);
  take_yardstick(history, symptoms);
  leave_out_masked(history, symptoms);
  take_evaluations(history, symptoms);
  symptoms.is_no_measure =
      !std::isfinite(symptoms.skill) && (goes_around_zero(history.losses.values) || is_of_a_policy(history));
  conclude(symptoms);
  return symptoms;
}

}  // namespace trainwarden::diagnosis
