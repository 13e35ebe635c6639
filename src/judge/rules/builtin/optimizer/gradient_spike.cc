// GradientSpike: the norm of all gradients jumps far above its own noise; judged by whether it comes back.
//
// Source: profiler specification, rule 3 (the same on the gradient norm), and ZClip. The norm is √Σ‖gᵢ‖² over the
// gradients of one worker at one step, from their sums of squares (or saved l2 norms). Ours: the noise is learned again
// when more gradients come (a backbone is unfrozen), several optimizers make it a note, and the layer that is named is
// the one whose norm grew most against its own level.
//
// State: a few numbers for each worker, one for each gradient.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/losses/spike_detector.h"
#include "judge/rules/builtin/optimizer/optimizer_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/training_facts.h"

namespace trainwarden::rules {
namespace gradient_spike_rule {
namespace {

constexpr double kLevelWeight = 0.05;  // of the newest norm in a gradient's own level
constexpr const char* kAdvice =
    "Look at the batch of the step at which it began and at the layer that is named; clip gradients to a little above "
    "their usual norm, and if it happens again at another batch lower the learning rate.";

// The gradients of one worker.
struct Group {
  explicit Group(const SpikeLimits& limits) : detector(limits) {}
  SpikeDetector detector;
  std::size_t tensors = 0;
  std::map<std::string, double> levels;  // mean of log norm, by tensor
  Evidence largest_rise;                 // when the spike began
  std::string largest_rise_text;
};

struct WorkerNorms {
  std::string shown_worker;
  double square_sum = 0;
  std::vector<std::pair<std::string, double>> norms;  // by tensor
};

class GradientSpike final : public Rule {
 public:
  GradientSpike(TensorSelection selection, const SpikeLimits& limits)
      : selection_(std::move(selection)), limits_(limits) {}

  Verdict evaluate(const StepWindow& window) override {
    const Status facts = facts_.update(window);
    if (!facts.ok()) return Verdict::insufficient_data(facts.message());
    const StepReductions gradients = read_reductions(selection_, Reduction::kL2, false, window);
    if (gradients.tensors.empty()) return nothing_to_judge(gradients.gaps, "gradient", window);
    std::map<std::string, WorkerNorms> workers;
    for (const auto& [spot, norm] : gradients.tensors) {
      WorkerNorms& worker = workers[spot.worker];
      worker.shown_worker = spot.shown_worker;
      worker.square_sum += norm * norm;
      worker.norms.emplace_back(spot.tensor, norm);
    }
    return judge(workers, window);
  }

  std::vector<Collection> needs() const override {
    std::vector<Collection> needs = needs_of(selection_, "gradient_spike", KeepForm::reduced(), 1);
    needs.push_back(need_signals());
    return needs;
  }

 private:
  struct Found {
    std::string worker;
    double norm = 0;
    SpikeReading reading;
    Severity severity = Severity::kInfo;
    const Group* group = nullptr;
  };

  Verdict judge(const std::map<std::string, WorkerNorms>& workers, const StepWindow& window) {
    std::vector<Found> found;
    bool is_judged = false;
    std::string waiting;
    for (const auto& [worker, norms] : workers) {
      Group& group = groups_.try_emplace(worker, limits_).first->second;
      if (norms.norms.size() > group.tensors) {
        group = Group(limits_);
        group.tensors = norms.norms.size();
      }
      const double norm = std::sqrt(norms.square_sum);
      const SpikeReading reading = group.detector.add(window.global_step(), norm);
      follow(group, norms, reading);
      is_judged |= reading.state == SpikeState::kCalm;
      if (reading.state == SpikeState::kRecovered || reading.state == SpikeState::kLasting) {
        found.push_back({norms.shown_worker, norm, reading, severity(reading), &group});
      } else if (reading.state != SpikeState::kCalm && waiting.empty()) {
        waiting = wait_text(norm, reading);
      }
    }
    if (!found.empty()) return verdict_on(std::move(found), window);
    return is_judged ? Verdict::ok() : Verdict::insufficient_data(waiting);
  }

  Severity severity(const SpikeReading& reading) const {
    const bool is_issue = reading.state == SpikeState::kLasting && !facts_.has_several_optimizers();
    return is_issue ? Severity::kWarning : Severity::kInfo;
  }

