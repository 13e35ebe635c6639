// MemoryFragmentation: the framework holds much more of a device's memory than tensors ever needed at once.
//
// Source: reserved and allocated bytes of PyTorch's caching allocator (its documentation names the difference, and
// expandable segments against it). Ours: peaks are compared, since at the end of a step most is free by nature; the
// limits.
//
// State: for each worker the peaks.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace memory_fragmentation_rule {
namespace {

constexpr std::string_view kPeak = "trainwarden/memory/device_peak_bytes";
constexpr std::string_view kReserved = "trainwarden/memory/device_reserved_bytes";
constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
constexpr std::size_t kMostWorkers = 1024;
constexpr std::int64_t kFewestTimes = 5;
constexpr const char* kAdvice =
    "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and keep sizes of batches alike (sequences padded to a few "
    "lengths); trainwarden/memory/device_reserved_bytes falls, and larger batches fit.";

struct DevicePeaks {
  double allocated = 0;
  double reserved = 0;
  std::int64_t times = 0;
};

class MemoryFragmentation final : public Rule {
 public:
  MemoryFragmentation(double threshold, double least_gib) : threshold_(threshold), least_bytes_(least_gib * kGiB) {}

  Verdict evaluate(const StepWindow& window) override {
    const auto peaks = scalar_signals(window, kPeak);
    const auto reserved = scalar_signals(window, kReserved);
    std::size_t seen = 0;
    for (const auto& [spot, bytes] : reserved.signals) {
      const double* const peak = signal_of(peaks, spot.worker);
      if (peak == nullptr || (!workers_.contains(spot.worker) && workers_.size() == kMostWorkers)) continue;
      DevicePeaks& of_worker = workers_[spot.worker];
      of_worker.allocated = std::max(of_worker.allocated, *peak);
      of_worker.reserved = std::max(of_worker.reserved, bytes);
      ++of_worker.times;
      ++seen;
    }
    if (seen == 0) {
      return Verdict::not_applicable(fmt::format(
          "the program says nothing of what its allocator has reserved on a device at {}", describe_step(window)));
    }
    return judge(window);
  }

  std::vector<Collection> needs() const override { return {need_signals()}; }

 private:
  Verdict judge(const StepWindow& window) const {
    const auto worst = std::max_element(workers_.begin(), workers_.end(), [](const auto& a, const auto& b) {
      return a.second.reserved - a.second.allocated < b.second.reserved - b.second.allocated;
    });
    const DevicePeaks& peaks = worst->second;
    if (peaks.times < kFewestTimes) {
      return Verdict::insufficient_data(
          fmt::format("{} of {} reports of a device's memory", peaks.times, kFewestTimes));
    }
    const double lost = peaks.reserved - peaks.allocated;
    const double share = peaks.reserved > 0 ? lost / peaks.reserved : 0;
    if (share < threshold_ || lost < least_bytes_) return Verdict::ok();
    const std::string shown = window.workers().size() > 1 ? worst->first : "";
    std::string message = fmt::format(
        "Of {} that the framework holds on the device{} tensors never needed more than {} at once: {:.3g} % is lost in "
        "pieces.",
        format_bytes(static_cast<std::uint64_t>(peaks.reserved)), shown.empty() ? "" : " of " + shown,
        format_bytes(static_cast<std::uint64_t>(peaks.allocated)), 100 * share);
    return finding(std::move(message), kAdvice, Cost{},
                   {{std::string(kReserved), shown, "lost_share", share, threshold_, window.global_step()},
                    {std::string(kReserved), shown, "lost_bytes", lost, least_bytes_, window.global_step()}},
                   window.global_step());
  }

  const double threshold_;
  const double least_bytes_;
  std::map<std::string, DevicePeaks> workers_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double threshold = read.number("threshold", 0, 1);
  const double least_gib = read.number("min_gib", 0);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new MemoryFragmentation(threshold, least_gib));
}

}  // namespace
}  // namespace memory_fragmentation_rule

RuleKind memory_fragmentation() {
  return {
      {.name = "MemoryFragmentation",
       .summary = "Fires when the framework holds much more of a device's memory than tensors ever needed at once.",
       .parameters = {{"threshold", "0.3", "part of the reserved memory that may be lost, from 0 to 1"},
                      {"min_gib", "1", "a smaller loss is put up with, in GiB"}},
       .topic = "profiling",
       .details =
           "Compares the most that PyTorch's allocator has reserved with the most that tensors held of it at once. "
           "Fires when at least `threshold` of the former, and `min_gib`, was never in use. No gain in time is "
           "predicted (`gain` is 1): what it costs is room for larger batches, and calls of the driver when memory "
           "runs short.\n\n"
           "Needs the signals `trainwarden/memory/device_reserved_bytes` and `device_peak_bytes`, which programs on "
           "CUDA have. A program that once needed much at once (another model, a validation with larger batches) keeps "
           "its peak. Evidence: `step_share`, `gain`, `gain_min`, `gain_max`, `lost_share`, `lost_bytes`.",
       .source = "reserved and allocated bytes as PyTorch's caching allocator counts them; the limits are ours",
       .profiles = true},
      memory_fragmentation_rule::create};
}

}  // namespace trainwarden::rules
