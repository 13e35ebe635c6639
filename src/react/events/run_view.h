// RunView: everything that events and `describe` say of where a run and its rules stand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/format/control_record.h"
#include "data/format/json.h"
#include "judge/rules/verdict_record.h"
#include "react/events/run_status.h"
#include "store/journal/run_folder.h"

namespace trainwarden::events {

// One element of DebugRuleEvaluationStatuses.
struct RuleRow {
  std::string rule_id;
  std::string rule;  // its class
  RuleParameters parameters;
  std::string arn;
  RuleStatus status = RuleStatus::kInProgress;
  std::optional<std::string> details;  // none while in progress
  std::int64_t modified_unix_ns = 0;
};

struct RunView {
  std::string name;
  std::filesystem::path folder;
  journal::RunInfo info;
  RunTable table;
  std::vector<RuleRow> rules;
  std::optional<format::StopRequest> stop;  // of the attempt
  std::int64_t last_step = -1;              // global
  std::int64_t modified_unix_ns = 0;

  const std::string& failure_reason() const { return table.transitions().back().message; }  // of a run that failed
  bool was_asked_to_stop() const;
};

// How times are written.
enum class TimeForm : std::uint8_t {
  kMilliseconds,  // since 1970: as texts at the top, as numbers within lists, as in the events of the source
  kText,          // RFC 3339
};

format::OrderedJson time_json(std::int64_t unix_ns, TimeForm form, bool at_top);
std::string job_arn_of(std::string_view run_name);  // "trainwarden:training-job/first"
std::string source_of(const RunView& view);         // "/trainwarden/<host>/runs/<name>"
format::OrderedJson rules_json(const RunView& view, TimeForm form);
// The job as a whole.
format::OrderedJson job_json(const RunView& view, TimeForm form);

// Back from a list that rules_json() made in milliseconds. Rows that are damaged are left out.
std::vector<RuleRow> rule_rows_of(const format::OrderedJson& list);
std::vector<RunTransition> transitions_of(const format::OrderedJson& list);

}  // namespace trainwarden::events
