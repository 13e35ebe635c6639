// Learning rates and updates: how far each step goes, against the size of what it changes and the noise of the loss.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/graph_walk.h"
#include "judge/diagnosis/names.h"
#include "judge/diagnosis/step_lengths.h"

namespace trainwarden::diagnosis {
namespace {

struct Ratios {
  double early = kUnknown, typical = kUnknown, late = kUnknown;  // median over the weights of update / weight
  double largest_early = kUnknown;
  double at_start = kUnknown;  // of the first two
  double largest_ever = kUnknown;
  double grown = kUnknown;  // how many times as large as at the start the weights are at the end
};

// Of one snapshot: the median over matrices and kernels; over vectors where a program has nothing else.
double ratio_at(const Case& seen, const Snapshot& snapshot, bool largest) {
  Values ratios, of_vectors;
  for (std::size_t i = 0; i < seen.structure().parameters.size(); ++i) {
    const Parameter& parameter = seen.structure().parameters[i];
    const double ratio = parameter.optimizers.empty() ? kUnknown : step_ratio(snapshot, i);
    if (std::isfinite(ratio)) (parameter.shape.size() < 2 ? of_vectors : ratios).push_back(ratio);
  }
  if (ratios.empty()) ratios = std::move(of_vectors);
  if (ratios.empty()) return kUnknown;
  return largest ? *std::max_element(ratios.begin(), ratios.end()) : median(ratios);
}

// The median over matrices and kernels, of those that began with something.
double growth(const Case& seen) {
  constexpr double kSomething = 1e-3;
  const auto& snapshots = seen.snapshots();
  const auto has_weights = [](const Snapshot& each) { return each.find("weight") != nullptr; };
  const auto first = std::find_if(snapshots.begin(), snapshots.end(), has_weights);
  const auto last = std::find_if(snapshots.rbegin(), snapshots.rend(), has_weights);
  if (!seen.history.has_seen_start || first == snapshots.end()) return kUnknown;
  Values times;
  for (std::size_t i = 0; i < seen.structure().parameters.size(); ++i) {
    if (!seen.is_map(seen.structure().parameters[i]) || !(first->at("weight", i) > kSomething)) continue;
    times.push_back(last->at("weight", i) / first->at("weight", i));
  }
  return median(times);
}

Ratios ratios_of(const Case& seen) {
  Values all, early, late, largest;
  const auto& snapshots = seen.snapshots();
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    const double ratio = ratio_at(seen, snapshots[i], false);
    if (!std::isfinite(ratio)) continue;
    all.push_back(ratio);
    if (i < 6) early.push_back(ratio), largest.push_back(ratio_at(seen, snapshots[i], true));
    if (i * 4 >= snapshots.size() * 3) late.push_back(ratio);
  }
  return {median(early),
          median(all),
          median(late),
          median(largest),
          median({all.empty() ? kUnknown : all[0], all.size() < 2 ? kUnknown : all[1]}),
          all.empty() ? kUnknown : *std::max_element(all.begin(), all.end()),
          growth(seen)};
}

double setting(const Case& seen, std::string_view key) {
  for (const Optimizer& optimizer : seen.structure().optimizers) {
    for (const OptimizerGroup& group : optimizer.groups) {
      if (const auto found = group.settings.find(key); found != group.settings.end()) return found->second;
    }
  }
  return kUnknown;
}

// What the optimizer says; of a program that changes its weights itself, what a step changes for each unit of gradient.
double learning_rate(const Case& seen) {
  if (const double said = setting(seen, "lr"); std::isfinite(said)) return said;
  Values quotients;
  for (const Snapshot& snapshot : seen.snapshots()) {
    for (std::size_t i = 0; i < seen.structure().parameters.size(); ++i) {
      const double gradient = snapshot.at("gradient", i), update = snapshot.at("update", i);
      if (gradient > 0 && update > 0) quotients.push_back(update / gradient);
    }
  }
  return median(std::move(quotients));
}

// Of full looks and of the signal, which is seen more often, or not so late; of several optimizers they may speak of
// different ones, and the longer series counts.
StepNumbers rates_of(const Case& seen) {
  std::map<std::int64_t, double> looks, rates;
  for (const Snapshot& snapshot : seen.snapshots()) {
    if (const double rate = snapshot.at("rate"); std::isfinite(rate)) looks[snapshot.step] = rate;
  }
  if (const auto found = seen.history.signals.find("learning_rate/0"); found != seen.history.signals.end()) {
    for (std::size_t i = 0; i < found->second.size(); ++i) rates[found->second.steps[i]] = found->second.values[i];
  }
  if (seen.structure().optimizers.size() < 2) {
    for (const auto& [step, rate] : looks) rates[step] = rate;
  } else if (looks.size() >= rates.size()) {
    rates = std::move(looks);
  }
  StepNumbers series;
  for (const auto& [step, rate] : rates) series.steps.push_back(step), series.values.push_back(rate);
  return series;
}

// How many times as high as in the looked-at steps the rate has become.
double warmed_up(const Case& seen) {
  const StepNumbers rates = rates_of(seen);
  if (rates.empty()) return 1;
  const double highest = *std::max_element(rates.values.begin(), rates.values.end()),
               looked_at = median_of(seen.history, "rate");
  return looked_at > 0 ? std::max(1.0, highest / looked_at) : 1;
}

// Do the first steps make it worse than it was?
bool rises_at_start(const Case& seen) {
  const Values& losses = seen.history.losses.values;
  if (losses.size() < 8 || seen.symptoms.is_adversarial) return false;
  return *std::max_element(losses.begin() + 1, losses.begin() + 6) > 1.5 * std::abs(losses[0]);
}

// Nothing, or so little that it is no use to anybody.
bool learns_next_to_nothing(const Case& seen) {
  constexpr double kLittle = 0.1, kNoBetter = 0.9, kSlow = 2;
  const Symptoms& symptoms = seen.symptoms;
  if (symptoms.learns_nothing) return true;
  return symptoms.is_seen_late && std::abs(symptoms.skill) < kLittle && symptoms.train.trend < kSlow &&
         !(symptoms.eval_late < kNoBetter * symptoms.constant);
}

bool attends(const Case& seen) {
  const Graph* const graph = seen.graph();
  if (graph == nullptr) return false;
  return std::any_of(graph->nodes.begin(), graph->nodes.end(), [&](const GraphNode& node) {
    return node.operation == "Bmm" && std::any_of(node.from.begin(), node.from.end(), [&](std::size_t from) {
             std::size_t source = past_views(*graph, from);
             // Dropout may be a product with what is kept.
             if (graph->nodes[source].operation == "Mul")
               source = past_views(*graph, graph->nodes[source].from.front());
             return graph->nodes[source].operation == "Softmax";
           });
  });
}

// Of a training whose first steps were not looked at: they have blown up the weights.
bool have_weights_grown(const Case& seen) {
  constexpr double kGrown = 8;
  return !seen.history.has_seen_start && !seen.snapshots().empty() &&
         seen.weight_gain(seen.snapshots().front()) > kGrown;
}

std::string first_steps_text(const Case& seen, const Ratios& ratios, double rate) {
  constexpr double kManyTimes = 10;
  const std::string how_far = ratios.early >= kBeyondMeasure
                                  ? fmt::format("to more than {} times", number(kBeyondMeasure))
                              : ratios.early >= kManyTimes ? fmt::format("to {} times", number(ratios.early))
                                                           : fmt::format("by {} % of", number(100 * ratios.early));
  return fmt::format(
      "the first steps changed the weights {} their size each (0.1 to 3 % is usual), at a learning rate "
      "of {} of {}",
      how_far, number(rate), seen.kind_of_optimizer());
}

void look_for_high_rate(const Case& seen, const Ratios& ratios, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  const double rate = learning_rate(seen);
  const bool worse_than_constant = symptoms.constant > 0 && symptoms.compared_late > 1.15 * symptoms.constant;
  const bool jumps =
      !symptoms.is_no_measure && symptoms.train.peak > 3 * std::abs(symptoms.train.first) && !symptoms.is_adversarial;
  double confidence = 0;
  if (ratios.largest_early > 0.5 && (symptoms.has_diverged || jumps)) confidence = 0.85;
  if (ratios.early > 0.3 && (symptoms.learns_nothing || worse_than_constant)) confidence = std::max(confidence, 0.85);
  if (ratios.at_start > 0.3 && learns_next_to_nothing(seen)) confidence = std::max(confidence, 0.85);
  if (ratios.early > 0.1 && (symptoms.has_diverged || worse_than_constant)) confidence = std::max(confidence, 0.8);
  if (ratios.typical > 0.05 && symptoms.is_rough && !symptoms.learns_well) confidence = std::max(confidence, 0.6);
  if (ratios.early > 0.25 && jumps && symptoms.train.peak > 3 * symptoms.constant)
    confidence = std::max(confidence, 0.82);  // it has come down from that since
  if (ratios.early > 0.05 && (jumps || (symptoms.loses_what_it_learned && !symptoms.is_adversarial)))
    confidence = std::max(confidence, 0.65);
  if (ratios.at_start > 0.3 && rises_at_start(seen) && !symptoms.learns_well) confidence = std::max(confidence, 0.75);
  // The first steps throw away what the weights began with, and they go on to grow.
  constexpr double kMuchGrown = 6, kMostOfIt = 0.7;
  const bool has_overshot = ratios.at_start > 0.5 && ratios.grown > kMuchGrown && symptoms.train.count > 0;
  if (has_overshot && !(symptoms.skill > kMostOfIt) && !symptoms.is_adversarial)
    confidence = std::max(confidence, 0.82);
  if (have_weights_grown(seen) && !symptoms.learns_well) confidence = std::max(confidence, 0.82);
  if (ratios.early > 0.25 && symptoms.is_adversarial) confidence = std::max(confidence, 0.82);
  if (ratios.early > 0.08 && symptoms.learns_nothing) confidence = std::max(confidence, 0.5);
  if (ratios.largest_ever > 0.1 && symptoms.learns_nothing) confidence = std::max(confidence, 0.8);
  if (symptoms.train.trend < -3 &&
      symptoms.train.late - symptoms.train.best > 0.2 * (symptoms.train.first - symptoms.train.best) &&
      ratios.early > 0.02 && !symptoms.is_adversarial)
    confidence = std::max(confidence, 0.55);
  if (confidence == 0 && symptoms.has_diverged && symptoms.train.count > 3) confidence = 0.45;
  if (seen.is_adaptive()) {
    // Its steps are as large as the rate, whatever the gradients are.
    const bool bursts = symptoms.train.peak > 100 * std::max(std::abs(symptoms.train.first), 1.0);
    const double highest = std::max(rate, median_of(seen.history, "rate"));
    if (highest >= 0.03 && bursts) confidence = std::max(confidence, 0.85);
    if (highest >= 0.008 && symptoms.learns_nothing && attends(seen)) confidence = std::max(confidence, 0.8);
    constexpr double kFarTooHigh = 0.03;
    if (highest >= kFarTooHigh && learns_next_to_nothing(seen) && attends(seen)) confidence = std::max(confidence, 0.8);
  }
  // A start that was too fast, and then all of it was learned: most would leave it so.
  constexpr double kLearned = 0.65, kAtItsBest = 1.1;
  constexpr double kLeft = 0.1;  // of a loss whose best constant answer is not known
  const bool has_learned =
      std::isfinite(symptoms.skill) ? symptoms.skill > kLearned : symptoms.train.late < kLeft * symptoms.train.first;
  const bool has_recovered = has_learned && symptoms.train.late <= kAtItsBest * symptoms.train.best &&
                             !symptoms.has_diverged && !symptoms.is_adversarial;
  if (has_recovered) confidence = std::min(confidence, 0.6);
  // NaN out of nothing is an operation's, not the rate's.
  const bool is_thrown = symptoms.train.not_finite > 0 && throws_weights_away(seen);
  if (symptoms.train.not_finite > 0 && !jumps && !is_thrown) confidence = std::min(confidence, 0.5);
  if (is_thrown && symptoms.has_diverged) confidence = std::max(confidence, 0.92);
  if (confidence == 0) return;
  std::vector<std::string> evidence = seen.course();
  if (std::isfinite(ratios.early)) evidence.insert(evidence.begin(), first_steps_text(seen, ratios, rate));
  if (has_overshot)
    evidence.push_back(fmt::format("the weights have grown to {} times what they began with", number(ratios.grown)));
  if (have_weights_grown(seen))
    evidence.insert(evidence.begin(), fmt::format("the weights have grown to {} times what is usual within the first "
                                                  "steps, of which nothing was seen",
                                                  number(seen.weight_gain(seen.snapshots().front()))));
  if (symptoms.train.peak > 2 * std::abs(symptoms.train.first))
    evidence.push_back(fmt::format("the loss peaked at {}", number(symptoms.train.peak)));
  findings.push_back({"learning_rate_too_high",
                      confidence,
                      fmt::format("The learning rate of {} ({}) is too high", number(rate), seen.kind_of_optimizer()),
                      std::move(evidence),
                      {},
                      std::max<std::int64_t>(0, symptoms.train.first_bad_step),
                      seen.place("optimizer").empty() ? seen.place("step") : seen.place("optimizer")});
}

void look_for_low_rate(const Case& seen, const Ratios& ratios, Findings& findings) {
  const Symptoms& symptoms = seen.symptoms;
  if (have_weights_grown(seen)) return;                                       // against which any step is small
  const double reach = ratios.typical * static_cast<double>(symptoms.steps);  // how far the weights can have come
  // A loss without a yardstick may fall for other reasons, as that of a policy does.
  constexpr double kNowhere = 0.01;
  const bool learns_well = symptoms.learns_well && (symptoms.constant > 0 || reach > kNowhere);
  if (!(ratios.typical < 1e-3) || ratios.typical == 0 || symptoms.has_diverged || learns_well || symptoms.steps < 20)
    return;
  if (seen.snapshots().size() < 3) return;
  if (ratios.typical * warmed_up(seen) >= 1e-3) return;  // what was looked at was a warm-up
  double confidence = 0;
  if (ratios.typical < 1e-5)
    confidence = 0.85;
  else if (ratios.typical < 1e-4 && (symptoms.learns_nothing || symptoms.learns_slowly))
    confidence = 0.85;
  else if (reach < 0.1 && (symptoms.learns_nothing || symptoms.learns_slowly))
    confidence = 0.75;
  else if (symptoms.learns_slowly)
    confidence = 0.5;
  if (confidence == 0) return;
  std::vector<std::string> evidence = seen.course();
  evidence.insert(
      evidence.begin(),
      fmt::format(
          "a step changes the weights by {} % of their size (0.1 to 3 % is usual), at a learning rate of {} of {}",
          number(100 * ratios.typical), number(learning_rate(seen)), seen.kind_of_optimizer()));
  // A step is as long as the rate is large, as far as its gradients are the same.
  evidence.insert(evidence.begin() + 1, fmt::format("a learning rate of about {} would change them by 0.1 %",
                                                    number(learning_rate(seen) * 1e-3 / ratios.typical)));
  if (symptoms.train.trend > 4) evidence.push_back("the loss still falls steadily");
  findings.push_back(
      {"learning_rate_too_low",
       confidence,
       fmt::format("The learning rate of {} ({}) is too low", number(learning_rate(seen)), seen.kind_of_optimizer()),
       std::move(evidence),
       {},
       1,
       seen.place("optimizer").empty() ? seen.place("step") : seen.place("optimizer")});
}

void look_for_schedule(const Case& seen, Findings& findings) {
  const StepNumbers rates = rates_of(seen);
  if (rates.size() < 6) return;
  const double highest = *std::max_element(rates.values.begin(), rates.values.end());
  if (!(highest > 0)) return;
  std::size_t useful = rates.size();  // the first from which on next to nothing is left
  while (useful > 0 && rates.values[useful - 1] <= 0.02 * highest) --useful;
  const Symptoms& symptoms = seen.symptoms;
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, symptoms.steps));
  const bool unfinished = symptoms.learns_nothing || !symptoms.learns_well || symptoms.skill < 0.6;
  const double used = useful < rates.size() ? static_cast<double>(rates.steps[useful]) / steps : 1;
  // From one step to the next, with an optimizer that took over the parameters of another one: that was meant.
  const bool is_of_another =
      useful > 0 && rates.values[useful - 1] > 0.5 * highest && seen.history.counts.optimizers_made >= 1;
  if (useful + 2 <= rates.size() && used < 0.5 && symptoms.steps >= 20 && !is_of_another) {
    const bool is_early = used < 0.35 && !(symptoms.skill > 0.9);  // most of the training trains nothing
    findings.push_back(
        {"learning_rate_schedule",
         unfinished ? 0.85
         : is_early ? 0.8
                    : 0.3,
         fmt::format("The schedule has taken the learning rate from {} below 2 % of that by step {} of {}",
                     number(highest), rates.steps[useful], symptoms.steps),
         {fmt::format("the learning rate is {} at the end", number(rates.values.back())), seen.course().front()},
         {},
         rates.steps[useful],
         seen.place("step")});
  }
  // The optimizer still knows where the rate was to go.
  const double peak = setting(seen, "max_lr"), wanted = std::fmax(setting(seen, "initial_lr"), peak);
  const bool is_rising = rates.values.back() >= 0.999 * highest && rates.values.front() < highest;
  const bool is_warming_up = is_rising && (rates.values.front() < 0.5 * highest || std::isfinite(peak));
  const bool is_seen_late = static_cast<double>(rates.steps.back()) > 0.8 * steps;
  const bool is_over = seen.history.has_ended && is_seen_late;
  if (is_warming_up && is_over && highest < 0.5 * wanted && symptoms.steps >= 20) {
    findings.push_back(
        {"learning_rate_schedule",
         unfinished ? 0.85 : 0.5,
         fmt::format("The warm-up never ends: the learning rate is {} at the end of the training, and is to reach {}",
                     number(rates.values.back()), number(wanted)),
         {fmt::format("it began with {}", number(rates.values.front())), seen.course().front()},
         {},
         0,
         seen.place("step")});
  }
  std::size_t leaps = 0;
  for (std::size_t i = 1; i < rates.size(); ++i)
    leaps += rates.values[i] > 8 * rates.values[i - 1] && rates.values[i - 1] > 0 && i > 2 ? 1 : 0;
  if (leaps >= 1 && (symptoms.loses_what_it_learned || symptoms.has_diverged)) {
    findings.push_back({"learning_rate_schedule",
                        0.7,
                        "The learning rate jumps up in the middle of the training",
                        {fmt::format("it rose at least eightfold {} times, to {} at most", leaps, number(highest))},
                        {},
                        0,
                        seen.place("step")});
  }
  const bool only_rises = rates.values.back() > 3 * rates.values.front() && rates.values.back() >= highest * 0.999;
  if (only_rises && (symptoms.has_diverged || symptoms.loses_what_it_learned)) {
    findings.push_back({"learning_rate_schedule",
                        0.75,
                        fmt::format("The learning rate rises without end, from {} to {}", number(rates.values.front()),
                                    number(highest)),
                        {seen.course().front()},
                        {},
                        0,
                        seen.place("step")});
  }
}

