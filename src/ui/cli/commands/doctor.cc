// `trainwarden doctor`: reads every byte of a run and says what is damaged or missing.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/step_end.h"
#include "read/upkeep/checkup.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/upkeep_commands.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

using upkeep::Checkup;
using upkeep::JournalCheckup;

struct DoctorOptions {
  RunChoice run;
  bool json = false;
};

bool is_ours(const Checkup& checkup) {
  return checkup.recorder == "trainwarden";
}

OrderedJson losses_as_json(const std::vector<RunLoss>& losses) {
  OrderedJson list = OrderedJson::array();
  for (const RunLoss& loss : losses) list.push_back(cli::json_of(loss));
  return list;
}

void print_as_json(const std::string& run, const Checkup& checkup) {
  OrderedJson journals = OrderedJson::array();
  for (const JournalCheckup& journal : checkup.journals) {
    journals.push_back({{"writer", journal.writer},
                        {"live", journal.live},
                        {"steps", journal.steps},
                        {"tensors", journal.tensors},
                        {"events", journal.events},
                        {"losses", losses_as_json(journal.losses)}});
  }
  print_json({{"run", run},
              {"id", checkup.info.id},
              {"recorder", checkup.recorder},
              {"format_version", is_ours(checkup) ? OrderedJson(checkup.info.format_version) : OrderedJson()},
              {"healthy", checkup.healthy()},
              {"journals", journals},
              {"losses", losses_as_json(checkup.losses)}});
}

void print_head(const std::string& run, const Checkup& checkup) {
  const std::string format = is_ours(checkup) ? fmt::format("format version {}", checkup.info.format_version)
                                              : fmt::format("recorded by {}", checkup.recorder);
  emit("{}  {}  {}\n", run, format, checkup.info.id);
}

// Nobody locks a folder of another recorder's: all that can be seen is whether the run's end was marked.
const char* writer_text(const Checkup& checkup, const JournalCheckup& journal) {
  if (is_ours(checkup)) return journal.live ? "at work" : "gone";
  return journal.live ? "no end marker" : "gone";
}

void print_journals(const Checkup& checkup) {
  Table table({{"JOURNAL"},
               {"WRITER"},
               {"STEPS", Align::kRight},
               {"TENSORS", Align::kRight},
               {"EVENTS", Align::kRight},
               {"LOSSES", Align::kRight}});
  for (const JournalCheckup& journal : checkup.journals) {
    table.add_row({journal.writer, writer_text(checkup, journal), std::to_string(journal.steps),
                   std::to_string(journal.tensors), std::to_string(journal.events),
                   std::to_string(journal.losses.size())});
  }
  emit("{}", Lines{table.to_string()});
}

void print_losses(const Checkup& checkup) {
  Table table({{"CAUSE"}, {"COUNT", Align::kRight}, {"BYTES", Align::kRight}, {"WHERE"}});
  const auto add = [&](const RunLoss& loss) {
    const bool thinned = loss.by_writer && loss.cause == format::kThinnedCause;
    const std::string where = loss.where + (thinned ? " (by gc)" : loss.by_writer ? " (never written)" : "");
    table.add_row({loss.cause, std::to_string(loss.count), format_bytes(loss.bytes), where});
  };
  for (const JournalCheckup& journal : checkup.journals)
    std::for_each(journal.losses.begin(), journal.losses.end(), add);
  std::for_each(checkup.losses.begin(), checkup.losses.end(), add);
  if (!table.empty()) emit("\n{}\n", Lines{table.to_string()});
}

int act(const DoctorOptions& options) {
  const auto path = options.run.locate();
  if (!path.ok()) return report_error(path.status());
  const auto checkup = upkeep::examine(storage::Location(*path));
  if (!checkup.ok()) return report_error(checkup.status());
  if (options.json) {
    print_as_json(run_name(*path), *checkup);
  } else {
    print_head(run_name(*path), *checkup);
    print_journals(*checkup);
    print_losses(*checkup);
    if (checkup->healthy()) {
      emit("healthy: {} and nothing is missing\n",
           is_ours(*checkup) ? "every checksum holds" : "every record can be read");
    } else {
      emit("Everything else can be read as before; nothing was changed.\n");
    }
  }
  return checkup->healthy() ? kExitFine : kExitDataLost;
}

}  // namespace

void add_doctor(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<DoctorOptions>();
  DoctorOptions& o = *options;
  CLI::App& command =
      add_command(app, "doctor", "Read every byte of a run and say what is damaged or missing", options, action, act);
  command.group(kUpkeepGroup);
  add_run_choice(command, o.run);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden doctor first", "trainwarden doctor first --json | jq .healthy"});
}

}  // namespace trainwarden::cli
