#include "ui/cli/options/sample_choice.h"

#include <cstdlib>

#include <fmt/format.h>

#include "react/actions/action_kind.h"

namespace trainwarden::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShortest{10};
constexpr milliseconds kLongest{60'000};

Result<milliseconds> interval(const std::string& option, const std::string& text, milliseconds by_default) {
  if (text.empty()) return by_default;
  const auto parsed = actions::parse_duration(text);
  if (!parsed.ok()) return parsed.status().with_context(option);
  const milliseconds time = *parsed;
  if (time >= kShortest && time <= kLongest) return time;
  return Status(Code::kInvalidArgument, fmt::format("{}: expected a time from 10ms to 60s, found {}", option, text));
}

}  // namespace

Result<std::optional<sampling::SamplerPlan>> SampleChoice::plan(const storage::Location& run) const {
  sampling::SamplerPlan plan{run};
  TRAINWARDEN_ASSIGN_OR_RETURN(plan.host_interval, interval("--sample-interval", host, sampling::kDefaultHostInterval));
  TRAINWARDEN_ASSIGN_OR_RETURN(plan.gpu_interval,
                               interval("--gpu-sample-interval", gpu, sampling::kDefaultGpuInterval));
  // Of an allocation of Slurm's, which may have several nodes with one host name: containers, nodes of a test.
  if (const char* const node = std::getenv("SLURMD_NODENAME")) plan.node = node;
  if (off) return std::optional<sampling::SamplerPlan>();
  return std::optional(std::move(plan));
}

void add_sample_intervals(CLI::App& command, SampleChoice& choice) {
  command
      .add_option("--sample-interval", choice.host, "How often the machine is sampled: 10ms to 60s (default: 100ms)")
      ->type_name("TIME");
  command.add_option("--gpu-sample-interval", choice.gpu, "The same for its GPUs (default: 500ms)")->type_name("TIME");
}

}  // namespace trainwarden::cli
