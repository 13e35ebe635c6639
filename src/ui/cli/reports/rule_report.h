// What rules made of a run, for people, for programs and for the shell.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "react/watch/rule_report.h"
#include "ui/cli/terminal/json_out.h"

namespace trainwarden::cli {

// 3 when a rule fired, 1 when none did but one failed, else 0.
int exit_code_of(const watch::RuleReport& report);

// The table of statuses, and a paragraph for each verdict.
void print_report(std::FILE* stream, const watch::RuleReport& report);
// The same in a line each for what fired or failed, and a count of the others.
void print_report_in_short(std::FILE* stream, const watch::RuleReport& report);
void print_statuses(std::FILE* stream, const std::vector<rules::RuleStatusRecord>& statuses);
// "LossSpike fired at step 12 (train 12), which follows from NonFiniteOrigin"
std::string fired_text(const rules::VerdictRecord& verdict);
void print_verdict(std::FILE* stream, const rules::VerdictRecord& verdict);

// {"rules": [...], "verdicts": [...]}, as they are in the run's journal (docs/reference/rules.md).
OrderedJson json_of(const watch::RuleReport& report);
OrderedJson json_of(const rules::RuleStatusRecord& status);
OrderedJson json_of(const rules::VerdictRecord& verdict);

}  // namespace trainwarden::cli
