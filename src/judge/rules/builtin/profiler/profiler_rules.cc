#include "judge/rules/builtin/profiler/profiler_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> profiler_rules() {
  return {checkpoint_stalls(),
          communication_not_overlapped(),
          gpu_throttled(),
          hidden_synchronisation(),
          input_bound(),
          long_evaluation(),
          max_initialization_time(),
          memory_fragmentation(),
          optimizer_heavy(),
          overall_framework_metrics(),
          roofline(),
          slow_start(),
          small_kernels(),
          step_outlier(),
          throttled_container()};
}

}  // namespace trainwarden::rules
