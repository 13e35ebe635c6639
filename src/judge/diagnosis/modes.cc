// Modes: training and evaluation mode, batch norm, dropout.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

bool depends_on_mode(const Module& module) {
  if (const auto p = module.settings.find("p"); p != module.settings.end() && p->second == 0) return false;
  return module.kind.find("Dropout") != std::string::npos || module.kind.find("BatchNorm") != std::string::npos;
}

std::vector<std::string> modal_modules(const Case& seen) {
  std::vector<std::string> names;
  for (const Module& module : seen.structure().modules) {
    if (depends_on_mode(module)) names.push_back(module.name);
  }
  return names;
}

// Batch norm that has never averaged over a batch normalises nothing.
bool never_tracked(const Case& seen) {
  std::size_t norms = 0, fresh = 0;
  for (const Module& module : seen.structure().modules) {
    const auto tracked = module.settings.find("tracked");
    if (tracked == module.settings.end()) continue;
    ++norms;
    fresh += tracked->second == 0 ? 1 : 0;
  }
  return norms > 0 && fresh == norms;
}

void look_for_modes(const Case& seen, Findings& findings) {
  const std::vector<std::string> modal = modal_modules(seen);
  if (modal.empty()) return;
  const Counts& counts = seen.history.counts;
  const double no_grad = std::max(counts.no_grad, counts.no_grad_training + counts.other_steps);
  if (!seen.symptoms.is_adversarial && counts.no_grad_training >= 1 && counts.no_grad_training > 0.5 * no_grad) {
    // A teacher or a rollout is called in nearly each step, an evaluation now and then.
    const double share = counts.no_grad_steps > 0 ? counts.no_grad_steps / 0.22 : no_grad / 0.5;
    const double steps = std::max(counts.forward, counts.train_steps);
    const bool is_part_of_steps = share > steps && steps >= 20;
    const bool averages = counts.repeats > 0.4 * counts.no_grad_training;  // the same input again: dropout is meant
    findings.push_back(
        {"training_mode_in_evaluation",
         averages                       ? 0.3
         : is_part_of_steps             ? 0.35
         : counts.no_grad_training >= 4 ? 0.85
                                        : 0.45,
         fmt::format("The model is evaluated in training mode, where {} behave differently", listed(modal)),
         {fmt::format("{} of {} calls without gradients found the model in training mode", counts.no_grad_training,
                      no_grad)},
         {},
         0,
         {}});
  }
  // Another training of the process may have been in evaluation mode on purpose, as one that is to learn a batch by
  // heart.
  const Counts &before = seen.history.counts_before, after = seen.history.counts_after.value_or(counts);
  const double in_evaluation = after.grad_in_eval - before.grad_in_eval, passes = after.forward - before.forward;
  if (in_evaluation >= 3 && in_evaluation > 0.3 * passes) {
    findings.push_back(
        {"evaluation_mode_in_training",
         never_tracked(seen)            ? 0.93
         : in_evaluation > 0.9 * passes ? 0.75
                                        : 0.88,
         fmt::format("The model is trained in evaluation mode, where {} are switched off", listed(modal)),
         {fmt::format("{} of {} training passes found the model in evaluation mode", in_evaluation, passes)},
         {},
         0,
         {}});
  }
}

// In evaluation mode nothing is random in most models: a dropout that does not ask for the mode is.
void look_for_random_evaluation(const Case& seen, Findings& findings) {
  double calls = 0, random = 0, repeats = seen.history.counts.repeats;
  for (const Evaluated& each : seen.history.evaluations) {
    if (const double count = each.numbers.at("eval_random", 0); count > 0) {
      calls += count;
      random += each.numbers.at("eval_random", 1);
      repeats += std::max(0.0, each.numbers.at("eval_random", 2));
    }
  }
  if (calls < 2 || random < 0.9 * calls) return;
  const bool averages = repeats > 0;  // the same input again: dropout is meant
  findings.push_back(
      {"training_mode_in_evaluation",
       averages                        ? 0.3
       : seen.place("dropout").empty() ? 0.4  // models that draw samples do so in evaluation, too
                                       : 0.82,
       "The model draws random numbers in evaluation mode, as a dropout does that is always on",
       {fmt::format("in {} of {} looked-at calls the generator of random numbers has moved on", random, calls),
        "F.dropout drops always, unless it gets training=self.training"},
       {},
       0,
       seen.place("dropout")});
}

std::string momentum_of_batch_norm(double momentum) {
  return fmt::format("momentum is {}: PyTorch's is the share of the new batch, 0.1 by default", number(momentum));
}

