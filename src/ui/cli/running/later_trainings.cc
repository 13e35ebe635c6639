#include "ui/cli/running/later_trainings.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/rule_history.h"
#include "judge/rules/run_diagnosis.h"
#include "react/watch/run_watch.h"
#include "store/journal/run_folder.h"
#include "store/storage/location.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/rule_choice.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/bill_view.h"
#include "ui/cli/reports/diagnosis_view.h"
#include "ui/cli/reports/rule_report.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"
#include "ui/views/last_loss.h"
#include "ui/views/run_failure.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

// RUN-p17, or RUN-p17-0123456789abcdef where another container had that process, too.
bool is_beside(const std::string& name, const std::string& run) {
  constexpr std::string_view kProcess = "-p", kDigits = "0123456789", kHexadecimal = "0123456789abcdef-";
  if (name.size() <= run.size() + kProcess.size() || name.compare(0, run.size(), run) != 0) return false;
  const std::string_view rest = std::string_view(name).substr(run.size());
  return rest.substr(0, kProcess.size()) == kProcess && kDigits.find(rest[kProcess.size()]) != std::string_view::npos &&
         rest.substr(kProcess.size()).find_first_not_of(kHexadecimal) == std::string_view::npos;
}

struct WantedRules {
  const std::vector<std::string>& specs;
  const std::vector<std::string>& mute;
};

// As `watch` does: what the rules find is kept in the run.
Status judge(Trial& trial, const WantedRules& wanted) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto rules, create_rules(wanted.specs));
  watch::RunWatchOptions options;
  options.mute = wanted.mute;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto watch, watch::RunWatch::start(trial, std::move(rules), std::move(options)));
  TRAINWARDEN_RETURN_IF_ERROR(watch->poll());
  watch->finish();
  return {};
}

// What all rules have found, also those inside the program.
watch::RuleReport report_on(const fs::path& run) {
  watch::RuleReport report;
  const auto histories = rules::read_rule_histories(run);
  if (!histories.ok()) return report;
  for (const rules::RuleHistory& history : *histories) report.add(history);
  return report;
}

std::string course_of(Trial& trial) {
  const auto loss = views::last_loss(trial);
  return fmt::format("{}, {}{}", name(trial.state()), progress_text(trial),
                     loss ? fmt::format(", loss {} at step {}", format_number(loss->value), loss->step) : "");
}

// Gives whether a rule has fired.
bool report_training(const fs::path& run, const WantedRules& wanted) {
  const auto trial = Trial::open(run);
  if (!trial.ok()) {
    report_error(trial.status().with_context(run_name(run)));
    return false;
  }
  if ((*trial)->state() == RunState::kRunning) {
    emit(stderr, "trainwarden: run {} still goes on and is not judged yet: {} watch {} --rules default\n",
         run_name(run), typed_program(), typed_run(run));
    return false;
  }
  const Status judged = wanted.specs.empty() ? Status() : judge(**trial, wanted);
  if (!judged.ok()) report_error(judged.with_context(run_name(run)));
  const watch::RuleReport report = report_on(run);
  const auto diagnosis = rules::diagnose_run(**trial);
  emit(stderr, "trainwarden: run {} {}. {}\n", run_name(run), course_of(**trial),
       diagnosis_text(diagnosis, views::failure_of(**trial)));
  if (report.any_fired()) print_report_in_short(stderr, report);
  if (report.any_fired() || diagnosis.first() != nullptr)
    emit(stderr, "All of it: {} diagnose {} --whole\n", typed_program(), typed_run(run));
  return report.any_fired();
}

}  // namespace

std::vector<fs::path> runs_beside(const fs::path& run) {
  const storage::Location folder(run.has_parent_path() ? run.parent_path() : fs::path("."));
  const auto names = folder.storage().list("");
  std::vector<std::pair<std::int64_t, fs::path>> found;  // by the time at which they began
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (!is_beside(name, run.filename().string())) continue;
    const storage::Location beside(run.parent_path() / name);
    const auto info = journal::read_run(beside.storage());
    if (info.ok()) found.emplace_back(info->created_unix_ns, run.parent_path() / name);
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> runs;
  for (auto& [begin, beside] : found) runs.push_back(std::move(beside));
  return runs;
}

bool judge_later_trainings(const std::vector<fs::path>& before, const std::vector<fs::path>& now,
                           const std::vector<std::string>& specs, const std::vector<std::string>& mute) {
  std::vector<fs::path> later;
  std::copy_if(now.begin(), now.end(), std::back_inserter(later),
               [&](const fs::path& run) { return std::find(before.begin(), before.end(), run) == before.end(); });
  if (later.empty()) return false;
  emit(stderr, "trainwarden: {} of the program trained as well, in runs of their own:\n",
       later.size() == 1 ? "another process" : fmt::format("{} more processes", later.size()));
  bool has_fired = false;
  for (std::size_t i = 0; i < std::min(later.size(), kMaxJudgedBeside); ++i)
    has_fired = report_training(later[i], {specs, mute}) || has_fired;
  if (later.size() > kMaxJudgedBeside) {
    emit(stderr, "trainwarden: {} of them were not judged, from {} on: {} diagnose {}\n",
         later.size() - kMaxJudgedBeside, run_name(later[kMaxJudgedBeside]), typed_program(),
         typed_run(later[kMaxJudgedBeside]));
  }
  return has_fired;
}

}  // namespace trainwarden::cli
