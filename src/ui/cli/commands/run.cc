// `trainwarden run`: starts a training program under watch and hands its exit code on.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/hook_variables.h"
#include "core/base/secret_mask.h"
#include "core/base/text.h"
#include "core/process/same_end.h"
#include "judge/rules/capture_needs.h"
#include "judge/rules/rule_history.h"
#include "judge/rules/run_diagnosis.h"
#include "react/events/description.h"
#include "react/events/run_facts.h"
#include "store/journal/run_folder.h"
#include "store/storage/location.h"
#include "ui/cli/commands/attach.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/action_choice.h"
#include "ui/cli/options/capture_choice.h"
#include "ui/cli/options/guard_environment.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/known_rules.h"
#include "ui/cli/options/label_choice.h"
#include "ui/cli/options/output_choice.h"
#include "ui/cli/options/profiler_config_choice.h"
#include "ui/cli/options/rule_choice.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/sample_choice.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/reports/bill_view.h"
#include "ui/cli/reports/diagnosis_view.h"
#include "ui/cli/reports/mirror_view.h"
#include "ui/cli/reports/output_view.h"
#include "ui/cli/reports/rule_report.h"
#include "ui/cli/reports/run_summary.h"
#include "ui/cli/running/follow_up.h"
#include "ui/cli/running/later_trainings.h"
#include "ui/cli/running/report_files.h"
#include "ui/cli/running/rule_output.h"
#include "ui/cli/running/watched_program.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"
#include "ui/views/last_loss.h"
#include "ui/views/run_failure.h"
#include "work/jobs/job_record.h"

namespace trainwarden::cli {
namespace {

// When rules judge beside the program, it is some steps further when they ask for what led to a verdict.
constexpr const char* kBlackBoxSteps = "8";
// What nobody has asked for takes no more of the training's memory.
constexpr const char* kBlackBoxBytes = "32MiB";
constexpr const char* kProfiledSteps = "auto";

struct RunOptions {
  std::vector<std::string> command;
  std::string name;
  std::string runs;
  CaptureChoice capture;
  LabelChoice labels;
  std::string attach = "auto";
  RuleChoice rules;
  ActionChoice actions;
  bool inside = false;
  bool page = false;
  std::optional<int> page_port;
  std::string mirror;
  bool mirror_requests = false;
  bool tied = false;
  bool resume = false;
  std::string exit_record;
  OutputChoice output;
  SampleChoice sample;
  ProfilerConfigChoice profiler_config;
};

// What the user wants, understood.
struct Judging {
  RulePlaces places;  // texts of --rule
  OnFire on_fire_inside = OnFire::kReport;
  std::vector<rules::EngineRule> beside;
  std::vector<std::string> rule_ids;  // of all
  watch::Subscribe subscribe;
};

// Rules whose steps are to be left out judge inside the program; with --inside all that can.
Result<RulePlaces> choose_places(const RunOptions& options, const ActionWiring& wiring) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<std::string> specs, options.rules.specs());
  const std::vector<std::string> skipping = wiring.skip_step_rules();
  if (options.inside) return divide_rules(specs);
  if (!skipping.empty()) return divide_rules(specs, skipping);
  return RulePlaces{.inside = {}, .beside = std::move(specs)};
}

OnFire on_fire_inside(const ActionWiring& wiring) {
  if (!wiring.skip_step_rules().empty()) return OnFire::kSkipStep;
  return wiring.leads_to("stop") ? OnFire::kStop : OnFire::kReport;
}

Result<Judging> choose_judging(const RunOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(ActionWiring wiring, options.actions.wiring(SkipStep::kAllowed));
  Judging judging;
  TRAINWARDEN_ASSIGN_OR_RETURN(judging.places, choose_places(options, wiring));
  judging.on_fire_inside = on_fire_inside(wiring);
  TRAINWARDEN_ASSIGN_OR_RETURN(judging.beside, create_rules(judging.places.beside));
  judging.rule_ids = rules::rule_ids(judging.beside);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto inside, create_rules(judging.places.inside));
  const std::vector<std::string> inside_ids = rules::rule_ids(inside);
  judging.rule_ids.insert(judging.rule_ids.end(), inside_ids.begin(), inside_ids.end());
  TRAINWARDEN_RETURN_IF_ERROR(check_rules_of_actions(wiring, judging.rule_ids));
  judging.subscribe = follow_up(std::move(wiring), judging.rule_ids);
  return judging;
}