void look_for_clipping(const Case& seen, Findings& findings) {
  Values shares;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const double limit = snapshot.at("clip_limit"), norm = snapshot.at("clip_norm");
    if (limit >= 0 && norm > 0) shares.push_back(limit / norm);
  }
  if (shares.size() < 3) return;
  const double share = median(shares);
  const bool slow = seen.symptoms.learns_nothing || seen.symptoms.learns_slowly || !seen.symptoms.learns_well;
  // Adam and its kin do not feel the scale of gradients.
  const bool feels_scale = seen.kind_of_optimizer() == "SGD";
  if (share > (feels_scale && slow ? 0.1 : 0.03) || (!feels_scale && !seen.symptoms.is_seen_late)) return;
  // A loss that has come most of its way down shows that the steps are large enough: limit and rate fit together.
  const bool has_arrived = seen.symptoms.train.late < 0.2 * seen.symptoms.train.first;
  if (!slow && !(feels_scale && seen.symptoms.train.trend > 4 && !has_arrived)) return;
  findings.push_back(
      {"gradient_clipping_too_strong",
       slow ? 0.88 : 0.8,
       fmt::format("Clipping leaves {} % of the gradients", number(100 * share)),
       {fmt::format("the limit is {}, the norm of the gradients {}", number(median_of(seen.history, "clip_limit")),
                    number(median_of(seen.history, "clip_norm"))),
        seen.course().front()},
       {},
       0,
       seen.place("clip")});
}

