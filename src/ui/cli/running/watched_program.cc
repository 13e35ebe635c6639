#include "ui/cli/running/watched_program.h"

#include <memory>
#include <utility>

#include "core/base/clock.h"
#include "core/process/descriptors.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/running/job_rule_notes.h"
#include "ui/cli/running/live_export.h"
#include "ui/cli/running/profiler_config_follower.h"
#include "ui/cli/running/run_page.h"

namespace trainwarden::cli {
namespace {

// What is seen of it; TensorBoard is shown the run from its start on, what it prints is read to its end, and of a job
// the rules get their logs.
class ProgramView final : public WatchView {
 public:
  ProgramView(const ProgramPlan& plan, std::unique_ptr<output::OutputMetrics> metrics)
      : WatchView(stderr, plan.chatter),
        board_folder_(plan.board.folder),
        mirror_plan_{.run = plan.run, .address = plan.mirror, .takes_requests = plan.mirror_takes_requests},
        metrics_(std::move(metrics)),
        sampler_plan_(plan.sampler),
        profiler_config_(plan.profiler_config) {
    if (!plan.job.empty()) rules_ = std::make_unique<JobRuleNotes>(plan.job);
  }

  void on_start(const std::filesystem::path& run, pid_t program) override {
    if (!board_folder_.empty()) board_ = std::make_unique<LiveExport>(run, board_folder_);
    if (!mirror_plan_.address.empty()) mirror_ = std::make_unique<RunMirror>(mirror_plan_, false);
    if (sampler_plan_) start_sampler(program);
    if (profiler_config_) follow_profiler_config(run);
  }

  void on_program_end(const process::ExitRecord& exit) override {
    const bool completed = exit.shell_code() == 0;
    config_follower_.reset();
    if (metrics_) metrics_result_ = metrics_->finish(completed);
    if (sampler_) sampled_ = sampler_->finish(completed);  // nothing reaches it but through the follower, which is gone
  }

  void on_event(const events::Event& event) override {
    if (rules_) rules_->take(event);
  }

  void on_progress(Trial& trial, const rules::Engine& engine) override {
    print_rules();
    WatchView::on_progress(trial, engine);
  }

  void on_end() override {
    print_rules();
    WatchView::on_end();
  }

  // When everything else is over.
  void note_no_run(const std::vector<std::string>& rule_ids) {
    if (!rules_) return;
    rules_->note_no_run(rule_ids, system_clock().unix_ns());
    print_rules();
  }

  std::optional<output::OutputResult> metrics() { return std::move(metrics_result_); }
  const std::optional<sampling::SamplerResult>& sampled() const { return sampled_; }
  std::unique_ptr<RunMirror> mirror() { return std::move(mirror_); }
  std::optional<Result<ExportReport>> board() { return board_ ? std::optional(board_->result()) : std::nullopt; }

 private:
  void start_sampler(pid_t program) {
    sampler_plan_->host.roots = [program] { return std::vector{program}; };
    sampler_.emplace(*sampler_plan_, profiler_config_ ? profiler_config_->typed : TypedIntervals());
    if (!profiler_config_ || !profiler_config_->known.disabled) sampler_->start();
  }

  void follow_profiler_config(const std::filesystem::path& run) {
    config_follower_.emplace(
        profiler_config_->file, run, profiler_config_->known, [this](const foreign::SmdebugProfilerConfig& now) {
          return sampler_ ? sampler_->follow(now) : std::string("the machine is not sampled: --no-sample was typed");
        });
  }

  void print_rules() {
    if (!rules_) return;
    for (const std::string& line : rules_->new_lines()) on_note(line);
  }

  const std::filesystem::path board_folder_;
  std::unique_ptr<LiveExport> board_;
  const MirrorPlan mirror_plan_;
  std::unique_ptr<RunMirror> mirror_;
  const std::unique_ptr<output::OutputMetrics> metrics_;
  std::optional<output::OutputResult> metrics_result_;
  std::unique_ptr<JobRuleNotes> rules_;  // null: it is no job's
  std::optional<sampling::SamplerPlan> sampler_plan_;
  std::optional<PacedSampler> sampler_;
  std::optional<sampling::SamplerResult> sampled_;
  std::optional<FollowedProfilerConfig> profiler_config_;
  std::optional<ProfilerConfigFollower> config_follower_;
};

// From before the program prints anything.
Result<std::unique_ptr<output::OutputMetrics>> follow_output(const ProgramPlan& plan) {
  if (!plan.output.empty()) {
    TRAINWARDEN_RETURN_IF_ERROR(process::open_log_file(plan.output.string()).status());
  }
  return output::OutputMetrics::start(*plan.metrics);
}

}  // namespace

int ProgramResult::combined_exit_code() const {
  const int own = exit.shell_code();
  const bool fired = judging.report.any_fired();
  return fired && (own == 0 || judging.stop_requested) ? kExitRuleFired : own;
}

Result<ProgramResult> run_watched(const ProgramPlan& plan, std::vector<rules::EngineRule> rules) {
  process::SignalRelay relay;  // before any thread
  std::unique_ptr<server::Server> page;
  if (plan.page_port) page = open_run_page(plan.run, *plan.page_port);
  std::unique_ptr<output::OutputMetrics> metrics;
  if (plan.metrics) {
    TRAINWARDEN_ASSIGN_OR_RETURN(metrics, follow_output(plan));
  }
  ProgramView view(plan, std::move(metrics));
  TRAINWARDEN_ASSIGN_OR_RETURN(launch::LaunchResult launched, launch::launch(plan, std::move(rules), view, relay));
  if (!launched.run_appeared) view.note_no_run(plan.rule_ids);
  ProgramResult result;
  static_cast<launch::LaunchResult&>(result) = std::move(launched);
  result.board = view.board();
  result.metrics = view.metrics();
  result.sampled = view.sampled();
  result.mirror = view.mirror();
  return result;
}

}  // namespace trainwarden::cli
