// Rules about where the time goes. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind checkpoint_stalls();
RuleKind communication_not_overlapped();
RuleKind gpu_throttled();
RuleKind hidden_synchronisation();
RuleKind input_bound();
RuleKind long_evaluation();
RuleKind max_initialization_time();
RuleKind memory_fragmentation();
RuleKind optimizer_heavy();
RuleKind overall_framework_metrics();
RuleKind roofline();
RuleKind slow_start();
RuleKind small_kernels();
RuleKind step_outlier();
RuleKind throttled_container();

std::vector<RuleKind> profiler_rules();

}  // namespace trainwarden::rules
