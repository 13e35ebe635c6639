// `trainwarden system`: how much of each machine was in use while a run trained.
#include <fmt/format.h>

#include "core/base/text.h"
#include "read/profile/rates.h"
#include "read/profile/system_usage.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"
#include "ui/views/profile/profile_span.h"

namespace trainwarden::cli {
namespace {

struct SystemOptions {
  RunChoice run;
  std::vector<std::string> kinds;
  bool parts = false;
  std::size_t points = 0;
  bool json = false;
};

std::string unit_text(const profile::UsageKind& kind, double value) {
  constexpr double kMostBytes = 9e18;
  const bool is_bytes = kind.unit.starts_with("bytes") && value >= 0 && value < kMostBytes;
  if (!is_bytes) return fmt::format("{:.1f}", value);
  return format_bytes(static_cast<std::uint64_t>(value)) + (kind.unit == "bytes/s" ? "/s" : "");
}

std::string what_text(const profile::UsageSeries& series) {
  return series.part.empty() ? std::string(series.kind->label) : fmt::format("{} {}", series.kind->label, series.part);
}

std::string unit_title(const profile::UsageKind& kind) {
  return kind.unit.starts_with("bytes") ? "" : std::string(kind.unit);
}

void print_tables(const std::vector<profile::UsageSeries>& usage) {
  Table table({{"MACHINE"},
               {"WHAT"},
               {"MEAN", Align::kRight},
               {"P50", Align::kRight},
               {"P95", Align::kRight},
               {"MAX", Align::kRight},
               {""}});
  for (const profile::UsageSeries& series : usage) {
    const auto q = profile::quantiles_of(series.samples);
    if (!q) continue;
    const auto text = [&](double value) { return unit_text(*series.kind, value); };
    table.add_row({series.instance, what_text(series), text(q->mean), text(q->p50), text(q->p95), text(q->max),
                   unit_title(*series.kind)});
  }
  emit("{}", Lines{table.to_string()});
}

OrderedJson points_json(const profile::UsageSeries& series, std::size_t count) {
  const std::int64_t from = series.samples.front().unix_ns, to = series.samples.back().unix_ns + 1;
  OrderedJson points = OrderedJson::array();
  for (const Sample& mean : profile::means_of(series.samples, from, to, count)) {
    points.push_back({mean.unix_ns, json_number(mean.value)});
  }
  return points;
}

OrderedJson usage_json(const profile::UsageSeries& series, std::size_t points) {
  OrderedJson json = {{"kind", series.kind->name},       {"label", series.kind->label},
                      {"unit", series.kind->unit},       {"part", series.part},
                      {"instance", series.instance},     {"worker", series.worker},
                      {"samples", series.samples.size()}};
  if (const auto q = profile::quantiles_of(series.samples)) {
    json.update({{"mean", json_number(q->mean)},
                 {"min", json_number(q->min)},
                 {"p50", json_number(q->p50)},
                 {"p95", json_number(q->p95)},
                 {"p99", json_number(q->p99)},
                 {"max", json_number(q->max)}});
  }
  if (points > 0) json["points"] = points_json(series, points);
  return json;
}

int act(const SystemOptions& options) {
  const auto trial = options.run.open();
  if (!trial.ok()) return report_error(trial.status());
  auto usage = profile::system_usage(**trial, {.kinds = options.kinds,
                                               .to_unix_ns = views::profile_span(**trial).to_unix_ns,
                                               .parts = options.parts || options.json});
  if (!usage.ok()) return report_error(usage.status());
  (void)profile::merge_machines(*usage);
  if (options.json) {
    OrderedJson list = OrderedJson::array();
    for (const profile::UsageSeries& series : *usage) list.push_back(usage_json(series, options.points));
    print_json({{"run", run_name((*trial)->path())}, {"usage", std::move(list)}});
  } else if (usage->empty()) {
    emit(stderr,
         "trainwarden: nothing was sampled{}: `run` samples the machine unless it is told --no-sample, and "
         "`sample` does so beside any program\n",
         options.kinds.empty() ? "" : " of that");
  } else {
    print_tables(*usage);
  }
  return usage->empty() ? kExitFailed : kExitFine;
}

}  // namespace

void add_system(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<SystemOptions>();
  SystemOptions& o = *options;
  CLI::App& command =
      add_command(app, "system", "Show how much of each machine was in use while a run trained", options, action, act);
  command.group(kLookGroup);
  add_run_choice(command, o.run);
  std::vector<std::string> kinds;
  for (const profile::UsageKind& kind : profile::usage_kinds()) kinds.emplace_back(kind.name);
  command.add_option("--kind", o.kinds, "Show this alone; can be given several times")
      ->type_name("KIND")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(kinds));
  command.add_flag("--parts", o.parts, "Also each processor, disk and network interface");
  command.add_option("--points", o.points, "With --json: the means of so many stretches of time")
      ->type_name("N")
      ->check(CLI::Range(0, 10'000));
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden system first", "trainwarden system first --parts --kind disk_busy",
                         "trainwarden system first --json --kind cpu --points 100 | jq '.usage[].points'"});
}

}  // namespace trainwarden::cli