// Of which steps the operators are recorded; a variable would go before the configuration.
bool says_which_steps(const CaptureChoice& capture) {
  return !capture.config.empty() || std::getenv(variable::kConfig) != nullptr ||
         std::getenv(variable::kProfileSteps) != nullptr;
}

// Where a configuration says what is captured, nothing is added to it unless there are rules.
bool is_examined(const RunOptions& options, const Judging& judging) {
  const bool is_configured = !options.capture.config.empty() || std::getenv(variable::kConfig) != nullptr;
  return std::getenv(variable::kExamine) == nullptr && (!judging.rule_ids.empty() || !is_configured);
}

// What the rules beside the program need to be captured, and which judge inside it.
Result<std::map<std::string, std::string>> rule_environment(const RunOptions& options, const Judging& judging) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto environment,
                               guard_environment(judging.places.inside, judging.on_fire_inside, options.rules.mute));
  const auto needs = rules::union_of_needs(judging.beside);
  if (!needs.empty()) environment[variable::kNeeds] = rules::encode_needs(needs);
  if (is_examined(options, judging)) environment[variable::kExamine] = "1";
  if (!judging.rule_ids.empty() && options.capture.black_box.empty() && std::getenv(variable::kBlackBox) == nullptr) {
    environment[variable::kBlackBox] = kBlackBoxSteps;
    if (std::getenv(variable::kBlackBoxBytes) == nullptr) environment[variable::kBlackBoxBytes] = kBlackBoxBytes;
    environment[variable::kBlackBoxSampled] = "1";  // what nobody has asked for costs what the budget leaves
  }
  return environment;
}

// Where the program prints, and what is read of it.
Status choose_output(const RunOptions& options, ProgramPlan& plan) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::filesystem::path file, options.output.file());
  if (file.empty()) return {};
  output::OutputPlan metrics{plan.run, {}, file};
  TRAINWARDEN_ASSIGN_OR_RETURN(metrics.definitions, options.output.definitions());
  metrics.info.command = process_mask().mask.arguments(options.command);
  TRAINWARDEN_ASSIGN_OR_RETURN(metrics.info.labels, recorded_labels(plan.environment, process_environment));
  if (options.output.of_job) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const OwnJob own, own_job());
    plan.job = own.job.place().absolute().path();
    metrics.goes_on = true;
  } else {
    plan.output = file;
    metrics.on_bytes = [](std::string_view bytes) {
      emit("{}", Painted{bytes});
      std::fflush(stdout);
    };
  }
  plan.metrics = std::move(metrics);
  return {};
}

// What SageMaker's configuration of a profiler says, where there is one; what is typed and ours goes before it.
Status choose_profiling(const RunOptions& options, SampleChoice& sample, ProgramPlan& plan) {
  const bool steps_are_chosen = says_which_steps(options.capture);
  if (!steps_are_chosen) plan.environment[variable::kProfileSteps] = kProfiledSteps;
  const auto file = options.profiler_config.find();
  if (!file) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(auto config, read_profiler_config(*file));
  for (const std::string& note : config.without_effect) {
    emit(stderr, "trainwarden: {}: without effect here: {}\n", file->string(), note);
  }
  apply_profiler_config(config, steps_are_chosen, sample, plan.environment);
  const TypedIntervals typed{!options.sample.host.empty(), !options.sample.gpu.empty()};
  plan.profiler_config = FollowedProfilerConfig{std::filesystem::absolute(*file), std::move(config), typed};
  return {};
}

// A program without a hook makes no run. What its machine did is worth one when it was more than a command.
constexpr std::chrono::seconds kSampledAlone{5};

