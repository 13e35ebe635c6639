// LoadBalancing: the GPUs of a machine have different amounts of work.
//
// Source: SageMaker Debugger's rule: the Jensen-Shannon distance (natural logarithm) between the histograms of two
// GPUs' utilisation. Ours: all pairs of a machine; the means must differ, too, as GPUs at 97 and at 99 % have
// histograms without a bin in common.
//
// State: for each GPU a histogram of 51 bins.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/machine_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace load_balancing_rule {
namespace {

enum Role : std::size_t { kCpu, kGpu };
constexpr std::size_t kBins = 51;         // of 2 %; the last one is 100 %
constexpr double kLeastDifference = 10;   // of the means, in %
constexpr double kMostCounted = 100'000;  // half seconds; then all counts are halved
constexpr const char* kAdvice =
    "Give each GPU the same work: the same number of samples in each rank's batches, DistributedDataParallel in place "
    "of DataParallel, layers of a pipeline divided by what they take.";

struct UseHistogram {
  std::array<double, kBins> counts{};
  double total = 0;
  double sum = 0;
  std::size_t seen = 0;
  bool used = false;

  void add(double percent) {
    if (total >= kMostCounted) {
      for (double& count : counts) count /= 2;
      total /= 2;
      sum /= 2;
    }
    const double bin = std::clamp(percent / 2, 0.0, static_cast<double>(kBins - 1));
    counts[static_cast<std::size_t>(bin)] += 1;
    total += 1;
    sum += percent;
    ++seen;
    used = used || percent > 0;
  }
  double mean() const { return sum / total; }
};

// sqrt((KL(p|m) + KL(q|m)) / 2) with m the mean of both: 0 to sqrt(ln 2) = 0.83.
double distance(const UseHistogram& p, const UseHistogram& q) {
  double divergence = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    const double of_p = p.counts[i] / p.total, of_q = q.counts[i] / q.total, mean = (of_p + of_q) / 2;
    if (of_p > 0) divergence += of_p * std::log(of_p / mean);
    if (of_q > 0) divergence += of_q * std::log(of_q / mean);
  }
  return std::sqrt(std::max(0.0, divergence / 2));
}

class LoadBalancing final : public MachineRule {
 public:
  LoadBalancing(double threshold, Patience patience, std::int64_t cadence_ns)
      : MachineRule({"cpu.busy", "gpu.utilisation"}, cadence_ns), threshold_(threshold), patience_(patience) {}

 private:
  using OfMachine = std::map<std::string, UseHistogram>;
  struct Pair {
    std::string node, less, more;
    const UseHistogram *low = nullptr, *high = nullptr;
    double distance = 0;
    double difference() const { return high->mean() - low->mean(); }
  };

  void see(const Moment& moment) override {
    for (const MomentValue& value : moment.all(kGpu)) {
      machines_[moment.node][std::string(value.part)].add(100 * value.value);
    }
  }

  Verdict judge(const TimeWindow& window) override {
    if (machines_.empty()) return Verdict::not_applicable(kNoGpu);
    std::size_t pairs = 0, most_used = 0, known = 0;
    Pair worst;
    for (const auto& [node, gpus] : machines_) {
      std::size_t used = 0;
      for (auto a = gpus.begin(); a != gpus.end(); ++a) {
        if (!a->second.used) continue;
        ++used;
        known = std::max(known, a->second.seen);
        for (auto b = std::next(a); b != gpus.end(); ++b) compare(node, *a, *b, run_ended(), pairs, worst);
      }
      most_used = std::max(most_used, used);
    }
    if (most_used < 2) {
      return Verdict::not_applicable("no machine has two GPUs in use, whose work could be compared");
    }
    if (pairs == 0) return Verdict::insufficient_data(known_text(known, patience_) + " of the GPUs' utilisation");
    return worst.low == nullptr ? Verdict::ok() : uneven(worst, window);
  }

