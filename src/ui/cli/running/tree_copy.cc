#include "ui/cli/running/tree_copy.h"

#include <algorithm>
#include <atomic>
#include <stop_token>
#include <thread>

#include <fmt/format.h>

#include "core/base/environment.h"
#include "core/base/text.h"
#include "core/process/signal_relay.h"
#include "store/s3/s3_settings.h"
#include "store/storage/local_place.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/control_options.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/copy_view.h"
#include "ui/cli/terminal/status_line.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kCopyGlance{200};
constexpr std::uint64_t kLeastOfConnection = 8 << 20;  // bytes a second, below which there are fewer connections

// All connections together keep within the bandwidth.
Status share_bandwidth(TreeCopyOptions& options) {
  options.copy.connections = static_cast<unsigned>(options.connections);
  if (options.bandwidth.empty()) return {};
  const auto speed = storage::parse_speed(options.bandwidth);
  if (!speed) {
    return Status(Code::kInvalidArgument, fmt::format("--bandwidth: expected a speed such as 10MB/s, found \"{}\"",
                                                      printable(options.bandwidth)));
  }
  const std::uint64_t fitting = std::max<std::uint64_t>(*speed / kLeastOfConnection, 1);
  options.copy.connections = static_cast<unsigned>(std::min<std::uint64_t>(options.copy.connections, fitting));
  options.order.max_bytes_per_second = std::max<std::uint64_t>(*speed / options.copy.connections, 1);
  return {};
}

// A run may be meant by its name, as in other commands.
void find_run_by_name(std::string& from) {
  if (from.find('/') != std::string::npos || from.empty() || from == "." || from == "..") return;
  const auto place = storage::find_local_place(from);
  if (!place.ok() || place->kind != storage::LocalPlace::Kind::kNothing) return;
  const auto run = launch::locate_run(from, runs_folder(""));
  if (run.ok()) from = run->string();
}

Result<copy::CopySummary> copy_and_show(copy::CopyTree& tree, process::SignalRelay& relay, std::stop_source& stop) {
  Result<copy::CopySummary> summary = Status(Code::kInternal, "not begun");
  std::atomic<bool> has_ended = false;
  std::jthread thread([&] {
    summary = tree.run(stop.get_token());
    has_ended = true;
  });
  StatusLine line(stderr, terminal_of(stderr));
  CopySpeed speed;
  while (!has_ended) {
    line.show(speed.text(tree.progress()));
    if (relay.wait_for_end(kCopyGlance)) stop.request_stop();
  }
  thread.join();
  return summary;
}

}  // namespace

void add_tree_copy_options(CLI::App& command, TreeCopyOptions& o) {
  command.add_option("FROM", o.order.from, "A path, the name of a run, or s3://BUCKET/PREFIX")
      ->required()
      ->type_name("");
  command.add_option("TO", o.order.to, "A path or s3://BUCKET/PREFIX")->required()->type_name("");
  command.add_flag("--dry-run", o.copy.dry_run, "Say what would be done, and do nothing");
  command.add_flag("--check", o.copy.checks,
                   "Compare the content of every file, also of those that are there: by the checksum of the bucket, "
                   "else by reading both");
  command.add_flag("--abandon", o.copy.abandons,
                   "Copy nothing: remove what an earlier copy of the same has begun and not ended");
  command.add_option("--bandwidth", o.bandwidth, "All connections together send and get no more than this: 10MB/s")
      ->type_name("SPEED");
  command.add_option("--connections", o.connections, "So many at once (default: 8)")
      ->check(CLI::Range(1, static_cast<int>(copy::kMaxConnections)))
      ->type_name("N");
  add_duration_option(command, "--patience", o.copy.patience, "Wait so long for a network that is away (default: 2m)");
  add_json_flag(command, o.json);
}

Status copy_whole(const copy::CopyOrder& order) {
  process::SignalRelay relay;  // before any thread
  std::stop_source stop;
  TRAINWARDEN_ASSIGN_OR_RETURN(const copy::CopyEnds ends,
                               copy::find_ends(order, process_environment, stop.get_token()));
  copy::CopyTree tree(ends.from, ends.to, {});
  const auto summary = copy_and_show(tree, relay, stop);
  const Status problem = summary.ok() ? copy::problem_of(*summary) : summary.status();
  if (problem.ok()) return {};
  const auto again = copy::find_ends(order, process_environment, {});
  if (!again.ok()) return problem;
  copy::CopyTree begun(again->from, again->to, {.abandons = true, .patience = std::chrono::milliseconds(0)});
  [[maybe_unused]] const auto abandoned = begun.run({});
  return problem;
}

int run_tree_copy(TreeCopyOptions options) {
  if (const Status shared = share_bandwidth(options); !shared.ok()) return report_error(shared);
  find_run_by_name(options.order.from);
  process::SignalRelay relay;  // before any thread
  std::stop_source stop;
  const auto ends = copy::find_ends(options.order, process_environment, stop.get_token());
  if (!ends.ok()) return report_error(ends.status());
  copy::CopyTree tree(ends->from, ends->to, options.copy);
  const auto summary = copy_and_show(tree, relay, stop);
  if (!summary.ok()) return report_error(summary.status());
  if (options.json) {
    print_copy_as_json(*ends, options.copy, *summary);
  } else {
    print_copy(*ends, options.copy, *summary);
  }
  return exit_code_of_copy(*summary);
}

}  // namespace trainwarden::cli