Status choose_sampler(const RunOptions& options, const SampleChoice& sample, ProgramPlan& plan) {
  TRAINWARDEN_ASSIGN_OR_RETURN(plan.sampler, sample.plan(plan.run));
  if (!plan.sampler || !plan.job.empty()) return {};
  plan.sampler->makes_run_after = kSampledAlone;
  plan.sampler->info.command = process_mask().mask.arguments(options.command);
  TRAINWARDEN_ASSIGN_OR_RETURN(plan.sampler->info.labels, recorded_labels(plan.environment, process_environment));
  return {};
}

Result<ProgramPlan> make_plan(const RunOptions& options, const Judging& judging) {
  ProgramPlan plan;
  plan.command = options.command;
  plan.subscribe = judging.subscribe;
  plan.tied = options.tied;
  plan.rule_ids = judging.rule_ids;
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  TRAINWARDEN_ASSIGN_OR_RETURN(plan.run, launch::choose_run({.folder = runs_folder(options.runs),
                                                             .name = options.name,
                                                             .command = options.command,
                                                             .unix_seconds = system_clock().unix_ns() / kNsPerSecond,
                                                             .resume = options.resume}));
  plan.mute = options.rules.mute;
  if (options.page || options.page_port) plan.page_port = options.page_port.value_or(0);
  TRAINWARDEN_ASSIGN_OR_RETURN(plan.environment, rule_environment(options, judging));
  TRAINWARDEN_ASSIGN_OR_RETURN(plan.environment, options.capture.environment(std::move(plan.environment)));
  TRAINWARDEN_ASSIGN_OR_RETURN(plan.budget, options.capture.budget_share(plan.environment));
  TRAINWARDEN_ASSIGN_OR_RETURN(auto labels, options.labels.variables(process_environment));
  plan.environment.merge(std::move(labels));
  if (options.resume) plan.environment[variable::kResume] = "1";
  SampleChoice sample = options.sample;
  TRAINWARDEN_RETURN_IF_ERROR(choose_profiling(options, sample, plan));
  TRAINWARDEN_RETURN_IF_ERROR(process_mask().status);  // here, before a secret is in the run
  TRAINWARDEN_ASSIGN_OR_RETURN(plan.board, options.capture.board(plan.run));
  if (!options.mirror.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(plan.mirror, checked_mirror_address(options.mirror, plan.run));
    plan.mirror_takes_requests = options.mirror_requests;
  }
  TRAINWARDEN_RETURN_IF_ERROR(choose_output(options, plan));
  TRAINWARDEN_RETURN_IF_ERROR(choose_sampler(options, sample, plan));
  AttachPlan attach = plan_attach(options.command, options.attach);
  if (!attach.warning.empty()) emit(stderr, "trainwarden: warning: {}\n", attach.warning);
  plan.environment.merge(std::move(attach.environment));
  return plan;
}

