// Rules about where the time goes. One file each.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind batch_size();
RuleKind checkpoint_stalls();
RuleKind communication_not_overlapped();
RuleKind cpu_bottleneck();
RuleKind dataloader();
RuleKind gpu_memory_increase();
RuleKind gpu_throttled();
RuleKind hidden_synchronisation();
RuleKind input_bound();
RuleKind io_bottleneck();
RuleKind load_balancing();
RuleKind long_evaluation();
RuleKind low_gpu_utilization();
RuleKind max_initialization_time();
RuleKind memory_fragmentation();
RuleKind optimizer_heavy();
RuleKind overall_framework_metrics();
RuleKind overall_system_usage();
RuleKind profiler_report();
RuleKind roofline();
RuleKind slow_start();
RuleKind small_kernels();
RuleKind step_outlier();
RuleKind throttled_container();

std::vector<RuleKind> profiler_rules();

// What the rule takes beside the parameters of its description: "CPUBottleneck_threshold", which it hands on.
inline constexpr const char* kProfilerReport = "ProfilerReport";
Status check_report_parameter(std::string_view parameter);
// The same by the name of the rule that it is handed on to, as that calls it. Names that are no rule's are left out.
std::map<std::string, RuleParameters> parameters_handed_on(const RuleParameters& of_report);

}  // namespace trainwarden::rules
