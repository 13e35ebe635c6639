// StudyState: where a study stands, as a fold of its events.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tune/search/history.h"
#include "tune/study/study_event.h"
#include "tune/study/study_spec.h"

namespace trainwarden::tune {

// What is known of a trial beside what a search needs.
struct TrialRecord {
  std::string sampler;
  std::string worker, job;
  std::int64_t suggested_unix_ns = 0, started_unix_ns = 0, ended_unix_ns = 0;  // 0: not yet
  std::int64_t lease_unix_ns = 0;                                              // 0: it is never lost
  int attempts = 0;                                                            // how often it was started
  std::string why;                                                             // it ended so, or is paused
  double seconds = 0;
  std::string fingerprint;                        // of its code and data; empty: nobody said
  std::int64_t same_as = -1;                      // the trial whose results it has; -1: it ran
  std::string origin;                             // the study of that one; empty: this one
  TriedValues wished;                             // somebody named them before the study had these parameters
  std::map<std::string, std::string> attributes;  // StudyEvent::attributes
};

// A trial of another study that this one starts from. Its number is below 0 (StudyState::searched()).
struct InheritedTrial {
  std::string study;
  std::int64_t number = 0;  // there
  std::string fingerprint;
  StudyTrial trial;
};

// One thread at a time.
class StudyState {
 public:
  explicit StudyState(const StudySpec& spec);

  // kFailedPrecondition when it cannot follow: a trial that there is not or that has ended, values that the space does
  // not have, a metric of another name, a step that was reported before with other values. Nothing has changed then.
  Status apply(const StudyEvent& event);
  // Would it be taken?
  Status check(const StudyEvent& event) const;

  const History& history() const { return history_; }
  // What samplers are to know: before the trials of this study those that it has inherited, which no other count has.
  History searched() const;
  const std::vector<InheritedTrial>& inherited() const { return inherited_; }
  bool has_inherited_all() const { return has_inherited_all_; }  // false also where there is nothing to inherit
  const TrialRecord& record(std::size_t trial) const { return records_[trial]; }
  const std::optional<std::string>& closed() const { return closed_; }  // why
  std::int64_t last_unix_ns() const { return last_unix_ns_; }
  std::size_t count(TrialState state) const;
  double trial_seconds() const { return trial_seconds_; }  // of all that have ended
  // Trials that ended since the last one that was better than all before it.
  std::int64_t trials_without_gain() const { return without_gain_; }
  // Running trials whose lease has run out.
  std::vector<std::size_t> lost(std::int64_t now_unix_ns) const;

 private:
  Status check_trial(const StudyEvent& event) const;
  Status check_metrics(const StudyEvent& event) const;
  Status check_inherited(const StudyEvent& event) const;
  void inherit(const StudyEvent& event);
  Result<Point> point_of(const TriedValues& values) const;
  Status check_extension(const StudyEvent& event) const;
  void extend(const StudyEvent& event);
  void suggest(const StudyEvent& event);
  void report(const StudyEvent& event);
  void pause(const StudyEvent& event);
  void promote(const StudyEvent& event);
  void end(const StudyEvent& event);
  bool enter_front(std::size_t trial);  // false: another one is as good

  History history_;
  bool open_;
  std::vector<TrialRecord> records_;
  std::vector<InheritedTrial> inherited_;
  bool has_inherited_all_ = false;
  std::vector<std::size_t> front_;  // feasible trials that none is as good as
  std::optional<std::string> closed_;
  std::int64_t last_unix_ns_ = 0;
  double trial_seconds_ = 0;
  std::int64_t without_gain_ = 0;
};

// Has a trial met the target of the study: all constraints, and the thresholds of the objectives that have one?
bool meets_target(const History& history, const StudyTrial& trial);
// The reason to end for which this study should take no further trial now; none: it goes on.
std::optional<std::string> end_of_budget(const StudySpec& spec, const StudyState& state, std::int64_t made_unix_ns,
                                         std::int64_t now_unix_ns);
// The same for its paused trials: these go on when all trials have been made.
std::optional<std::string> end_of_promotions(const StudySpec& spec, const StudyState& state, std::int64_t made_unix_ns,
                                             std::int64_t now_unix_ns);

}  // namespace trainwarden::tune
