// StudySpec: what is searched, as its user writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/format/json.h"
#include "trainwarden/status.h"
#include "tune/search/history.h"
#include "work/document/document.h"
#include "work/document/mistakes.h"

namespace trainwarden::tune {

inline constexpr std::int64_t kMaxTrials = 1'000'000;
inline constexpr std::int64_t kMaxParallel = 1000;
inline constexpr std::size_t kMaxStudyMetrics = 50;
inline constexpr std::size_t kMaxOrigins = 16;         // studies that one starts from
inline constexpr std::size_t kMaxStudyNameBytes = 52;  // its jobs are named "NAME-1000000"

// When a study ends. What is not set does not end it.
struct StudyBudget {
  std::optional<std::int64_t> trials;
  std::optional<double> wall_seconds;      // since it was made
  std::optional<double> trial_seconds;     // of all trials together
  std::optional<std::int64_t> stagnation;  // trials that ended one after the other without a better one
  bool at_target = true;                   // once a trial meets the target
  std::optional<double> regret;  // once no more than this is left to gain (regret_bound.h), in the metric's unit
};

// What becomes of values that have been tried already, with the same code and data.
enum class Repeats : std::uint8_t {
  kAnswer,  // the results that are known are theirs, and nothing runs
  kRun,     // they run again: results are noisy
};

struct StudySpec {
  std::string name;
  Space space;        // as it was written; with what trials have asked for: StudyState::history()
  bool open = false;  // trials may ask for parameters that it does not have
  std::vector<StudyMetric> metrics;
  std::string sampler = "auto";
  std::string pruner = "none";
  bool ends_by_verdict = true;  // a trial that its diagnosis calls hopeless ends at once
  std::uint64_t seed = 0;
  StudyBudget budget;
  Repeats repeats = Repeats::kAnswer;
  std::vector<std::string> from;  // studies of the same folder whose trials it begins with (inheritance.h)
  std::int64_t parallel = 1;      // trials at once
  std::string job;                // a file: what a trial runs; empty: who asks runs it
  std::string place;              // the file that it was read from

  // Is there anything that a trial can meet or miss: a threshold of an objective, or a constraint?
  bool has_target() const;
};

// All mistakes at once; nothing when there are any. Fields: docs/reference/tune.md. Parameters and metrics are in an
// order of their own, whatever that of the document.
std::optional<StudySpec> read_study_spec(const document::DocumentValue& top, document::Mistakes& mistakes);
// read_study_spec() reads the same from it.
format::OrderedJson json_of(const StudySpec& spec);

// A parameter alone: its name and its table, as `parameters` has them. Mistakes that show only beside others are told
// by Space.
Hyperparameter read_hyperparameter(const document::DocumentField& field, document::Mistakes& mistakes);
format::OrderedJson json_of(const Hyperparameter& parameter);  // without its name

// A value as it is written in JSON, and back: true, 3, 0.5, "relu". A number that is whole is an integer.
format::OrderedJson json_of(const TriedValue& value);
std::optional<TriedValue> tried_value_of(const document::DocumentValue& value);

bool is_study_name(std::string_view name);

}  // namespace trainwarden::tune
