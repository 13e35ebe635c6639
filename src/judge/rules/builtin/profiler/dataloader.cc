// Dataloader: too few processes load the data, or more than there are processors for.
//
// Source: SageMaker Debugger's rule: the number of processes that load data, as a share of the cores. Ours: too few are
// a fault only where the training waits for its data and there are processors left, too many only where there are none;
// the gain follows from how many are needed.
//
// State: means over the last ten minutes.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/profiler/machine_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/recent_values.h"
#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/needs.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace dataloader_rule {
namespace {

enum Role : std::size_t { kCpu, kEffective, kUser, kSystem, kProcessUser, kProcessSystem, kThreads };
constexpr std::size_t kRemembered = 1200;  // half seconds
constexpr double kFull = 0.9;              // of the processors: then more processes have no place
constexpr double kBusyProcess = 0.02;      // of a processor: a process that does something
constexpr double kFewestSteps = 20;
constexpr double kFewestSeconds = 4;  // of train steps
constexpr const char* kLoader = "trainwarden/loader";

struct Limits {
  double fewest = 0;      // percent of the processors
  double most = 0;        // percent of the processors
  double wait_share = 0;  // of the train steps
  double wait_seconds = 0;
  Patience patience;
};

class Dataloader final : public MachineRule {
 public:
  Dataloader(const Limits& limits, std::int64_t cadence_ns)
      : MachineRule({"cpu.busy", "cpu.effective", "tree.cpu.user", "tree.cpu.system", "process.cpu.user",
                     "process.cpu.system", "process.threads"},
                    cadence_ns),
        limits_(limits) {}

  std::vector<Collection> needs() const override { return {need_signals(), need_values("scalars", 1)}; }

 private:
  void see(const Moment& moment) override {
    ++moments_;
    nodes_.try_emplace(moment.node);
    if (const auto processors = moment.first(kEffective)) processors_.add(*processors);
    const auto user = moment.first(kUser), system = moment.first(kSystem);
    if (user && system) used_.add(*user + *system);
    see_processes(moment);
  }

  // All processes of the training but its workers, which have the most threads.
  void see_processes(const Moment& moment) {
    std::map<std::string_view, double> seconds;
    for (const MomentValue& value : moment.all(kProcessUser)) seconds[value.part] += value.value;
    for (const MomentValue& value : moment.all(kProcessSystem)) seconds[value.part] += value.value;
    std::vector<std::pair<double, std::string_view>> by_threads;
    for (const MomentValue& value : moment.all(kThreads)) by_threads.emplace_back(value.value, value.part);
    if (by_threads.size() < trainers_) return;
    std::sort(by_threads.rbegin(), by_threads.rend());
    double busy = 0, count = 0;
    for (std::size_t i = trainers_; i < by_threads.size(); ++i) {
      const double of_process = seconds[by_threads[i].second];
      if (of_process < kBusyProcess) continue;
      busy += of_process;
      count += 1;
    }
    loading_.add(busy);
    processes_.add(count);
  }

  void see_step(const StepWindow& window) override {
    if (trainers_ == 0) trainers_ = std::max<std::size_t>(1, window.workers().size());
    if (loader_workers_) return;
    for (const auto& [spot, json] : json_signals(window, kLoader).signals) {
      const auto found = json.find("workers");
      if (found == json.end() || !found->is_number_integer()) continue;
      const double workers = std::clamp(found->get<double>(), 0.0, 1e6);
      loader_workers_ = std::max(loader_workers_.value_or(0), workers);
    }
  }

