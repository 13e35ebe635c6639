#include "judge/rules/builtin/profiler/profiler_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> profiler_rules() {
  return {batch_size(),
          checkpoint_stalls(),
          communication_not_overlapped(),
          cpu_bottleneck(),
          dataloader(),
          gpu_memory_increase(),
          gpu_throttled(),
          hidden_synchronisation(),
          input_bound(),
          io_bottleneck(),
          load_balancing(),
          long_evaluation(),
          low_gpu_utilization(),
          max_initialization_time(),
          memory_fragmentation(),
          optimizer_heavy(),
          overall_framework_metrics(),
          overall_system_usage(),
          profiler_report(),
          roofline(),
          slow_start(),
          small_kernels(),
          step_outlier(),
          throttled_container()};
}

}  // namespace trainwarden::rules
