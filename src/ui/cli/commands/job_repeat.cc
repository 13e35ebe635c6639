// `trainwarden job repeat`: a new job from what is kept of an old one.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/process/program.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/terminal.h"
#include "work/document/document.h"
#include "work/experiments/content_hash.h"
#include "work/jobs/spec_change.h"
#include "work/jobs/submitter_environment.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRepeat = "-repeat-";
constexpr std::size_t kMaxRepeats = 10'000;
// They are other ones in each shell, and mean nothing to a training.
constexpr std::array<std::string_view, 4> kOfAShell = {"_", "PWD", "OLDPWD", "SHLVL"};

struct JobRepeatOptions {
  JobChoice job;
  std::vector<std::string> set;  // "lr=0.1"
  std::string name;
  bool wait = false;
  bool json = false;
};

// What is not, or may not be, as it was.
struct Difference {
  std::string what;  // "code", "environment", "image"
  std::string text;
};

struct Repeat {
  jobs::JobRecord job;
  std::vector<Difference> differences;
  std::string code_hash;  // of the copied sources; empty: none were, or they are too many
};

// "bert-7" and "bert-7-repeat-1" as "bert-7-repeat-2", the first that is free.
Result<std::string> free_name(const storage::Location& jobs, const storage::Location& runs, const std::string& old) {
  const std::size_t before = old.rfind(kRepeat);
  const bool is_repeat =
      before != std::string::npos && parse_int(std::string_view(old).substr(before + kRepeat.size())).has_value();
  const std::string base = is_repeat ? old.substr(0, before) : old;
  for (std::size_t number = 1; number <= kMaxRepeats; ++number) {
    const std::string ending = fmt::format("{}{}", kRepeat, number);
    std::string name = base.substr(0, jobs::kMaxJobNameBytes - ending.size());
    while (name.ends_with('-')) name.pop_back();
    name += ending;
    if (!jobs.storage().exists(name) && !runs.storage().exists(name)) return name;
  }
  return Status(Code::kResourceExhausted, fmt::format("{} was repeated too often; give a --name", old));
}

Result<jobs::JobSpec> spec_of(const jobs::JobOrder& order) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const document::DocumentValue top, document::parse(order.spec, order.name));
  document::Mistakes ignored;  // they were told when it was submitted
  return jobs::read_job_spec(top, ignored);
}

Result<std::string> changed_text(const JobRepeatOptions& options, const jobs::JobOrder& old, bool has_copy) {
  jobs::SpecChange change;
  for (const std::string& text : options.set) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Assignment one, jobs::parse_assignment(text, "--set"));
    change.hyperparameters[one.name] = jobs::scalar_value(one.text);
  }
  if (has_copy) change.source_dir = old.folder;
  return jobs::changed_spec(old.spec, change);
}

std::string hash_of(const fs::path& folder) {
  const auto hash = experiments::hash_content(folder, {});
  return hash.ok() ? hash->hash : "";
}

// Nothing when the sources are those of then and nothing else lies there now, or nobody knows.
std::optional<Difference> code_difference(const jobs::JobOrder& old, const jobs::JobSpec& spec,
                                          const std::string& hash) {
  if (spec.source_dir.empty()) {
    return Difference{"code", fmt::format("was not copied, since the job has no source_dir: the program runs in {} as "
                                          "it is now",
                                          old.folder)};
  }
  const fs::path source = (fs::path(old.spec_file).parent_path() / spec.source_dir).lexically_normal();
  if (hash.empty() || !spec.dependencies.empty()) return std::nullopt;
  const std::string now = hash_of(source);
  if (now.empty() || now == hash) return std::nullopt;
  return Difference{"code", fmt::format("{} has changed; the sources of then are used", source.string())};
}

