#include "ui/cli/running/job_trials.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/job_variables.h"
#include "tune/study/repeats.h"
#include "tune/trial_runs/run_series.h"
#include "ui/cli/options/job_choice.h"
#include "work/experiments/job_fingerprint.h"
#include "work/jobs/spec_change.h"

namespace trainwarden::cli {
namespace {

constexpr std::size_t kMaxNames = 12;  // of metrics, in a message
constexpr std::chrono::nanoseconds kFingerprintAge = std::chrono::seconds(3);

document::DocumentValue document_value(const tune::TriedValue& value) {
  document::DocumentValue made;
  if (const auto* text = std::get_if<std::string>(&value)) {
    made.kind = document::DocumentValue::Kind::kText;
    made.text = *text;
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    made.kind = document::DocumentValue::Kind::kBoolean;
    made.boolean = *flag;
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    made.kind = document::DocumentValue::Kind::kInteger;
    made.integer = *whole;
    made.number = static_cast<double>(*whole);
  } else {
    made.kind = document::DocumentValue::Kind::kNumber;
    made.number = std::get<double>(value);
  }
  return made;
}

// A training that has gone to NaN, or far beyond where it began, comes to nothing whatever it costs.
std::string hopeless(const diagnosis::Diagnosis& diagnosis) {
  if (!diagnosis.symptoms.has_diverged) return {};
  const diagnosis::CauseFinding* const first = diagnosis.first();
  return first != nullptr ? fmt::format("diagnosis: {}", first->statement) : "its loss has diverged";
}

// A folder of checkpoints that all trials have in common would let each go on from another one's weights.
void check_checkpoints(CheckedJob& job, bool pauses) {
  const jobs::JobSpec& spec = job.spec;
  if (!spec.checkpoints.path.empty()) {
    job.mistakes.add(
        spec.place_of("checkpoints"),
        fmt::format(
            "checkpoints: all trials of a study would have this folder; leave it out: each has one of its own, {}",
            variable::kCheckpointDir));
  }
  if (!pauses || spec.resources.preemptible || spec.limits.retries > 0) return;
  job.mistakes.add(spec.place,
                   "the study's pruner has pause=true, and this job does not say that it goes on from checkpoints: add "
                   "preemptible = true once its program does, or leave pause=true out");
}

}  // namespace

JobTrials::JobTrials(JobTrialsOptions options, CheckedJob job)
    : options_(std::move(options)),
      text_(std::move(job.text)),
      spec_(std::move(job.spec)),
      folder_(std::move(job.folder)) {}

Result<JobTrials> JobTrials::make(JobTrialsOptions options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(CheckedJob job, check_job(options.spec));
  if (!job.spec.array.empty()) {
    job.mistakes.add(job.spec.place_of("array"), "array: a study makes one job of each trial; leave it out");
  }
  check_checkpoints(job, options.pauses);
  JobBackends backends;
  TRAINWARDEN_RETURN_IF_ERROR(check_for_submission(job, backends));
  return JobTrials(std::move(options), std::move(job));
}

Status JobTrials::start(const std::string& job, const tune::TriedValues& values) {
  jobs::SpecChange change;
  for (const auto& [name, value] : values) change.hyperparameters[name] = document_value(value);
  TRAINWARDEN_ASSIGN_OR_RETURN(std::string text, jobs::changed_spec(text_, change));
  TRAINWARDEN_ASSIGN_OR_RETURN(CheckedJob checked, check_job_text(std::move(text), options_.spec, spec_.backend));
  checked.warnings.clear();  // which were told of the study
  TRAINWARDEN_RETURN_IF_ERROR(check_for_submission(checked, backends_));
  SubmitPlan plan;
  plan.spec = options_.spec;
  plan.name = job;
  plan.jobs = options_.jobs;
  plan.runs = options_.runs;
  return submit_job(checked, plan, backends_).status();
}

Result<tune::TrialLook> JobTrials::look(const std::string& job) {
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobRecord record, jobs::JobRecord::open(jobs_folder(options_.jobs), job));
  backends_.keep(record);
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, backends_.settle(record));
  tune::TrialLook look;
  read_run(job, record, look);
  if (jobs::is_terminal(now.status)) {
    read_end(record, now, look);
    look.was_stopped = now.status == jobs::JobPhase::kStopped;
    followed_.erase(job);
  }
  return look;
}

// A run that is not there yet, or cannot be read now, has no series.
void JobTrials::read_run(const std::string& job, const jobs::JobRecord& record, tune::TrialLook& look) {
  Followed& followed = followed_[job];
  if (followed.trial == nullptr) {
    auto trial = Trial::open(record.order().run);
    if (!trial.ok()) return;
    followed.trial = *std::move(trial);
  } else if (!followed.trial->refresh().ok()) {
    return;
  }
  for (const std::string& metric : options_.metrics) {
    auto series = tune::series_of_run(*followed.trial, metric);
    if (!series.empty()) look.series[metric] = std::move(series);
  }
  if (look.series.size() < options_.metrics.size()) {
    look.known = tune::metric_names_of_run(*followed.trial, kMaxNames);
  }
  if (options_.ends_by_verdict) look.verdict = hopeless(followed.diagnosis.now(*followed.trial));
}

void JobTrials::read_end(const jobs::JobRecord& record, const jobs::Transition& now, tune::TrialLook& look) const {
  tune::TrialEnd end;
  if (const auto transitions = record.transitions(); transitions.ok()) {
    end.seconds = static_cast<double>(jobs::run_ns_of(*transitions, now.unix_ns)) / 1e9;
    if (!look.series.contains(kTrainingTime)) end.metrics[kTrainingTime] = *end.seconds;
  }
  std::erase_if(end.metrics, [&](const auto& metric) {
    return std::find(options_.metrics.begin(), options_.metrics.end(), metric.first) == options_.metrics.end();
  });
  if (now.status != jobs::JobPhase::kCompleted) {
    end.state = tune::TrialState::kFailed;
    end.why = now.message.empty() ? std::string(jobs::name(now.status)) : now.message;
    if (!look.verdict.empty()) end.why = look.verdict + "; " + end.why;
  }
  look.end = std::move(end);
}

std::string JobTrials::fingerprint() {
  const std::int64_t now_ns = system_clock().steady_ns();
  if (fingerprint_.empty() || now_ns - fingerprint_steady_ns_ > kFingerprintAge.count()) {
    fingerprint_ = experiments::fingerprint_of_job(spec_, text_, folder_).value_or(tune::kUnknownFingerprint);
    fingerprint_steady_ns_ = now_ns;
  }
  return fingerprint_;
}

Status JobTrials::stop(const std::string& job, const std::string& why) {
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobRecord record, jobs::JobRecord::open(jobs_folder(options_.jobs), job));
  return stop_job(record, why).status();
}

Status JobTrials::go_on(const std::string& job, const std::string& why) {
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobRecord record, jobs::JobRecord::open(jobs_folder(options_.jobs), job));
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, backends_.settle(record));
  if (!jobs::is_terminal(now.status)) return {};  // somebody has resumed it already
  return resume_job(record, why).status();
}

}  // namespace trainwarden::cli