  Verdict judge(const TimeWindow& window) override {
    if (!limits_.patience.is_over(moments_, run_ended())) {
      return Verdict::insufficient_data(known_text(moments_, limits_.patience));
    }
    if (processors_.size() == 0 || used_.size() == 0) {
      return Verdict::not_applicable("of the machine neither cpu.effective nor tree.cpu.user was sampled");
    }
    if (nodes_.size() > 1) {
      return Verdict::not_applicable("several machines were sampled, and it is not known which worker runs on which");
    }
    if (!phases().has_seen(Phase::kDataWait)) {
      return Verdict::not_applicable("no data loader was seen that is a DataLoader");
    }
    if (!loader_workers_ && processes_.size() == 0) {
      return Verdict::not_applicable("neither the loader's settings nor the training's processes are known");
    }
    if (phases().steps() < kFewestSteps || phases().seconds() < kFewestSeconds) {
      return Verdict::insufficient_data(
          fmt::format("{:.0f} train steps of {:.3g} s are known; {:g} and {:g} s are waited for", phases().steps(),
                      phases().seconds(), kFewestSteps, kFewestSeconds));
    }
    return judge_loader(window);
  }

  // Of one worker of the training, by what the loader says; else by what its processes do.
  double loaders() const {
    return loader_workers_ ? *loader_workers_ : processes_.mean() / static_cast<double>(trainers_);
  }

  Verdict judge_loader(const TimeWindow& window) const {
    const double processors = processors_.mean(), all = loaders() * static_cast<double>(trainers_);
    const Phase phase = Phase::kDataWait;
    const ShareRange wait = phases().share(phase);
    const bool waits =
        wait.mean >= limits_.wait_share && phases().seconds_a_step(std::span(&phase, 1)) >= limits_.wait_seconds;
    const bool is_full = used_.mean() >= kFull * processors;
    if (waits && !is_full && all < limits_.fewest / 100 * processors) return too_few(wait, window);
    if (all > limits_.most / 100 * processors) return too_many(all, is_full, window);
    return Verdict::ok();
  }

  Verdict too_few(const ShareRange& wait, const TimeWindow& window) const {
    const double count = loaders(), processors = processors_.mean();
    // Time of one process for the data of a step, as a share of the step: all of what is loaded.
    const double load = count >= 1 ? count : wait.mean;
    const double most_needed =
        std::max(1.0, std::floor(limits_.most / 100 * processors / static_cast<double>(trainers_)));
    const double needed = std::clamp(std::ceil(load / std::max(0.01, 1 - wait.mean)), std::floor(count) + 1,
                                     std::max(most_needed, std::floor(count) + 1));
    const auto gain_with = [&](double loaders, double share) {
      const double by_loaders = loaders / load, by_processors = processors / std::max(used_.mean(), 1e-9);
      return std::max(1.0, std::min({gain_of_removing(share), by_loaders, by_processors}));
    };
    Cost cost = {wait.mean, gain_with(needed, wait.mean), gain_with(std::floor(count) + 1, wait.low),
                 std::max(gain_with(needed, wait.high), gain_of_removing(wait.mean))};
    cost.gain_min = std::min(cost.gain_min, cost.gain);
    const std::string busy =
        loading_.size() > 0 && count >= 1 ? fmt::format(", which use {:.2g} processors", loading_.mean()) : "";
    std::string message = fmt::format(
        "The training waits for its data {:.3g} % of the time, with {:g} processes that load it{}, on {:.3g} "
        "processors of which it uses {:.2g}. With {:g} the training is {}.",
        100 * wait.mean, count, busy, processors, used_.mean(), needed, gain_text(cost));
    std::string advice = fmt::format(
        "Set num_workers={:g} in the DataLoader; phase/data_wait falls to nearly nothing when they keep up.", needed);
    return finding(std::move(message), std::move(advice), cost, own_evidence(count, needed, wait.mean, window),
                   window.last_step);
  }

  Verdict too_many(double all, bool is_full, const TimeWindow& window) const {
    const double processors = processors_.mean();
    const double enough = std::max(1.0, std::floor(processors / static_cast<double>(trainers_)));
    std::string message = fmt::format(
        "{:g} processes load data on {:.3g} processors, of which the training uses {:.2g}. What that costs is not "
        "known: {}.",
        all, processors, used_.mean(),
        is_full ? "they take turns with each other and with the training" : "there is room, but each needs memory");
    return fired(std::move(message),
                 fmt::format("Set num_workers={:g} in the DataLoader, and see whether steps take as long.", enough),
                 own_evidence(loaders(), enough, phases().share(Phase::kDataWait).mean, window),
                 is_full ? Severity::kWarning : Severity::kInfo);
  }