// Clipped by the value: the gradients lie at the limit, nearly all of them.
void look_for_clipped_values(const Case& seen, Findings& findings) {
  const double limit = median_of(seen.history, "clip_value");
  if (!(limit > 0) || seen.symptoms.learns_well) return;
  Values sizes;
  const auto& parameters = seen.structure().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].optimizers.empty()) sizes.push_back(median_of(seen.history, "gradient", i) / limit);
  }
  if (!(median(sizes) > 0.8)) return;
  findings.push_back({"gradient_clipping_too_strong",
                      0.85,
                      fmt::format("Nearly all gradients are cut down to {}", number(limit)),
                      {fmt::format("the root mean square of the gradients is {} of the limit", number(median(sizes))),
                       seen.course().front()},
                      {},
                      0,
                      seen.place("clip")});
}

void look_for_momentum(const Case& seen, Findings& findings) {
  const double momentum =
      std::isfinite(setting(seen, "momentum")) ? setting(seen, "momentum") : setting(seen, "betas/0");
  if (!(momentum >= 0.985)) return;
  const Symptoms& symptoms = seen.symptoms;
  const bool swings = symptoms.is_rough || symptoms.has_diverged || symptoms.learns_nothing ||
                      symptoms.loses_what_it_learned || symptoms.train.peak > 1.5 * symptoms.train.first ||
                      symptoms.eval_late > 2 * symptoms.eval_best;
  findings.push_back(
      {"momentum_too_high",
       swings ? 0.85 : 0.35,
       fmt::format("A momentum of {} makes the weights swing", number(momentum)),
       {fmt::format("{} has a momentum of {}", seen.kind_of_optimizer(), number(momentum)), seen.course().front()},
       {},
       0,
       seen.place("optimizer")});
}