// Evaluation goes by the running statistics: they must be those of the batches that the model is trained on.
void look_for_strange_statistics(const Case& seen, Findings& findings) {
  constexpr std::int64_t kSettled = 30;  // with the usual momentum of 0.1 less than 5 % are left of where they began
  constexpr double kFar = 0.7, kFarLogarithm = 1.2;
  if (seen.symptoms.is_adversarial) return;  // a discriminator gets real and made samples by turns
  const auto& layers = seen.structure().layers;
  std::size_t looked = 0;
  std::map<std::size_t, std::size_t> strange;  // layer → in how many looks
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* norms = snapshot.find("norms");
    if (norms == nullptr || norms->size() != 2 * layers.size() || snapshot.step < kSettled) continue;
    ++looked;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if ((*norms)[2 * i] > kFar || std::abs((*norms)[2 * i + 1]) > kFarLogarithm) ++strange[i];
    }
  }
  std::vector<std::string> names;
  double slowest = 1;
  for (const auto& [layer, looks] : strange) {
    if (looks < 3 || 10 * looks < 9 * looked) continue;
    names.push_back(layers[layer]);
    if (const Module* const module = seen.structure().module(layers[layer])) {
      const auto momentum = module->settings.find("momentum");
      if (momentum != module->settings.end()) slowest = std::min(slowest, momentum->second);
    }
  }
  if (names.empty()) return;
  const bool is_slow = slowest < 0.02;  // 0.99 of others is 0.01 here
  findings.push_back(
      {"batch_norm_statistics",
       is_slow ? 0.88 : 0.6,
       fmt::format("The running statistics of {} are not those of the batches, and evaluation goes by them",
                   listed(names)),
       {fmt::format(
            "in {} of {} looks after step {} they lie more than {} standard deviations apart, or their variances "
            "differ by more than a factor of {:.1f}",
            strange.begin()->second, looked, kSettled, number(kFar), std::exp(kFarLogarithm)),
        is_slow ? momentum_of_batch_norm(slowest)
                : "batches of other data go through the same layers, or weights move faster than the statistics"},
       {},
       kSettled,
       {}});
}

// With a small momentum the running statistics are those of the first day when the training is over.
void look_for_statistics_that_never_came(const Case& seen, Findings& findings) {
  constexpr double kMostly = 0.5, kFarLogarithm = 0.7, kFar = 0.7;
  if (seen.symptoms.is_adversarial || seen.symptoms.steps < 20) return;
  const auto& layers = seen.structure().layers;
  std::vector<std::string> names;
  double left = 0, momentum = 1;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Module* const module = seen.structure().module(layers[i]);
    if (module == nullptr || !contains(module->kind, "BatchNorm")) continue;
    const auto share = module->settings.find("momentum");
    if (share == module->settings.end()) continue;
    const double first = std::pow(1 - share->second, static_cast<double>(seen.symptoms.steps));
    if (!(first > kMostly)) continue;
    const Snapshot* last = nullptr;
    for (const Snapshot& snapshot : seen.snapshots()) {
      if (snapshot.find("norms") != nullptr) last = &snapshot;
    }
    if (last == nullptr) return;
    const bool is_far = last->at("norms", 2 * i) > kFar || std::abs(last->at("norms", 2 * i + 1)) > kFarLogarithm;
    if (!is_far) continue;
    names.push_back(layers[i]);
    left = std::max(left, first), momentum = std::min(momentum, share->second);
  }
  if (names.empty()) return;
  findings.push_back(
      {"batch_norm_statistics",
       0.88,
       fmt::format("The running statistics of {} have not come to those of the batches, and evaluation goes by them",
                   listed(names)),
       {momentum_of_batch_norm(momentum),
        fmt::format("after {} steps {:.0f} % of where they began is left", seen.symptoms.steps, 100 * left)},
       {},
       0,
       {}});
}

// Does the loss of evaluations jump up again and again?
bool is_erratic_in_evaluation(const Case& seen) {
  std::size_t pairs = 0, rises = 0;
  double before = kUnknown;
  for (const Evaluated& each : seen.history.evaluations) {
    const double now = each.loss;
    if (!std::isfinite(now)) continue;
    if (std::isfinite(before)) {
      ++pairs;
      if (now > 1.25 * before) ++rises;
    }
    before = now;
  }
  return pairs >= 3 && 3 * rises >= pairs;
}