// Of what the program has printed into a file; empty where there is none.
std::string last_printed_line(const std::filesystem::path& file) {
  constexpr std::uint64_t kLooked = 4096;
  constexpr std::size_t kMaxShown = 200;
  const storage::Location folder(std::filesystem::absolute(file).parent_path());
  const auto opened = folder.storage().open(file.filename().string());
  const auto bytes = opened.ok() ? (*opened)->bytes() : opened.status();
  if (!bytes.ok()) return {};
  std::string text(std::min(*bytes, kLooked), '\0');
  const auto read = (*opened)->read_at(*bytes - text.size(), std::as_writable_bytes(std::span(text)));
  const auto end = read.ok() ? text.find_last_not_of(" \t\r\n", *read) : std::string::npos;
  if (end == std::string::npos) return {};
  const auto before = text.find_last_of('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return process_mask().mask.text(printable(text.substr(begin, std::min(end + 1 - begin, kMaxShown))));
}

// Why a program that has ended has no run, or nothing of a training in it. Whether it trains at all is asked only where
// it ended well: another one may have failed before it came to that.
std::string why_nothing_came(const RunOptions& options, const ProgramPlan& plan, const ProgramResult& result) {
  const int code = result.exit.shell_code();
  if (code == 0 || result.judging.stop_requested) return explain_missing_run(options.command, options.attach);
  const std::string line = plan.output.empty() ? std::string() : last_printed_line(plan.output);
  return fmt::format("it ended with {} before any training was seen{}{}", events::exit_text(code),
                     line.empty() ? "" : ": ", line);
}

void print_missing_run(const RunOptions& options, const ProgramPlan& plan, const ProgramResult& result) {
  emit(stderr, "trainwarden: the program wrote no run into {}: {}\n", plan.run.string(),
       why_nothing_came(options, plan, result));
}

// What happened to what TensorBoard shows, which does not change the program's exit code.
void print_board(const ProgramPlan& plan, const Result<ExportReport>& board) {
  if (board.ok()) {
    emit(stderr, "trainwarden: for TensorBoard: tensorboard --logdir {}\n", plan.board.logdir.string());
  } else {
    emit(stderr, "trainwarden: warning: not shown to TensorBoard: {}\n", board.status().message());
  }
}

// What is missing of what its machine did.
void print_lost_samples(const sampling::SamplerResult& sampled) {
  if (sampled.status.code() == Code::kAlreadyExists) {
    emit(stderr, "trainwarden: {}\n", sampled.status.message());
  }
  if (sampled.lost_samples == 0) return;
  emit(stderr, "trainwarden: warning: {} samples of the machine were lost: {}\n", sampled.lost_samples,
       sampled.status.ok() ? "they waited too long to be written" : sampled.status.message());
}

// What the rules inside the program wrote into its run: all journals of verdicts but the one of the rules beside it.
watch::RuleReport report_of_inside(const ProgramPlan& plan, const ProgramResult& result) {
  watch::RuleReport report;
  const auto histories = rules::read_rule_histories(plan.run);
  if (!histories.ok()) return report;
  for (const rules::RuleHistory& history : *histories) {
    if (history.journal == result.judging.journal) continue;
    report.add(history);
  }
  return report;
}

// 3 as well when a rule inside fired, or one of a later training, and the program succeeded, or was stopped by it.
int run_exit_code(const ProgramResult& result, bool has_fired_besides) {
  const bool stopped = result.exit.shell_code() == 0 || result.exit.shell_code() == kExitRuleFired;
  return has_fired_besides && stopped ? kExitRuleFired : result.combined_exit_code();
}

// More rules than somebody names by hand: a set of them.
constexpr std::size_t kManyRules = 8;

bool has_nothing_to_say(const diagnosis::Diagnosis& diagnosis) {
  return diagnosis.findings.empty() && diagnosis.doubt.empty();
}

// The diagnosis first and the rules in short; of a training that was not examined what each rule has to say, unless
// they are so many that most have nothing to judge. Without rules, what is wrong with it or that nothing was found.
void print_judgement(const ProgramPlan& plan, const watch::RuleReport& report) {
  const auto trial = Trial::open(plan.run);
  const auto diagnosis = trial.ok() ? rules::diagnose_run(**trial) : diagnosis::Diagnosis();
  const bool judged = !report.statuses.empty();
  if (judged && diagnosis.examined == 0 && report.statuses.size() < kManyRules) return print_report(stderr, report);
  if (!judged && diagnosis.examined == 0 && has_nothing_to_say(diagnosis)) return;
  print_diagnosis(stderr, diagnosis, trial.ok() ? views::failure_of(**trial) : std::string(), false);
  if (judged) print_report_in_short(stderr, report);
  if (judged || !has_nothing_to_say(diagnosis)) {
    emit(stderr, "All of it: {} diagnose {} --whole\n", typed_program(), typed_run(plan.run));
  }
}

void print_summary(const RunOptions& options, const ProgramPlan& plan, const ProgramResult& result,
                   const watch::RuleReport& inside) {
  emit(stderr, "trainwarden: the program ended with code {} after {}\n", result.exit.shell_code(),
       format_duration_ns(result.exit.wall.count()));
  if (!result.run_appeared) return print_missing_run(options, plan, result);
  if (const auto trial = Trial::open(plan.run); trial.ok()) {
    const auto loss = views::last_loss(**trial);
    const std::string& framework = (*trial)->framework();
    const auto view = events::view_run(**trial);
    const RunState state = (*trial)->state();
    emit(stderr, "trainwarden: run {} {}, {}{}{}\n", run_name(plan.run),
         view.ok() ? status_text(state, *view) : std::string(name(state)), progress_text(**trial),
         framework.empty() ? "" : fmt::format(" with {}", framework),
         loss ? fmt::format(", loss {} at step {}", format_number(loss->value), loss->step) : "");
  }
  if (journal::read_run(*storage::Location(plan.run).shared_storage()).value_or({}).awaits_worker) {
    emit(stderr, "trainwarden: no tensors: {}\n", why_nothing_came(options, plan, result));
    if (result.sampled)
      emit(stderr, "trainwarden: what its machine did is kept: {} system {}\n", typed_program(), typed_run(plan.run));
  }
  if (!result.judging.status.ok()) report_error(result.judging.status);
  print_judgement(plan, result.judging.report);
  print_backlog(plan.run, result.judging.backlog);
  if (!inside.statuses.empty()) {
    emit(stderr, "trainwarden: the rules inside the program:\n");
    print_report(stderr, inside);
  }
  if (result.board) print_board(plan, *result.board);
  if (result.metrics) print_output_result(*result.metrics);
  if (result.sampled) print_lost_samples(*result.sampled);
  if (plan.page_port) {
    emit(stderr, "trainwarden: the page has ended with the program; again: {} serve {}\n", typed_program(),
         typed_run(plan.run));
  }
}

// Of a job the report is among its outputs too.
void write_outputs_of_job(const ProgramPlan& plan, const std::vector<std::string>& report_ids) {
  const auto own = own_job();
  for (const std::string& id : report_ids) {
    const auto folder = own.ok() ? write_rule_output(own->job, id, plan.run) : own.status();
    if (folder.ok()) {
      emit(stderr, "trainwarden: rule output: {}\n", *folder);
    } else {
      emit(stderr, "trainwarden: warning: no rule output of {}: {}\n", id, Message{folder.status().message()});
    }
  }
}

// Where the rule that asks for it judges: where the time went, in the run's own folder.
void write_asked_report(const ProgramPlan& plan, const ProgramResult& result, std::vector<std::string> rule_ids) {
  std::erase_if(rule_ids, [](const std::string& id) { return !id.starts_with(kReportRule); });
  if (rule_ids.empty() || !result.run_appeared) return;
  const auto written = write_run_report(plan.run);
  if (!written.ok()) {
    emit(stderr, "trainwarden: warning: no report: {}\n", Message{written.status().message()});
    return;
  }
  emit(stderr, "trainwarden: {}\ntrainwarden: report: {}\n", written->verdict,
       written->page.empty() ? written->document.string() : written->page.string());
  if (!plan.job.empty()) write_outputs_of_job(plan, rule_ids);
}

// For who has started us. What cannot be written does not change the program's exit code.
void write_exit_record(const std::string& file, const ProgramResult& result) {
  using How = process::ExitRecord::How;
  const process::ExitRecord& end = result.exit;
  jobs::JobExit exit;
  if (end.how == How::kExited) exit.code = end.number;
  if (end.how == How::kSignalled) exit.signal = end.number;
  exit.wall_ns = end.wall.count();
  exit.stopped_by_rule = result.judging.stop_requested;
  const std::filesystem::path path = std::filesystem::absolute(file);
  const storage::Location folder(path.parent_path());
  const Status status = folder.storage().replace(path.filename().string(), as_bytes(jobs::encode_exit(exit)));
  if (!status.ok()) emit(stderr, "trainwarden: warning: no exit record: {}\n", status.message());
}

int act(const RunOptions& options) {
  auto judging = choose_judging(options);
  if (!judging.ok()) return report_error(judging.status());
  const auto plan = make_plan(options, *judging);
  if (!plan.ok()) return report_error(plan.status());
  const auto earlier = runs_beside(plan->run);
  const auto result = run_watched(*plan, std::move(judging->beside));
  if (!result.ok()) {
    report_error(result.status());
    return result.status().code() == Code::kNotFound ? process::kExitNotFound : process::kExitNotExecutable;
  }
  if (!options.exit_record.empty()) write_exit_record(options.exit_record, *result);
  watch::RuleReport inside;
  if (!judging->places.inside.empty()) inside = report_of_inside(*plan, *result);
  write_asked_report(*plan, *result, judging->rule_ids);
  print_summary(options, *plan, *result, inside);
  const bool has_fired_later =
      judge_later_trainings(earlier, runs_beside(plan->run), judging->places.beside, options.rules.mute);
  if (result->run_appeared) emit(stderr, "trainwarden: next: {} show {}\n", typed_program(), typed_run(plan->run));
  if (result->mirror && result->run_appeared) finish_mirror(*result->mirror, plan->mirror);
  const int code = run_exit_code(*result, inside.any_fired() || has_fired_later);
  const bool is_programs_own = code == result->exit.shell_code();  // it was not stopped by a rule
  if (is_programs_own && options.exit_record.empty()) process::end_by_the_same_signal(result->exit);
  return code;
}

}  // namespace

