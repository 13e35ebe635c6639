#include "ui/cli/commands/upkeep_commands.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "read/trial/run_listing.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {

Result<std::vector<std::filesystem::path>> RunsChoice::locate() const {
  const std::filesystem::path all = runs_folder(folder);
  if (!runs.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(LocatedRuns located, locate_runs(runs, all));
    const std::string note = left_out_note(located);
    if (!note.empty()) emit(stderr, "{}\n", note);
    return std::move(located.runs);
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> names, trial::list_runs(storage::Location(all)));
  if (names.empty()) return Status(Code::kNotFound, fmt::format("there are no runs in {} yet", all.string()));
  std::vector<std::filesystem::path> paths;
  for (const std::string& name : names) paths.push_back(all / name);
  return paths;
}

void add_runs_choice(CLI::App& command, RunsChoice& choice) {
  add_words(command, "RUN", choice.runs, "Names of runs, or their paths (default: all of the folder)")->type_name("");
  add_runs_option(command, choice.folder);
}

std::filesystem::path new_run_path(const std::string& text, const std::string& folder) {
  return text.find('/') != std::string::npos ? std::filesystem::path(text) : runs_folder(folder) / text;
}

OrderedJson json_of_copy_notes(const std::vector<upkeep::CopyNote>& notes) {
  OrderedJson list = OrderedJson::array();
  for (const upkeep::CopyNote& note : notes) {
    list.push_back({{"file", note.path},
                    {"offset", note.offset},
                    {"cause", note.cause},
                    {"what", note.what},
                    {"count", note.count},
                    {"bytes", note.bytes}});
  }
  return list;
}

void print_copy_notes(const std::vector<upkeep::CopyNote>& notes) {
  constexpr std::size_t kMostRows = 50;
  Table table({{"CAUSE"}, {"WHAT"}, {"COUNT", Align::kRight}, {"BYTES", Align::kRight}, {"WHERE"}});
  for (std::size_t i = 0; i < std::min(notes.size(), kMostRows); ++i) {
    const upkeep::CopyNote& note = notes[i];
    table.add_row({note.cause, note.what, std::to_string(note.count), format_bytes(note.bytes),
                   fmt::format("{} at byte {}", note.path, note.offset)});
  }
  emit("{}", Lines{table.to_string()});
  if (notes.size() > kMostRows) emit("... and {} more (--json has all)\n", notes.size() - kMostRows);
}

}  // namespace trainwarden::cli
