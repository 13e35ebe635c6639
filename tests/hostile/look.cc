#include "look.h"

#include <algorithm>

#include <fmt/format.h>

#include "crafted_run.h"
#include "faults.h"
#include "judge/rules/engine.h"
#include "judge/rules/rule_summary.h"
#include "react/events/description.h"
#include "react/events/ledger.h"
#include "read/trial/trial_access.h"
#include "store/journal/run_folder.h"
#include "store/storage/local_storage.h"
#include "trainwarden/transfer.h"
#include "trainwarden/trial.h"
#include "ui/views/black_boxes.h"
#include "ui/views/checkpoints.h"
#include "ui/views/rule_board.h"
#include "ui/views/run_row.h"

namespace trainwarden::hostile {
namespace {

constexpr std::size_t kMostNames = 60;
constexpr std::size_t kMostCollections = 20;

void look_at_tensor(Trial& trial, const std::string& name, Faults& faults) {
  faults.take(trial.tensor_info(name), "tensor_info");
  for (const std::int64_t step : ends_of(trial.steps_of(name), 3)) {
    faults.take(trial.shape(name, step), "shape");
    faults.take(trial.statistics(name, step), "statistics");
    faults.take(trial.value(name, step), "value");
    faults.take(trial.shared_value(name, step), "shared_value");
    faults.take(trial.scalar(name, step), "scalar");
    faults.take(trial.saved_reductions(name, step), "saved_reductions");
    faults.take(trial.reduction(name, step, Reduction::kL2), "reduction");
    (void)trial.workers_of(name, step);
  }
}

void look_at_trial(Trial& trial, Faults& faults) {
  faults.take(trial.refresh(), "refresh");
  for (const Mode mode : trial.modes()) trial.steps(mode, true);
  for (const std::int64_t step : ends_of(trial.steps(), 5)) {
    trial.mode_of(step);
    faults.take(trial.tensor_names({.include = {}, .collection = {}, .mode = {}, .step = step}), "tensor_names");
  }
  for (const std::string& name : ends_of(trial.collections(), kMostCollections)) {
    faults.take(trial.collection(name), "collection");
  }
  const auto names = trial.tensor_names();
  faults.take(names, "tensor_names");
  for (const std::string& name : ends_of(names.value_or({}), kMostNames)) look_at_tensor(trial, name, faults);
  trial.losses();
}

void export_all(Trial& trial, const std::filesystem::path& scratch, Faults& faults) {
  for (const ExportFormat format : {ExportFormat::kJson, ExportFormat::kNpz}) {
    std::filesystem::remove_all(scratch);
    ExportOptions options;
    options.format = format;
    options.out = scratch / "out";
    std::filesystem::create_directories(scratch);
    const auto started = Export::start(trial, options);
    faults.take(started, "export");
    if (!started.ok()) continue;
    faults.take((*started)->poll(), "export");
    faults.take((*started)->finish(), "export");
  }
  std::filesystem::remove_all(scratch);
}

void look_at_words(Trial& trial, const std::filesystem::path& run, Faults& faults) {
  std::vector<RunLoss> losses;
  faults.take(rules::read_rule_histories(run, losses), "rule histories");
  faults.take(rules::summarize_rules(run), "rules");
  faults.take(views::rule_board(run), "rule board");
  faults.take(events::describe_run(run), "describe");
  faults.take(events::read_ledger(*storage::open_local_storage(run), TrialAccess::run_info(trial)), "ledger");
  views::read_run_row(trial);
  views::read_loss_course(trial, 20);
  views::read_black_boxes(run);
  views::read_checkpoints(trial);
}

// By every rule that needs no parameter.
void judge(Trial& trial, Faults& faults) {
  std::vector<RuleSpec> specs;
  for (const RuleKind& kind : builtin_rules()) {
    const RuleSpec spec{kind.description.name, {}};
    if (create_rule(spec).ok()) specs.push_back(spec);
  }
  auto rules = rules::create_engine_rules(specs);
  faults.take(rules, "rules");
  if (!rules.ok()) return;
  rules::Engine engine(trial, std::move(rules).value(), {});
  faults.take(engine.poll(), "check");
  engine.finish();
  engine.statuses();
}

}  // namespace

std::string look_at_all(const std::filesystem::path& run, const std::filesystem::path& scratch) {
  Faults faults;
  const auto trial = Trial::open(run);
  faults.take(trial, "open");
  if (!trial.ok()) return faults.fault();
  look_at_trial(**trial, faults);
  look_at_words(**trial, run, faults);
  export_all(**trial, scratch, faults);
  return faults.fault();
}

std::string judge_by_all_rules(const std::filesystem::path& run) {
  Faults faults;
  const auto trial = Trial::open(run);
  if (trial.ok()) judge(**trial, faults);
  return faults.fault();
}

std::string look_at_anchor(const std::filesystem::path& run) {
  const auto trial = Trial::open(run);
  if (!trial.ok()) return fmt::format("the anchor's run: {}", trial.status().to_string());
  const auto value = (*trial)->scalar(kAnchor, kAnchorStep);
  if (!value.ok()) return fmt::format("the anchor: {}", value.status().to_string());
  return *value == kAnchorValue ? "" : fmt::format("the anchor: {} where {} was written", *value, kAnchorValue);
}

std::string compare_steps(const std::filesystem::path& run, const std::filesystem::path& golden,
                          const std::vector<std::int64_t>& changed) {
  const auto found = Trial::open(run);
  const auto expected = Trial::open(golden);
  if (!found.ok() || !expected.ok()) return "cannot be opened, though no more than a frame of data was changed";
  for (const std::string& name : (*expected)->tensor_names().value_or({})) {
    for (const std::int64_t step : (*expected)->steps_of(name)) {
      if (std::find(changed.begin(), changed.end(), step) != changed.end()) continue;
      const auto value = (*expected)->value(name, step);
      const auto other = (*found)->value(name, step);
      const bool same_value =
          value.ok() == other.ok() && (!value.ok() || (value->data == other->data && value->strings == other->strings &&
                                                       value->shape == other->shape && value->dtype == other->dtype));
      const auto statistics = (*expected)->statistics(name, step);
      const auto others = (*found)->statistics(name, step);
      const bool same_statistics = statistics.ok() == others.ok() && (!statistics.ok() || *statistics == *others);
      if (!same_value || !same_statistics) return fmt::format("{} at step {} is another", name, step);
    }
  }
  return "";
}

}  // namespace trainwarden::hostile