// Does the graph use a weight again and again, as a recurrent layer does in each of its steps?
bool is_through_time(const Case& seen) {
  constexpr std::size_t kTimes = 5;
  const auto& modules = seen.structure().modules;
  const bool is_recurrent = std::any_of(modules.begin(), modules.end(), [](const Module& each) {
    return is_one_of(each.kind, {"RNN", "LSTM", "GRU"});
  });
  const Graph* const graph = seen.graph();
  if (is_recurrent || graph == nullptr) return is_recurrent;
  std::map<std::int64_t, std::size_t> uses;
  for (const GraphNode& node : graph->nodes) {
    if (!is_linear_map(node.operation)) continue;
    for (const std::size_t from : node.from) {
      const std::int64_t number = graph->nodes[past_views(*graph, from)].number;
      if (number >= 0 && ++uses[number] >= kTimes) return true;
    }
  }
  return false;
}

void look_for_explosion(const Case& seen, const Ratios& ratios, Findings& findings) {
  Values norms;
  double first = kUnknown;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* gradient = snapshot.find("gradient");
    if (gradient == nullptr) continue;
    double largest = 0;
    for (const double each : *gradient) largest = std::isfinite(each) ? std::max(largest, each) : largest;
    if (std::isnan(first)) first = largest;
    norms.push_back(largest);
  }
  if (norms.size() < 2) return;
  const bool recurrent =
      std::any_of(seen.structure().modules.begin(), seen.structure().modules.end(), [](const Module& each) {
        return each.kind.find("RNN") != std::string::npos || each.kind.find("LSTM") != std::string::npos ||
               each.kind.find("GRU") != std::string::npos;
      });
  const double peak = *std::max_element(norms.begin(), norms.end());
  // Before the first step, the rate has done nothing yet; through time, the same weights multiply again and again.
  const double weight = seen.snapshots().empty() ? kUnknown : seen.snapshots().front().at("weight", 0);
  const bool is_ill = seen.symptoms.has_diverged || seen.symptoms.learns_nothing || !seen.symptoms.learns_well;
  if (first > 30 && first > 30 * weight && is_ill && is_through_time(seen) && !(learning_rate(seen) > 0.1)) {
    findings.push_back({"exploding_gradients",
                        0.88,
                        "Gradients explode on their way back through time, before the first step is made",
                        {fmt::format("the largest gradient has a root mean square of {} at the first step, {} at most",
                                     number(first), number(peak)),
                         seen.course().front()},
                        {},
                        0,
                        seen.place("backward")});
  } else if (first > 30 && (seen.symptoms.has_diverged || seen.symptoms.learns_nothing || seen.symptoms.is_rough)) {
    findings.push_back({"exploding_gradients",
                        recurrent ? 0.75 : 0.45,
                        "Gradients explode on their way back from the first step on",
                        {fmt::format("the largest gradient has a root mean square of {} at the first step, {} at most",
                                     number(first), number(peak)),
                         seen.course().front()},
                        {},
                        0,
                        seen.place("backward")});
  } else if (peak > 100 * std::max(first, 1e-6) && peak > 1 && (seen.symptoms.has_diverged || seen.symptoms.is_rough) &&
             !(ratios.early > 0.2)) {
    findings.push_back(
        {"exploding_gradients",
         recurrent ? 0.7 : 0.4,
         "Gradients explode while the training goes on",
         {fmt::format("the largest gradient grew from {} to {}", number(first), number(peak)), seen.course().front()},
         {},
         0,
         seen.place("backward")});
  }
}

