// A study as Optuna has kept it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "tune/search/history.h"
#include "tune/search/space.h"

namespace trainwarden::tune {

inline constexpr std::size_t kMaxOptunaStudies = 10'000;
inline constexpr std::size_t kMaxOptunaTrials = 100'000;
inline constexpr std::size_t kMaxOptunaObjectives = 50;
inline constexpr std::size_t kMaxOptunaRows = 5'000'000;  // of parameters, values and steps together
inline constexpr std::uint64_t kMaxOptunaBytes = std::uint64_t{4} << 30;
inline constexpr std::size_t kMaxOptunaTextBytes = std::size_t{1} << 20;

// A parameter as a trial has asked for it, and its value in that.
struct OptunaParameter {
  Hyperparameter range;
  double value = 0;  // of a choice its index
};

struct OptunaTrial {
  std::int64_t number = 0;
  TrialState state = TrialState::kWaiting;
  std::map<std::string, OptunaParameter, std::less<>> parameters;
  std::vector<double> values;                       // of each objective; NaN: none
  std::map<std::int64_t, double> steps;             // of the first objective; may be no number
  std::map<std::string, std::string> attributes;    // of its user, by name: a JSON document each
  std::int64_t start_unix_ns = 0, end_unix_ns = 0;  // 0: not known
};

struct OptunaStudy {
  std::string name;
  std::vector<Goal> goals;                // of each objective
  std::vector<std::string> metric_names;  // of each objective; empty: nobody has named them
  std::vector<OptunaTrial> trials;        // by their numbers, from 0
};

// Of a storage of Optuna 2.4 to 5: its database (RDBStorage) of SQLite, or its journal (JournalStorage in a file). The
// file is opened for reading. kNotFound, kPermissionDenied; kInvalidArgument: it is neither; kDataLoss: it is damaged,
// or has what no Optuna writes; kResourceExhausted: it is beyond the limits above.
Result<std::vector<std::string>> optuna_study_names(const std::filesystem::path& file);
// kNotFound: there is none of this name.
Result<OptunaStudy> read_optuna_study(const std::filesystem::path& file, const std::string& name);

// Is everything there that must be, and no more than may be? For the readers.
Status check_optuna_study(const OptunaStudy& study);

}  // namespace trainwarden::tune