// With a momentum near 1 the running statistics are those of the last batch alone. Keras writes 0.9 for what is 0.1 in
// PyTorch.
void look_for_statistics_of_one_batch(const Case& seen, Findings& findings) {
  constexpr double kMostly = 0.5;
  std::vector<std::string> names;
  double momentum = 0;
  for (const Module& module : seen.structure().modules) {
    const auto share = module.settings.find("momentum");
    // Whoever writes 1 wants the last batch alone.
    if (!contains(module.kind, "BatchNorm") || share == module.settings.end() || share->second < kMostly ||
        share->second >= 1)
      continue;
    names.push_back(module.name);
    momentum = std::max(momentum, share->second);
  }
  if (names.empty()) return;
  const bool hurts = seen.symptoms.eval_late > 1.3 * seen.symptoms.train.late || is_erratic_in_evaluation(seen);
  findings.push_back(
      {"batch_norm_statistics",
       hurts ? 0.85 : 0.6,
       fmt::format("The running statistics of {} are little more than those of the last batch, and evaluation "
                   "goes by them",
                   listed(names)),
       {momentum_of_batch_norm(momentum)},
       {},
       0,
       {}});
}

// What is evaluated is another model than what is trained, as an average of its weights: batch norm in it still has the
// statistics that it was made with.
void look_for_fresh_statistics(const Case& seen, Findings& findings) {
  std::size_t evaluations = 0, fresh = 0;
  for (const Evaluated& each : seen.history.evaluations) {
    const double norms = each.numbers.at("eval_norms", 0);
    if (!(norms > 0) || each.after_step < 1) continue;
    ++evaluations;
    fresh += each.numbers.at("eval_norms", 1) == norms ? 1 : 0;
  }
  if (fresh == 0 || fresh < evaluations) return;
  findings.push_back({"batch_norm_statistics",
                      0.9,
                      "The model that is evaluated has running statistics of batch norm as they were made: mean 0 and "
                      "variance 1, whatever the training has seen",
                      {fmt::format("in {} of {} looked-at evaluations", fresh, evaluations),
                       "an average of weights has to take over the buffers, too"},
                      {},
                      0,
                      {}});
}

void look_for_small_batches(const Case& seen, Findings& findings) {
  if (seen.snapshots().empty()) return;
  std::vector<std::string> norms;
  bool is_of_images = true;  // where a channel is averaged over its places, too
  for (const Module& module : seen.structure().modules) {
    if (module.kind.find("BatchNorm") == std::string::npos) continue;
    norms.push_back(module.name);
    is_of_images = is_of_images && (module.kind == "BatchNorm2d" || module.kind == "BatchNorm3d");
  }
  const double batch = median_of(seen.history, "input_shape", 0);
  if (norms.empty() || !(batch <= 4)) return;
  const bool learns = seen.symptoms.learns_well && !seen.symptoms.is_rough;
  const double weight = is_of_images && learns ? 0.5 : 1;
  findings.push_back({"batch_norm_small_batch",
                      weight * (batch <= 2 ? 0.88 : 0.65),
                      fmt::format("Batch norm ({}) averages over batches of {} samples", listed(norms), batch),
                      {fmt::format("batches have {} samples", batch)},
                      {},
                      0,
                      {}});
}

void look_for_dropout(const Case& seen, Findings& findings) {
  std::vector<std::string> strong;
  double most = 0;
  for (const Module& module : seen.structure().modules) {
    for (const char* key : {"p", "dropout"}) {
      const auto p = module.settings.find(key);
      if (p == module.settings.end() ||
          (std::string_view(key) == "p" && module.kind.find("Dropout") == std::string::npos))
        continue;
      if (p->second >= 0.8) strong.push_back(module.name), most = std::max(most, p->second);
    }
  }
  if (strong.empty()) return;
  const bool ill = seen.is_ill() || !seen.symptoms.learns_well || seen.symptoms.skill < 0.7;
  findings.push_back({"dropout_too_strong",
                      ill ? 0.88 : 0.6,
                      fmt::format("Dropout takes away {:.0f} % of the signal in {}", 100 * most, listed(strong)),
                      {fmt::format("p is {}", number(most))},
                      {},
                      0,
                      {}});
}

}  // namespace

void look_at_modes(const Case& seen, Findings& findings) {
  look_for_modes(seen, findings);
  look_for_random_evaluation(seen, findings);
  look_for_strange_statistics(seen, findings);
  look_for_statistics_that_never_came(seen, findings);
  look_for_statistics_of_one_batch(seen, findings);
  look_for_fresh_statistics(seen, findings);
  look_for_small_batches(seen, findings);
  look_for_dropout(seen, findings);
}

}  // namespace trainwarden::diagnosis
