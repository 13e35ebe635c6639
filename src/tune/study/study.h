// Study: a search as it lies in a folder: what is searched, and what came of it.
//
//   NAME/study.json   what is searched; written once
//   NAME/log/         what happened (study_log.h)
//   NAME/writer.lock  held while something is decided, so that many who ask at once wait in place of trying again
//
// Many processes may use one study at once. What a call says has happened was written before it returns.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "tune/search/pruner.h"
#include "tune/search/sampler.h"
#include "tune/study/study_log.h"
#include "tune/study/study_spec.h"
#include "tune/study/study_state.h"

namespace trainwarden::tune {

// How long somebody waits for others who decide.
inline constexpr std::chrono::seconds kMaxWait{300};

struct AskOptions {
  std::string worker;        // for people: who has it
  double lease_seconds = 0;  // heard of no more for so long, its trial is lost and given to others; 0: never
  std::string fingerprint;   // of the code and data that it will run with (repeats.h); empty: nobody says
  // Told of a trial that was answered from history, before another one is given.
  std::function<void(std::int64_t trial)> answered;
  // Names the job by which the trial will run; attempts count from 1. Empty: it runs by none.
  std::function<std::string(std::int64_t trial, int attempt)> job_of;
};

// Metrics of one step.
struct StepReport {
  std::int64_t step = 0;
  std::map<std::string, double> metrics;  // by name
};

struct TrialEnd {
  TrialState state = TrialState::kComplete;
  std::map<std::string, double> metrics;
  std::string why;
  std::optional<double> seconds;                       // that it took; none: since it was started
  bool by_verdict = false;                             // StudyTrial::ended_by_verdict
  std::vector<std::string> unused = {};                // optional parameters that it had and never asked for
  std::map<std::string, std::string> attributes = {};  // what its program keeps with it, by name: a JSON document each
};

// One thread at a time.
class Study {
 public:
  // kAlreadyExists when the name is taken, kInvalidArgument when it is no study's, or when the studies that it starts
  // from do not fit; kNotFound when one of them is not there. Their trials are copied into its log. Its parameters and
  // metrics have the order of read_study_spec().
  static Result<Study> create(const storage::Location& studies, StudySpec spec, const Clock& clock);
  // What create() would refuse of the studies that it starts from.
  static Status check_origins(const storage::Location& studies, const StudySpec& spec, const Clock& clock);
  // kNotFound when there is none, with the nearest name; kDataLoss when study.json is damaged.
  static Result<Study> open(const storage::Location& studies, const std::string& name, const Clock& clock);
  static Result<std::vector<std::string>> list(const storage::Location& studies);

  const StudySpec& spec() const { return spec_; }
  const StudyState& state() const { return state_; }  // as of the last call of any method
  std::int64_t made_unix_ns() const { return made_unix_ns_; }
  const storage::Location& place() const { return place_; }
  // Entries and events that could not be read, or could not follow what was before them.
  std::int64_t damaged() const { return log_.damaged() + refused_; }

  Status refresh();
  // The number of a trial that the caller is to run: one that was lost or waits, else a new one that the sampler
  // suggests. One whose values have been tried already, with the same fingerprint, ends at once with the metrics that
  // are known, where the study says so, and the next one is looked for. kResourceExhausted: the study ends, and says
  // why; kUnavailable: nothing now, results of running trials are needed first.
  Result<std::int64_t> ask(TrialSampler& sampler, const AskOptions& options);
  // A trial of values that somebody names. It waits until somebody asks.
  Result<std::int64_t> enqueue(const TriedValues& values);
  // Of an open study: what a running trial asks for, each by its name, kind and range alone, and the values that it
  // has. A known value that fits is kept; else it is the one that enqueue() named, or is drawn by the study's seed, the
  // trial and the name. kFailedPrecondition as StudyState::apply(), with both ranges where they do not go together.
  Result<TriedValues> extend(std::int64_t trial, const std::vector<Hyperparameter>& asked);
  // Intermediate metrics, steps rise; also a sign of life, for `lease_seconds` where that is not 0.
  Status report(std::int64_t trial, const std::vector<StepReport>& steps, double lease_seconds = 0);
  Status beat(std::int64_t trial, double lease_seconds);
  // A running trial stands until it is promoted. Its job is stopped by the caller, afterwards.
  Status pause(std::int64_t trial, const std::string& why);
  // A running or paused trial has passed this rung; it runs.
  Status promote(std::int64_t trial, std::int64_t rung, const std::string& worker, const std::string& why);
  // Why no paused trial goes on any more; none: they may.
  std::optional<std::string> end_of_promotions() const;
  // Said again in the same words, nothing happens. NaN of a metric that counts makes it failed, and says so.
  Status finish(std::int64_t trial, const TrialEnd& end);
  Status close(const std::string& why);
  Status reopen(const std::string& why);
  // One trial that was finished elsewhere.
  Result<std::int64_t> add_finished(const TriedValues& values, const TrialEnd& end);
  // What happened elsewhere, with its times; all of it or, where an event cannot follow, nothing and why.
  Status add_past(const std::vector<StudyEvent>& past);

 private:
  Study(storage::Location place, StudySpec spec, std::int64_t made_unix_ns, const Clock& clock);
  // Decides on what is there now, and writes that; decides again where another process was faster.
  using Decide = std::function<Status(std::vector<StudyEvent>&)>;
  Status transact(const Decide& decide);
  Result<std::unique_ptr<storage::Lock>> wait_for_lock();
  StudyEvent event(StudyEventKind kind, std::int64_t trial = -1) const;
  StudyEvent start_of(std::int64_t trial, const AskOptions& options) const;
  Result<std::vector<StudyEvent>> events_to_inherit(const storage::Location& studies) const;
  Status inherit(std::vector<StudyEvent> events);
  // What ends this trial without running; none: it runs.
  std::optional<StudyEvent> answer_of(std::int64_t trial, const Point& point, const AskOptions& options) const;
  // What ends the study with the end of this trial, when no more than its budget of regret is left to gain.
  std::optional<StudyEvent> close_by_regret(const StudyEvent& ended) const;
  std::optional<std::int64_t> trial_to_give_again() const;
  Result<Suggestion> suggest(TrialSampler& sampler, std::int64_t number) const;
  Result<Suggestion> suggestion_of(TrialSampler& sampler, const History& history, std::int64_t number) const;
  Status ask_once(TrialSampler& sampler, const AskOptions& options, std::int64_t& number, bool& is_answered);

  storage::Location place_;
  StudySpec spec_;
  std::int64_t made_unix_ns_ = 0;
  const Clock* clock_;
  StudyLog log_;
  StudyState state_;
  std::int64_t refused_ = 0;
};

}  // namespace trainwarden::tune
