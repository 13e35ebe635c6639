// `trainwarden doctor`: reads every byte of a run and says what is damaged or missing.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/checkup.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/json_out.h"
#include "cli/run_locator.h"
#include "cli/table.h"

namespace trainwarden::cli {
namespace {

struct DoctorOptions {
  RunChoice run;
  bool json = false;
};

void print_as_json(const std::string& run, const Checkup& checkup) {
  Json journals = Json::array();
  for (const JournalCheckup& journal : checkup.journals) {
    Json losses = Json::array();
    for (const RunLoss& loss : journal.losses) losses.push_back(json_of(loss));
    journals.push_back({{"writer", journal.writer},
                        {"live", journal.live},
                        {"steps", journal.steps},
                        {"tensors", journal.tensors},
                        {"events", journal.events},
                        {"losses", losses}});
  }
  print_json({{"run", run},
              {"id", checkup.info.id},
              {"format_version", checkup.info.format_version},
              {"healthy", checkup.healthy()},
              {"journals", journals}});
}

void print_journals(const Checkup& checkup) {
  Table table({{"JOURNAL"},
               {"WRITER"},
               {"STEPS", Align::kRight},
               {"TENSORS", Align::kRight},
               {"EVENTS", Align::kRight},
               {"LOSSES", Align::kRight}});
  for (const JournalCheckup& journal : checkup.journals) {
    table.add_row({printable(journal.writer), journal.live ? "at work" : "gone", std::to_string(journal.steps),
                   std::to_string(journal.tensors), std::to_string(journal.events),
                   std::to_string(journal.losses.size())});
  }
  fmt::print("{}", table.to_string());
}

void print_losses(const Checkup& checkup) {
  Table table({{"CAUSE"}, {"COUNT", Align::kRight}, {"BYTES", Align::kRight}, {"WHERE"}});
  for (const JournalCheckup& journal : checkup.journals) {
    for (const RunLoss& loss : journal.losses) {
      const std::string where = loss.by_writer ? loss.where + " (never written)" : loss.where;
      table.add_row({printable(loss.cause), std::to_string(loss.count), format_bytes(loss.bytes), printable(where)});
    }
  }
  fmt::print("\n{}\nEverything else can be read as before; nothing was changed.\n", table.to_string());
}

int act(const DoctorOptions& options) {
  const auto path = options.run.locate();
  if (!path.ok()) return report_error(path.status());
  const auto checkup = examine(*path);
  if (!checkup.ok()) return report_error(checkup.status());
  if (options.json) {
    print_as_json(run_name(*path), *checkup);
  } else {
    fmt::print("{}  format version {}  {}\n", run_name(*path), checkup->info.format_version, checkup->info.id);
    print_journals(*checkup);
    if (checkup->healthy()) {
      fmt::print("healthy: every checksum holds and nothing is missing\n");
    } else {
      print_losses(*checkup);
    }
  }
  return checkup->healthy() ? kExitFine : kExitDataLost;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  auto options = std::make_shared<DoctorOptions>();
  DoctorOptions& o = *options;
  CLI::App& command =
      add_command(app, "doctor", "Read every byte of a run and say what is damaged or missing", options, action, act);
  command.group(kLookGroup);
  add_run_choice(command, o.run);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden doctor first", "trainwarden doctor first --json | jq .healthy"});
}

}  // namespace trainwarden::cli