  // Keeps the level of each gradient while all is calm, and finds the one that left it most when a spike begins.
  static void follow(Group& group, const WorkerNorms& norms, const SpikeReading& reading) {
    const bool begins = reading.state == SpikeState::kSpiking && reading.points == 1;
    const bool is_calm = reading.state == SpikeState::kCalm || reading.state == SpikeState::kLearning;
    double largest = -1;
    for (const auto& [tensor, norm] : norms.norms) {
      if (!(norm > 0) || !std::isfinite(norm)) continue;
      const auto [place, is_new] = group.levels.try_emplace(tensor, std::log(norm));
      if (is_calm) place->second += kLevelWeight * (std::log(norm) - place->second);
      const double level = std::exp(place->second);
      if (!begins || norm / level <= largest) continue;
      largest = norm / level;
      group.largest_rise = {tensor, norms.shown_worker, "l2", norm, level, reading.first_step};
      group.largest_rise_text = fmt::format("most in \"{}\", from {:.3g} to {:.3g}", tensor, level, norm);
    }
  }

  static std::string wait_text(double norm, const SpikeReading& reading) {
    if (reading.state == SpikeState::kUnfit) {
      return fmt::format("the norm of all gradients is {:g}; a positive finite one is judged", norm);
    }
    if (reading.state == SpikeState::kLearning) {
      return fmt::format("the noise of the gradients' norm is learned from {} steps", SpikeDetector::kLearningPoints);
    }
    return fmt::format("the gradients' norm has spiked at step {}, and it is not known yet whether that lasts",
                       reading.first_step);
  }

  Verdict verdict_on(std::vector<Found> found, const StepWindow& window) const {
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
      return std::pair(a.severity, a.reading.ratio) > std::pair(b.severity, b.reading.ratio);
    });
    std::vector<Evidence> evidence;
    for (const Found& one : found) {
      const bool lasts = one.reading.state == SpikeState::kLasting;
      evidence.push_back(one.group->largest_rise);
      evidence.push_back({"gradients", one.worker, "norm_ratio",
                          (lasts ? one.norm : one.reading.peak) / one.reading.baseline, limits_.ratio,
                          lasts ? window.global_step() : one.reading.first_step});
    }
    const Found& worst = found.front();
    return fired(message(worst, window), kAdvice, std::move(evidence), worst.severity);
  }

  static std::string message(const Found& worst, const StepWindow& window) {
    const SpikeReading& reading = worst.reading;
    if (reading.state == SpikeState::kRecovered) {
      return fmt::format(
          "The norm of all gradients spiked at step {} to {:.3g}, {:.3g} times its level ({}), and was back "
          "after {} steps.",
          reading.first_step, reading.peak, reading.peak / reading.baseline, worst.group->largest_rise_text,
          reading.points - SpikeDetector::kCalmPoints);
    }
    return fmt::format(
        "The norm of all gradients jumped at step {} ({}) and has not come back by {}: it is {:.3g}, {:.3g} "
        "times its level before.",
        reading.first_step, worst.group->largest_rise_text, describe_step(window), worst.norm, reading.ratio);
  }

  const TensorSelection selection_;
  const SpikeLimits limits_;
  TrainingFacts facts_;
  std::map<std::string, Group> groups_;  // by worker
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection;
  selection.collections = read.collections("collection_names");
  const SpikeLimits limits = read_spike_limits(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new GradientSpike(std::move(selection), limits));
}

}  // namespace
}  // namespace gradient_spike_rule

RuleKind gradient_spike() {
  RuleDescription description;
  description.name = "GradientSpike";
  description.summary =
      "Fires when the norm of all gradients jumps far above its own noise: a note when it recovers, a warning when it "
      "lasts.";
  description.parameters = {
      {"collection_names", "gradients", "collections whose tensors are judged, separated by commas"},
      {"z_threshold", "6", "how far the logarithm of the norm is above its mean, in standard deviations of its noise"},
      {"ratio_threshold", "5", "and how many times its level the norm is"},
      {"recovery_steps", "50", "steps (of those that hold gradients) within which a spike may recover"}};
  description.topic = "gradients";
  description.details =
      R"(Takes √Σ‖g‖² over the gradients of a worker as one number a step and judges it as LossSpike judges a loss: a spike
begins `z_threshold` deviations and more than `ratio_threshold` times above the exponential average (decay 0.97), is
a note when it recovers, and fires as a warning when it has not after `recovery_steps`. The first evidence is `l2`
of the gradient that rose most against its own level, which is the threshold there; the second `norm_ratio`.

It needs statistics of the gradients as the optimizer meets them. The first 30 steps are used to learn the noise,
again when more gradients come than ever before (unfreezing). With several optimizers a lasting spike stays a note.
Norms that are zero or not finite are left out: see NonFiniteOrigin.)";
  description.source = "ZClip (z-score on exponential averages, decay 0.97)";
  description.by_default = true;
  description.in_process = true;
  description.consequences = {"LossSpike", "Divergence", "LossNotDecreasing", "LossDrift", "GradientByDepth"};
  return {std::move(description), gradient_spike_rule::create};
}

}  // namespace trainwarden::rules