// A loss that is multiplied by a large number before backward(), as scalers do, and gradients that are not divided by
// it.
void look_for_scaled_loss(const Case& seen, Findings& findings) {
  constexpr double kMany = 16;
  Values factors;
  for (const Snapshot& snapshot : seen.snapshots()) {
    if (const double factor = snapshot.at("loss") / snapshot.at("compared_loss"); std::isfinite(factor))
      factors.push_back(factor);
  }
  if (factors.size() < 3 || seen.is_adaptive()) return;  // which do not feel it
  const auto [low, high] = std::minmax_element(factors.begin(), factors.end());
  const bool is_ill = seen.symptoms.has_diverged || seen.symptoms.learns_nothing || seen.symptoms.is_rough;
  if (!(*low > kMany) || *high > 1.001 * *low || !is_ill) return;
  findings.push_back(
      {"loss_scaling",
       0.88,
       fmt::format("The loss is multiplied by {} before backward(), and the gradients are not divided "
                   "by it before the step",
                   number(*low)),
       {fmt::format("the loss function gives {}, backward() is called on {}",
                    number(seen.snapshots().front().at("compared_loss")), number(seen.snapshots().front().at("loss"))),
        seen.course().front()},
       {},
       0,
       seen.place("backward")});
}

void look_for_decay(const Case& seen, Findings& findings) {
  const double decay = setting(seen, "weight_decay"), rate = setting(seen, "lr");
  // Adam takes the decay for a part of the gradient: where gradients are small it decides where the steps go.
  const bool is_coupled = is_one_of(seen.kind_of_optimizer(), {"Adam", "NAdam", "RAdam", "RMSprop", "Adagrad"});
  if (!(decay >= (is_coupled ? 1e-3 : 0.05)) || !std::isfinite(rate)) return;
  const auto& parameters = seen.structure().parameters;
  const auto& snapshots = seen.snapshots();
  if (snapshots.size() < 4) return;
  Values shrunk, pulls;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].shape.size() < 2 || parameters[i].optimizers.empty()) continue;
    const double before = snapshots.front().at("weight", i), after = snapshots.back().at("weight", i),
                 gradient = median_of(seen.history, "gradient", i);
    if (before > 0) shrunk.push_back(after / before);
    if (gradient > 0) pulls.push_back(decay * before / gradient);
  }
  if (shrunk.empty()) return;
  // What a step takes off, whatever the gradients are.
  constexpr double kMuch = 0.05;
  const double taken = is_coupled ? 0 : rate * decay;
  const bool ill = seen.symptoms.learns_nothing || seen.symptoms.skill < 0.5 || seen.symptoms.loses_what_it_learned ||
                   !seen.symptoms.learns_well;
  const double share = median(shrunk);
  double confidence = 0;
  const double little = is_coupled ? 0.6 : 0.5;
  if (taken > kMuch && share < little && ill)
    confidence = 0.94;
  else if (share < little && ill)
    confidence = 0.85;
  else if (is_coupled && share < little && median(pulls) > 0.3 && !(seen.symptoms.skill > 0.9))
    confidence = 0.8;
  else if (median(pulls) > 3 && ill)
    confidence = 0.65;
  if (confidence == 0) return;
  findings.push_back(
      {"weight_decay_too_strong",
       confidence,
       fmt::format("A weight decay of {} shrinks the weights faster than they learn", number(decay)),
       {fmt::format("the weights have come down to {:.0f} % of where they began", 100 * share),
        taken > kMuch ? fmt::format("each step takes {:.0f} % of them off", 100 * std::min(taken, 1.0))
                      : fmt::format("the decay pulls {} times as strongly as the gradients", number(median(pulls))),
        seen.course().front()},
       {},
       0,
       seen.place("optimizer")});
}

}  // namespace

void look_at_rates(const Case& seen, Findings& findings) {
  if (seen.snapshots().empty()) return;
  const Ratios ratios = ratios_of(seen);
  look_for_high_rate(seen, ratios, findings);
  look_for_low_rate(seen, ratios, findings);
  look_for_schedule(seen, findings);
  look_for_clipping(seen, findings);
  look_for_clipped_values(seen, findings);
  look_for_momentum(seen, findings);
  look_for_explosion(seen, ratios, findings);
  look_for_scaled_loss(seen, findings);
  look_for_decay(seen, findings);
}

}  // namespace trainwarden::diagnosis
