// Judges recorded runs with the same rules, several at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "ui/cli/options/rule_choice.h"
#include "ui/cli/reports/rule_report.h"

namespace trainwarden::cli {

struct CheckedRun {
  std::filesystem::path path;
  Status status;  // of opening and reading it
  std::int64_t last_judged_step = -1;
  watch::RuleReport report;
  bool from_results = false;  // judged by an earlier check: `document` is what that wrote
  OrderedJson document;       // {"run", "last_judged_step", "rules", "verdicts"}, or {"run", "error"}
};

struct CheckPlan {
  std::vector<std::filesystem::path> runs;
  RuleChoice rules;
  int jobs = 1;
  // A line of JSON for each run that was judged, as soon as it was; a run that has one already, with as many steps and
  // the same rules, is not judged again. Empty: none.
  std::filesystem::path results;
};

// In the order of the runs. `on_done` is called for each, one at a time. kInvalidArgument for bad rules, else what
// reading or writing the results says.
Result<std::vector<CheckedRun>> check_runs(const CheckPlan& plan,
                                           const std::function<void(const CheckedRun&)>& on_done);

}  // namespace trainwarden::cli
