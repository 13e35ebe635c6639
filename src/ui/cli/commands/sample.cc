// `trainwarden sample`: samples this machine into a run, beside a training that something else has started, or alone,
// and shows the newest samples to who scrapes.
#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/host_name.h"
#include "core/process/signal_relay.h"
#include "measure/sampling/exposition.h"
#include "measure/sampling/sampler.h"
#include "react/actions/action_kind.h"
#include "read/trial/trial_access.h"
#include "store/storage/location.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/sample_choice.h"
#include "ui/cli/options/scrape_choice.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/status_line.h"
#include "ui/server/scrape_server.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kSignalPause{200};

struct SampleOptions {
  std::string run;
  std::string runs;
  std::string name;
  std::vector<pid_t> pids;
  std::string duration;
  SampleChoice sample;
  ScrapeChoice scrape;
  bool no_run = false;
};

// The run that was named, or a new one.
Result<std::filesystem::path> find_run(const SampleOptions& options) {
  const std::filesystem::path folder = runs_folder(options.runs);
  if (!options.run.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(std::filesystem::path run, locate_run(options.run, folder));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, Trial::open(run));
    TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_writable(*trial, "samples"));
    return run;
  }
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  return launch::choose_run({.folder = folder,
                             .name = options.name,
                             .command = {"sample"},
                             .unix_seconds = system_clock().unix_ns() / kNsPerSecond});
}

Status check_process(pid_t pid) {
  if (::kill(pid, 0) == 0 || errno == EPERM) return {};
  return Status(Code::kNotFound,
                fmt::format("--pid: expected a process of this machine, found none with the number {}", pid));
}

Result<sampling::SamplerPlan> make_plan(const SampleOptions& options) {
  for (const pid_t pid : options.pids) TRAINWARDEN_RETURN_IF_ERROR(check_process(pid));
  std::filesystem::path run = runs_folder(options.runs) / "none";
  if (!options.no_run) {
    TRAINWARDEN_ASSIGN_OR_RETURN(run, find_run(options));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(std::optional<sampling::SamplerPlan> plan, options.sample.plan(run));
  plan->writes = !options.no_run;
  plan->makes_run = options.run.empty();
  plan->info.command = {"trainwarden", "sample"};
  plan->host.roots = [pids = options.pids] { return pids; };
  return std::move(*plan);
}

// How long a value is shown: longer than any probe rests, at intervals of the user's too.
constexpr int kMostRestedTicks = 60;

// Serves what the sampler is going to find; null where nobody asked for it.
Result<std::unique_ptr<server::ScrapeServer>> serve_newest(const ScrapePlace& place, sampling::SamplerPlan& plan) {
  const std::int64_t rest_ns = std::chrono::nanoseconds(plan.host_interval).count() * kMostRestedTicks;
  plan.newest = std::make_shared<sampling::NewestSamples>(sampling::kSamplers, std::max(sampling::kFreshNs, rest_ns));
  const auto source = [newest = plan.newest, host = host_name()](bool open_metrics) {
    const auto format =
        open_metrics ? sampling::ExpositionFormat::kOpenMetrics : sampling::ExpositionFormat::kPrometheus;
    return server::ScrapeText{sampling::exposition(newest->at(system_clock().steady_ns()), host, format),
                              std::string(sampling::content_type_of(format))};
  };
  TRAINWARDEN_ASSIGN_OR_RETURN(auto server,
                               server::ScrapeServer::start(place.address, place.port, source, place.loopback));
  const bool six = place.address.find(':') != std::string::npos;
  emit("http://{}{}{}:{}/metrics\n", six ? "[" : "", place.address, six ? "]" : "", server->port());
  std::fflush(stdout);
  return server;
}

// Until its time is over, or a signal comes.
void wait(process::SignalRelay& relay, const sampling::Sampler& sampler,
          std::optional<std::chrono::milliseconds> duration, const std::string& what) {
  StatusLine line(stderr, terminal_of(stderr));
  const auto began = std::chrono::steady_clock::now();
  for (;;) {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
    if ((duration && passed >= *duration) || sampler.gave_up()) return;
    line.show(fmt::format("sampling {} for {} s; Ctrl-C ends it", what, passed.count() / 1000));
    if (relay.wait_for_end(duration ? std::min(kSignalPause, *duration - passed) : kSignalPause)) return;
  }
}

int act(const SampleOptions& options) {
  std::optional<std::chrono::milliseconds> duration;
  if (!options.duration.empty()) {
    const auto parsed = actions::parse_duration(options.duration);
    if (!parsed.ok()) return report_error(parsed.status().with_context("--for"));
    duration = *parsed;
  }
  const auto place = options.scrape.parse();
  if (!place.ok()) return report_error(place.status());
  if (options.no_run && !*place) {
    return report_error(
        Status(Code::kInvalidArgument, "--no-run keeps nothing; --prometheus PORT shows it to somebody"));
  }
  auto plan = make_plan(options);
  if (!plan.ok()) return report_error(plan.status());
  process::SignalRelay relay;  // before any thread
  std::unique_ptr<server::ScrapeServer> server;
  if (*place) {
    auto started = serve_newest(**place, *plan);
    if (!started.ok()) return report_error(started.status().with_context("--prometheus"));
    server = *std::move(started);
  }
  const auto began = std::chrono::steady_clock::now();
  sampling::Sampler sampler(*plan);
  const std::filesystem::path run = plan->run.path();
  const std::string what = options.no_run ? "this machine" : run_name(run);
  wait(relay, sampler, duration, what);
  const sampling::SamplerResult result = sampler.finish(true);
  if (!result.status.ok()) return report_error(result.status);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
  emit(stderr, "trainwarden: sampled {} for {:.1f} s, at {:.2f} % of a processor{}\n", what, passed.count(),
       100 * std::chrono::duration<double>(result.cpu_time) / passed,
       result.lost_samples > 0 ? fmt::format("; {} samples were lost", result.lost_samples) : "");
  if (options.no_run) return kExitFine;
  emit(stderr, "trainwarden: next: {} system {}\n", typed_program(), typed_run(run));
  return kExitFine;
}

}  // namespace

void add_sample(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<SampleOptions>();
  SampleOptions& o = *options;
  CLI::App& command =
      add_command(app, "sample", "Sample this machine: processors, memory, disks, network, GPUs", options, action, act);
  command.group(kTrainGroup);
  CLI::Option* const run =
      command.add_option("RUN", o.run, "The run that the samples go into (default: a new one)")->type_name("");
  CLI::Option* const name = add_name_option(command, o.name, "Name of a new run (default: made from the time)");
  name->excludes(run);
  add_runs_option(command, o.runs);
  command.add_option("--pid", o.pids, "Sample this process too, and those that it starts; can be given several times")
      ->type_name("PID")
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1 << 22));
  command.add_option("--for", o.duration, "End after this time: 30s, 10m (default: when a signal comes)")
      ->type_name("TIME");
  add_sample_intervals(command, o.sample);
  add_scrape_options(command, o.scrape);
  command.add_flag("--no-run", o.no_run, "Keep nothing: only --prometheus shows what is sampled")
      ->excludes(run)
      ->excludes(name);
  set_examples(command, {"trainwarden sample --for 10s --name idle", "trainwarden sample first",
                         "trainwarden sample first --pid 4711 --sample-interval 1s",
                         "trainwarden sample --prometheus 9464 --no-run"});
}

}  // namespace trainwarden::cli
