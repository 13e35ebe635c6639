// StudyEvent: one thing that happened in a study. Its state is made of them alone, in their order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/format/json.h"
#include "trainwarden/status.h"
#include "tune/search/history.h"
#include "tune/search/space.h"

namespace trainwarden::tune {

enum class StudyEventKind : std::uint8_t {
  kSuggested,  // a trial is there: values, sampler, notes
  kStarted,    // a worker has it: worker, lease, job, fingerprint
  kBeat,       // its worker lives: lease
  kReported,   // intermediate metrics: step, metrics
  kEnded,      // state, by_verdict, metrics, why, seconds; of a repeat same_as, origin, fingerprint
  kClosed,     // the study takes no more trials: why
  kReopened,   // it does again: why
  // A trial of another study that this one starts from, before any of its own: origin, trial (its number there),
  // values, state, by_verdict, metrics, step (of a pruned one: up to which they go), fingerprint, has_more
  kInherited,
  kPaused,    // its worker lets it stand with a checkpoint: why
  kPromoted,  // it has passed a rung, and goes on where it was paused: step, worker, why
  kExtended,  // a trial asked for a parameter: it, and its value among the values
};

inline constexpr const char* kNamedByUser = "user";  // StudyEvent::sampler of values that somebody named

struct StudyEvent {
  StudyEventKind kind = StudyEventKind::kSuggested;
  std::int64_t unix_ns = 0;
  std::int64_t trial = -1;  // of all but kClosed and kReopened; of kInherited its number in the other study

  TriedValues values;  // by parameter
  std::optional<Hyperparameter> parameter;
  std::string sampler;  // that suggested them; "user": somebody named them
  std::map<std::string, double> notes;
  std::string worker;              // who has it
  std::int64_t lease_unix_ns = 0;  // it is lost when nothing is heard until then; 0: never
  std::string job;                 // by which it runs
  std::int64_t step = 0;
  std::map<std::string, double> metrics;          // by name
  TrialState state = TrialState::kComplete;       // kComplete, kPruned or kFailed
  bool by_verdict = false;                        // StudyTrial::ended_by_verdict
  std::string fingerprint;                        // of the code and data that it runs with; empty: nobody said
  std::int64_t same_as = -1;                      // it did not run: the trial whose results it has; -1: it ran
  std::string origin;                             // the study of same_as, or of what is inherited; empty: this one
  bool has_more = false;                          // more that is inherited follows
  std::string why;                                // for people
  double seconds = 0;                             // that it took
  std::vector<std::string> unused;                // optional parameters that it had and never asked for
  std::map<std::string, std::string> attributes;  // what its program keeps with it, by name: a JSON document each
};

format::OrderedJson json_of(const StudyEvent& event);
// kDataLoss when it is none.
Result<StudyEvent> study_event_of(const format::Json& json);

// As JSON of an object; a text that is no JSON document is one itself.
format::OrderedJson attributes_json(const std::map<std::string, std::string>& attributes);

std::string_view name(TrialState state);  // "complete"

}  // namespace trainwarden::tune