  std::vector<Evidence> own_evidence(double count, double wanted, double wait, const TimeWindow& window) const {
    const auto own = [&](const char* quantity, double value, double threshold) {
      return Evidence{"", "", quantity, value, threshold, window.last_step};
    };
    return {own("loaders", count, wanted), own("processors", processors_.mean(), 0),
            own("processors_used", used_.mean(), 0), own("data_wait_share", wait, limits_.wait_share)};
  }

  const Limits limits_;
  std::size_t moments_ = 0;
  std::size_t trainers_ = 0;  // workers of the training, once a step was seen
  std::map<std::string, bool> nodes_;
  std::optional<double> loader_workers_;
  RecentValues processors_{kRemembered}, used_{kRemembered}, loading_{kRemembered}, processes_{kRemembered};
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  Limits limits;
  limits.fewest = read.number("min_threshold", 0, 10'000);
  limits.most = read.number("max_threshold", 0, 10'000);
  limits.wait_share = read.number("wait_threshold", 0, 1);
  limits.wait_seconds = read.number("min_seconds", 0);
  limits.patience = read_patience(read);
  limits.patience.moments *= static_cast<std::size_t>(kMomentsASecond);
  const std::int64_t cadence_ns = read_cadence_ns(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new Dataloader(limits, cadence_ns));
}

}  // namespace
}  // namespace dataloader_rule

RuleKind dataloader() {
  return {
      {.name = "Dataloader",
       .summary = "Fires when too few processes load the data, or more than there are processors for.",
       .parameters = {{"min_threshold", "70", "fewer processes that load are too few, in % of the processors"},
                      {"max_threshold", "200", "more are too many, in % of the processors"},
                      {"wait_threshold", "0.1", "part of the train steps that may be waits for data, from 0 to 1"},
                      {"min_seconds", "0.002", "a shorter wait is put up with, in seconds a step"},
                      {"patience", "10", "how long it waits before it judges, in seconds"},
                      scan_interval_parameter()},
       .topic = "profiling",
       .details =
           "Too few: the training waits for data for `wait_threshold` of its steps, fewer processes load it than "
           "`min_threshold` percent of the processors that it may use (`cpu.effective`), and it uses less than 90 % "
           "of these. Too many: more than `max_threshold` percent; a note where the training leaves processors "
           "idle.\n\n"
           "Mended of the original: it judged the number alone, so that a training that waits for nothing was told "
           "to have more workers; now waits count. It counted processes by their calls in a window of seconds, and "
           "the machine's cores; now the loader itself says how many it has (`trainwarden/loader`, else those of "
           "the training's processes that are busy), and processors are those that the training may use, in a "
           "container too. The defaults are those of SageMaker's document of 2023, `patience` those of its code, "
           "where it counts seconds. A run that ends before is judged at its end, when at least 4 s are known.\n\n"
           "The gain assumes the number of processes that the message says, which is what the data of a step "
           "needs while the rest of a step goes on, and no more than `max_threshold`; it is no more than the idle "
           "processors allow. Least: with one process more; most: without any wait. Too many have no predicted "
           "gain.\n\n"
           "Needs the phases of train steps and the sampled machine, of one machine. Evidence: `step_share`, "
           "`gain`, `gain_min`, `gain_max`, `loaders`, `processors`, `processors_used`, `data_wait_share`.",
       .source = "SageMaker Debugger, its document of 2023; waits and gain are ours",
       .profiles = true,
       .consequences = {"InputBound", "LowGPUUtilization", "StepOutlier"}},
      dataloader_rule::create};
}

}  // namespace trainwarden::rules