  void compare(const std::string& node, const OfMachine::value_type& a, const OfMachine::value_type& b, bool run_ended,
               std::size_t& pairs, Pair& worst) const {
    const auto is_known = [&](const UseHistogram& gpu) { return gpu.used && patience_.is_over(gpu.seen, run_ended); };
    if (!is_known(a.second) || !is_known(b.second)) return;
    ++pairs;
    const auto& [low, high] = a.second.mean() < b.second.mean() ? std::tie(a, b) : std::tie(b, a);
    Pair pair{node, low.first, high.first, &low.second, &high.second, distance(a.second, b.second)};
    if (pair.distance <= threshold_ || pair.difference() < kLeastDifference) return;
    if (worst.low == nullptr || pair.difference() > worst.difference()) worst = std::move(pair);
  }

  Verdict uneven(const Pair& pair, const TimeWindow& window) const {
    double sum = 0, highest = 0, count = 0;
    for (const auto& [gpu, use] : machines_.at(pair.node)) {
      if (!use.used) continue;
      sum += use.mean();
      highest = std::max(highest, use.mean());
      count += 1;
    }
    const double even = sum / count, gain_max = highest / even;
    const auto own = [&](const char* quantity, const std::string& gpu, double value, double threshold) {
      return Evidence{"", gpu, quantity, value, threshold, window.last_step, "gpu.utilisation", window.to_unix_ns};
    };
    return bounded_finding(
        fmt::format("{} has less to do than {}: they are in use {:.3g} and {:.3g} % of the time. With the same work on "
                    "all {:g} GPUs of the machine the training would be {:.3g} times as fast at most.",
                    gpu_text(pair.node, pair.less), pair.more, pair.low->mean(), pair.high->mean(), count, gain_max),
        kAdvice, 1 - even / highest, gain_max,
        {own("distance", pair.less, pair.distance, threshold_), own("gpu_mean", pair.less, pair.low->mean(), 0),
         own("gpu_mean", pair.more, pair.high->mean(), 0)},
        window.last_step);
  }

  const double threshold_;
  const Patience patience_;
  std::map<std::string, OfMachine> machines_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double threshold = read.number("threshold", 0, 1);
  const Patience patience = read_patience(read);
  const std::int64_t cadence_ns = read_cadence_ns(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new LoadBalancing(threshold, patience, cadence_ns));
}

}  // namespace
}  // namespace load_balancing_rule

RuleKind load_balancing() {
  return {{.name = "LoadBalancing",
           .summary = "Fires when the GPUs of a machine have different amounts of work.",
           .parameters = {{"threshold", "0.5", "Jensen-Shannon distance of two GPUs' utilisation that is put up with"},
                          {"patience", "100", "how long it waits before it judges, in half seconds"},
                          scan_interval_parameter()},
           .topic = "profiling",
           .details =
               std::string(
                   "Makes a histogram of each GPU's utilisation, in bins of 2 %, and compares those of each two of a "
                   "machine. Fires when the Jensen-Shannon distance (natural logarithm, so 0.83 at most) is above "
                   "`threshold` and the means differ by at least 10 %. GPUs that were never in use are left out.\n\n"
                   "Mended of the original: it compared the last GPU with itself and so never fired; all pairs are "
                   "compared now, and GPUs of different machines are not. Utilisation above 98 % was left out; it is "
                   "counted. GPUs at 97 and at 99 % counted as far apart; hence the means. `patience` was 10 in "
                   "SageMaker's document of 2023: eleven samples of two GPUs with the same work often differ by more "
                   "than the threshold, so it is 100. The threshold is that document's.\n\n") +
               kCountsInHalfSeconds +
               "\n\nThere is no predicted gain, as whether the work can be divided evenly is not known: `gain_max` is "
               "the busiest GPU's utilisation over the mean. Not applicable without a GPU, and with one that is in "
               "use. Evidence: `step_share`, `gain_min`, `gain_max`, `distance`, `gpu_mean` of both.",
           .source = "SageMaker Debugger, its document of 2023; the difference of the means is ours",
           .profiles = true,
           .consequences = {"LowGPUUtilization"}},
          load_balancing_rule::create};
}

}  // namespace trainwarden::rules