std::optional<Difference> environment_difference(const jobs::JobOrder& old) {
  if (old.environment_file.empty()) return Difference{"environment", "was not kept; that of now is used"};
  const auto kept = jobs::read_submitter_environment(old.environment_file);
  if (!kept.ok()) return Difference{"environment", kept.status().message()};
  std::map<std::string, std::string> then = kept->set;
  std::vector<std::string> names;
  for (const std::string& variable : process::environment_with({})) {
    const std::string name = variable.substr(0, variable.find('='));
    const auto known = then.find(name);
    if (known == then.end() || known->second != variable.substr(name.size() + 1)) names.push_back(name);
    if (known != then.end()) then.erase(known);
  }
  for (const auto& [name, value] : then) names.push_back(name);
  std::erase_if(names, [](const std::string& name) {
    return std::find(kOfAShell.begin(), kOfAShell.end(), name) != kOfAShell.end();
  });
  if (names.empty()) return std::nullopt;
  std::sort(names.begin(), names.end());
  return Difference{"environment", fmt::format("other values now: {}; those of then are used", fmt::join(names, ", "))};
}

std::vector<Difference> differences_of(const jobs::JobOrder& old, const jobs::JobSpec& spec, const std::string& hash) {
  std::vector<Difference> all;
  if (auto code = code_difference(old, spec, hash)) all.push_back(*std::move(code));
  if (auto environment = environment_difference(old)) all.push_back(*std::move(environment));
  if (!spec.image.empty()) all.push_back({"image", spec.image + " is what this name stands for now"});
  return all;
}

Result<Repeat> repeat(const JobRepeatOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::JobRecord record, options.job.open());
  const jobs::JobOrder& old = record.order();
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::JobSpec spec, spec_of(old));
  const bool has_copy = !spec.source_dir.empty();
  TRAINWARDEN_ASSIGN_OR_RETURN(std::string text, changed_text(options, old, has_copy));
  TRAINWARDEN_ASSIGN_OR_RETURN(CheckedJob job, check_job_text(std::move(text), old.spec_file, old.backend));
  JobBackends backends;
  TRAINWARDEN_RETURN_IF_ERROR(check_for_submission(job, backends));
  SubmitPlan submission;
  submission.spec = old.spec_file;
  submission.jobs = options.job.jobs;
  submission.runs = fs::path(old.run).parent_path().string();
  submission.name = options.name;
  submission.environment_file = old.environment_file;
  submission.repeats = old.name;
  if (submission.name.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(submission.name, free_name(storage::Location(jobs_folder(options.job.jobs)),
                                                            storage::Location(submission.runs), old.name));
  }
  const std::string hash = has_copy ? hash_of(old.folder) : "";
  std::vector<Difference> differences = differences_of(old, spec, hash);
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobRecord made, submit_job(job, submission, backends));
  return Repeat{std::move(made), std::move(differences), hash};
}

OrderedJson repeat_json(const Repeat& repeated) {
  OrderedJson differences = OrderedJson::array();
  for (const Difference& one : repeated.differences) differences.push_back({{"what", one.what}, {"message", one.text}});
  const jobs::JobOrder& order = repeated.job.order();
  return {{"job", order.name},
          {"repeats", order.repeats},
          {"folder", repeated.job.place().address()},
          {"run", order.run},
          {"code_hash", repeated.code_hash.empty() ? OrderedJson(nullptr) : OrderedJson(repeated.code_hash)},
          {"differences", differences}};
}

int act(const JobRepeatOptions& options) {
  Result<Repeat> repeated = repeat(options);
  if (!repeated.ok()) return report_error(repeated.status());
  if (options.json) {
    print_json(repeat_json(*repeated));
  } else {
    emit("{}\n", repeated->job.order().name);
  }
  for (const Difference& one : repeated->differences) {
    emit(stderr, "trainwarden: not as in {}: {}: {}\n", options.job.job, one.what, one.text);
  }
  return options.wait ? wait_for_job(repeated->job, !options.json) : kExitFine;
}

}  // namespace

void add_job_repeat(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobRepeatOptions>();
  JobRepeatOptions& o = *options;
  CLI::App& command =
      add_command(job, "repeat", "Run a job again as a new one, with its sources of then", options, action, act);
  add_job_choice(command, o.job);
  add_words(command, "--set", o.set, "Another value of a hyper-parameter")->type_name("NAME=VALUE");
  add_name_option(command, o.name, "Name of the new job and of its run (default: JOB-repeat-1, -2, ...)");
  command.add_flag("--wait", o.wait, "Print what it prints until it has ended; exit code 0 when it is Completed");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden job repeat bert-7", "trainwarden job repeat bert-7 --set lr=0.01 --name bert-8"});
}

}  // namespace trainwarden::cli
