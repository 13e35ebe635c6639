// `trainwarden study import`: a study that Optuna has kept, as one of ours.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "tune/optuna/past_study.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/study_commands.h"
#include "ui/cli/options/study_choice.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/views/study_view.h"

namespace trainwarden::cli {
namespace {

constexpr std::size_t kNamesShown = 20;

struct StudyImportOptions {
  std::string file, study, name, studies;
  bool json = false;
};

// The one that was named, or the only one.
Result<std::string> chosen_study(const StudyImportOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<std::string> names, tune::optuna_study_names(options.file));
  const bool is_there = std::find(names.begin(), names.end(), options.study) != names.end();
  if (!options.study.empty() && is_there) return options.study;
  if (options.study.empty() && names.size() == 1) return names.front();
  if (names.empty())
    return Status(Code::kNotFound, fmt::format("{}: there is no study in it", printable(options.file)));
  if (names.size() > kNamesShown) names.resize(kNamesShown);
  for (std::string& each : names) each = fmt::format("\"{}\"", printable(each));
  const std::string found = options.study.empty() ? "none" : fmt::format("\"{}\"", printable(options.study));
  return Status(Code::kNotFound, fmt::format("{}: expected --study with one of its studies, {}; found {}",
                                             printable(options.file), fmt::join(names, ", "), found));
}

// "a b/c_1" becomes "a-b-c-1".
std::string study_name_of(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_letter) name += c;
    if (!is_letter && !name.empty() && name.back() != '-') name += '-';
  }
  name.resize(std::min(name.size(), tune::kMaxStudyNameBytes));
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "imported" : name;
}

Result<tune::Study> import_study(const StudyImportOptions& options, std::size_t& left_out) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string chosen, chosen_study(options));
  TRAINWARDEN_ASSIGN_OR_RETURN(const tune::OptunaStudy theirs, tune::read_optuna_study(options.file, chosen));
  TRAINWARDEN_ASSIGN_OR_RETURN(tune::PastStudy past, tune::past_of(theirs, system_clock().unix_ns()));
  left_out = past.left_out;
  past.spec.name = options.name.empty() ? study_name_of(chosen) : options.name;
  // What cannot follow is found before anything is written.
  tune::StudyState trying(past.spec);
  for (const tune::StudyEvent& event : past.events) TRAINWARDEN_RETURN_IF_ERROR(trying.apply(event));
  TRAINWARDEN_ASSIGN_OR_RETURN(
      tune::Study study, tune::Study::create(studies_folder(options.studies), std::move(past.spec), system_clock()));
  TRAINWARDEN_RETURN_IF_ERROR(study.add_past(past.events));
  return study;
}

int act(const StudyImportOptions& options) {
  std::size_t left_out = 0;
  const auto study = import_study(options, left_out);
  if (!study.ok()) return report_error(study.status());
  if (left_out > 0) {
    emit(stderr, "trainwarden: warning: {} that nobody had begun {} left out\n",
         left_out == 1 ? "1 trial" : fmt::format("{} trials", left_out), left_out == 1 ? "was" : "were");
  }
  if (options.json) {
    OrderedJson json = views::study_head_json(*study, system_clock().unix_ns());
    json["folder"] = study->place().address();
    json["left_out"] = left_out;
    print_json(json);
  } else {
    emit("{}: {} trials. {}.\n", study->spec().name, study->state().history().trials.size(),
         views::outcome_text(*study));
  }
  return kExitFine;
}

}  // namespace

void add_study_import(CLI::App& study, CommandAction& action) {
  auto options = std::make_shared<StudyImportOptions>();
  StudyImportOptions& o = *options;
  CLI::App& command = add_command(
      study, "import", "Make a study of one that Optuna has kept, in SQLite or a journal file", options, action, act);
  command.add_option("FILE", o.file, "Optuna's storage; it is only read")->required()->type_name("");
  command.add_option("--study", o.study, "Name of the study there (default: the only one)")->type_name("NAME");
  command.add_option("--as", o.name, "Name of the study here (default: the same, of letters and digits)")
      ->type_name("NAME");
  add_studies_option(command, o.studies);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden study import optuna.db",
                         "trainwarden study import optuna.db --study 'my search' "
                         "--as search --json"});
}

}  // namespace trainwarden::cli
