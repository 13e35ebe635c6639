// ModeMistake: modules whose behaviour depends on the mode (dropout, batch norm) run in the wrong one.
//
// Source: PyTorch's documentation of Module.train() and Module.eval(); TrainCheck reports such errors in the wild.
// Ours: only when ALL of them are in the wrong mode, since a batch norm that is frozen during training, or a dropout
// that is kept during evaluation, are done on purpose; and `steps` times in a row. A training whose modules ran in
// training mode before and then all run in evaluation mode has lost its model.train(): a warning. One that never did
// anything else may do so on purpose: a note.
//
// State: for each worker, two counters and whether a train step was ever right.
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/builtin/training/training_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace mode_mistake_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr const char* kTrainAdvice =
    "Call model.train() after each evaluation, before the first training step; trainwarden/called_in_train is then "
    "above 0.";
constexpr const char* kEvalAdvice =
    "Call model.eval() before the evaluation; trainwarden/called_in_eval is then above 0, and the result no longer "
    "depends on chance and on the batch.";

class ModeMistake final : public Rule {
 public:
  explicit ModeMistake(std::int64_t steps) : steps_(steps) {}

  Verdict evaluate(const StepWindow& window) override {
    const Mode mode = window.mode();
    if (mode != Mode::kTrain && mode != Mode::kEval) {
      return Verdict::not_applicable(fmt::format("{} is neither a train nor an eval step", describe_step(window)));
    }
    const auto in_train = scalar_signals(window, signals::kCalledInTrain);
    const auto in_eval = scalar_signals(window, signals::kCalledInEval);
    std::size_t judged = 0;
    std::vector<Evidence> evidence;
    bool was_right = false;
    for (const auto& [spot, wrong] : (mode == Mode::kTrain ? in_eval : in_train).signals) {
      const double* const right = signal_of(mode == Mode::kTrain ? in_train : in_eval, spot.worker);
      if (right == nullptr || !(*right + wrong > 0)) continue;
      ++judged;
      WorkerState& state = workers_[spot.worker];
      if (!is_wrong(state, mode, *right, wrong)) continue;
      was_right |= state.trained_right;
      evidence.push_back({spot.tensor, spot.shown_worker, "modules", wrong, 0, window.global_step()});
    }
    if (judged == 0) return nothing_to_judge(in_eval.gaps, "module whose behaviour depends on the mode", window);
    if (evidence.empty()) return Verdict::ok();
    return verdict(mode, was_right, std::move(evidence), window);
  }

  std::vector<Collection> needs() const override { return {need_signals()}; }

 private:
  struct WorkerState {
    std::int64_t wrong_train_steps = 0;  // in a row
    std::int64_t wrong_eval_steps = 0;
    bool trained_right = false;  // some train step had modules in training mode
  };

  bool is_wrong(WorkerState& state, Mode mode, double right, double wrong) const {
    std::int64_t& in_a_row = mode == Mode::kTrain ? state.wrong_train_steps : state.wrong_eval_steps;
    if (right > 0 || !(wrong > 0)) {
      in_a_row = 0;
      state.trained_right |= mode == Mode::kTrain;
      return false;
    }
    return ++in_a_row >= steps_;
  }

  Verdict verdict(Mode mode, bool was_right, std::vector<Evidence> evidence, const StepWindow& window) const {
    const bool training = mode == Mode::kTrain;
    std::string message = fmt::format(
        "All {} modules whose behaviour depends on the mode (dropout, batch norm and their like) ran in {} mode at {} "
        "and the {} {} steps before{}.",
        evidence.front().value, training ? "evaluation" : "training", describe_step(window), steps_ - 1, name(mode),
        training && was_right ? ", although they were trained in training mode earlier" : "");
    const bool sure = !training || was_right;
    Verdict verdict = fired(std::move(message), training ? kTrainAdvice : kEvalAdvice, std::move(evidence),
                            sure ? Severity::kWarning : Severity::kInfo);
    verdict.confidence = sure ? 0.8 : 0.5;
    return verdict;
  }

  const std::int64_t steps_;
  std::map<std::string, WorkerState> workers_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const std::int64_t steps = read.integer("steps", 1, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new ModeMistake(steps));
}

}  // namespace
}  // namespace mode_mistake_rule

RuleKind mode_mistake() {
  return {{.name = "ModeMistake",
           .summary = "Fires when dropout, batch norm and their like train in evaluation mode, or evaluate in training "
                      "mode.",
           .parameters = {{"steps", "5", "steps of the mode in a row in which all such modules are in the wrong one"}},
           .topic = "training",
           .details =
               "Fires when, in several train steps in a row, all modules whose behaviour depends on the mode ran in "
               "evaluation mode although they ran in training mode before (a forgotten `model.train()`); if they never "
               "did, that may be meant and is a note. Fires also when all of them ran in training mode in eval steps "
               "(a forgotten `model.eval()`). A model with only some of them in the other mode, as with a frozen batch "
               "norm, is fine.\n\n"
               "Needs the signals `trainwarden/called_in_train` and `trainwarden/called_in_eval`. The mode of the step "
               "is the program's, where it sets one; where it is concluded from the model's own flag, a forgotten "
               "`model.eval()` makes train steps of the evaluation and cannot be seen. Evidence: `modules`, how many "
               "ran in the wrong mode.",
           .source = "PyTorch's documentation of Module.train and Module.eval; the counting is ours",
           .by_default = true,
           .in_process = true,
           .consequences = {"LossNotDecreasing", "Overfit"}},
          mode_mistake_rule::create};
}

}  // namespace trainwarden::rules