void add_run(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<RunOptions>();
  RunOptions& o = *options;
  CLI::App& command =
      add_command(app, "run", "Start a training program under watch; its exit code is handed on", options, action, act);
  command.group(kTrainGroup);
  add_words(command, "PROGRAM", o.command, "The program and its arguments, after --")->required()->type_name("");
  add_name_option(command, o.name, "Name of the run (default: made from the time and the program)");
  add_runs_option(command, o.runs);
  add_capture_options(command, o.capture);
  add_label_options(command, o.labels);
  command.add_option("--attach", o.attach, "Watch a program that has no hook of its own (default: auto)")
      ->type_name("HOW")
      ->check(CLI::IsMember({"auto", "preload", "off"}));
  add_output_options(command, o.output);
  add_sample_intervals(command, o.sample);
  add_profiler_config_option(command, o.profiler_config);
  command.add_flag("--no-sample", o.sample.off, "Do not sample the machine that the program runs on");
  add_rule_choice(command, o.rules);
  add_action_choice(command, o.actions);
  command.add_flag("--inside", o.inside,
                   "Rules that can judge inside the program do, before the optimizer steps; skip-step implies it");
  command.add_flag("--page", o.page, "Show the run on a page of the browser until the program ends; prints its link");
  command.add_option("--page-port", o.page_port, "The same, on this port")->type_name("N")->check(CLI::Range(0, 65535));
  command.add_option("--mirror", o.mirror, "Keep the run in a bucket too: s3://BUCKET/PREFIX")->type_name("ADDRESS");
  command
      .add_flag(
          "--mirror-requests", o.mirror_requests,
          "Let requests by its address there, as `stop s3://...`, reach the program: who may write into the bucket "
          "decides about it")
      ->needs("--mirror");
  command.add_flag("--resume", o.resume, "Go on with the run that has this name already, also when it has ended")
      ->needs("--name");
  command.add_flag("--tied", o.tied, "End the program when this process ends, in whatever way");
  command.add_option("--exit-record", o.exit_record, "Write how the program ended to a file, as JSON")
      ->type_name("FILE");
  set_examples(command, {"trainwarden run -- python train.py", "trainwarden run -- ./train --epochs 3",
                         "trainwarden run --budget 1% --include-collection gradients --save-interval 10 -- ./train",
                         "trainwarden run --rules default -- python train.py",
                         "trainwarden run --rules default --on-fire skip-step -- python train.py",
                         "trainwarden run --name first --rule VanishingGradient --on-fire stop -- ./train",
                         "trainwarden run --rules default --actions actions.toml -- python train.py",
                         "trainwarden run --page --rules default -- python train.py",
                         "trainwarden run --label lr=0.1 --label data=v2 -- python train.py",
                         "trainwarden run --log train.log -- python train.py",
                         "trainwarden run --log train.log --metrics metrics.toml -- python train.py",
                         "trainwarden run --tensorboard board -- python train.py",
                         "trainwarden run --mirror s3://bucket/runs/ -- python train.py",
                         "trainwarden run --config capture.json -- python3 train.py",
                         "trainwarden run --profiler-config profilerconfig.json -- python3 train.py"});
}

}  // namespace trainwarden::cli
