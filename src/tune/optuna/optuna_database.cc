#include "tune/optuna/optuna_database.h"

#include <functional>
#include <limits>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "tune/optuna/distribution.h"
#include "tune/optuna/python_json.h"
#include "tune/optuna/python_time.h"
#include "work/catalogue/database.h"

namespace trainwarden::tune {
namespace {

using catalogue::Database;
using catalogue::Statement;

constexpr const char* kTables[] = {"studies",      "study_directions", "trials",
                                   "trial_params", "trial_values",     "trial_intermediate_values"};

Status odd(std::string text) {
  return Status(Code::kDataLoss, std::move(text));
}

Result<std::size_t> count_tables(Database& database, std::string_view name) {
  TRAINWARDEN_ASSIGN_OR_RETURN(
      Statement statement, database.prepare("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?"));
  statement.bind(1, name);
  TRAINWARDEN_ASSIGN_OR_RETURN(const bool found, statement.step());
  return found ? static_cast<std::size_t>(statement.integer(0)) : 0;
}

// What is a view, and not a table, might compute for ever.
Result<Database> open_storage(const std::filesystem::path& file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Database database, Database::open_for_reading(file, kMaxOptunaTextBytes));
  for (const char* table : kTables) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t count, count_tables(database, table));
    if (count == 1) continue;
    return Status(
        Code::kInvalidArgument,
        fmt::format("{}: expected a database that Optuna 2.4 to 5 has made, found no table {}; `optuna storage "
                    "upgrade` brings an older one up to date",
                    printable(file.string()), table));
  }
  return database;
}

// The rows of one study.
class StudyRows {
 public:
  StudyRows(Database& database, OptunaStudy& study, std::int64_t id) : database_(database), study_(study), id_(id) {}

  Status read() {
    TRAINWARDEN_RETURN_IF_ERROR(read_goals());
    TRAINWARDEN_RETURN_IF_ERROR(read_metric_names());
    TRAINWARDEN_RETURN_IF_ERROR(read_trials());
    TRAINWARDEN_RETURN_IF_ERROR(read_parameters());
    TRAINWARDEN_RETURN_IF_ERROR(read_values());
    TRAINWARDEN_RETURN_IF_ERROR(read_steps());
    return read_attributes();
  }

 private:
  using TakeRow = std::function<Status(const Statement&)>;

  Status each_row(const std::string& sql, const TakeRow& take) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Statement statement, database_.prepare(sql));
    statement.bind(1, id_);
    while (true) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const bool found, statement.step());
      if (!found) return {};
      if (++rows_ > kMaxOptunaRows) {
        return Status(Code::kResourceExhausted, fmt::format("expected at most {} rows of a study", kMaxOptunaRows));
      }
      TRAINWARDEN_RETURN_IF_ERROR(take(statement));
    }
  }

  // Of trials of this study; column 0 is the trial.
  Status each_of_trials(std::string_view columns, std::string_view table,
                        const std::function<Status(OptunaTrial&, const Statement&)>& take) {
    const std::string sql = fmt::format(
        "SELECT {1}.trial_id, {0} FROM {1} JOIN trials ON trials.trial_id = {1}.trial_id WHERE trials.study_id = ?",
        columns, table);
    return each_row(sql, [&](const Statement& row) -> Status {
      const auto found = places_.find(row.integer(0));
      if (found == places_.end())
        return odd(fmt::format("{}: a row of trial {}, which there is not", table, row.integer(0)));
      OptunaTrial& trial = study_.trials[found->second];
      return take(trial, row).with_context(fmt::format("trial {}", trial.number));
    });
  }

  Result<bool> has_column(std::string_view table, std::string_view column) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Statement statement,
                                 database_.prepare("SELECT count(*) FROM pragma_table_info(?) WHERE name = ?"));
    statement.bind(1, table).bind(2, column);
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool found, statement.step());
    return found && statement.integer(0) > 0;
  }

  Status read_goals() {
    return each_row(
        "SELECT direction, objective FROM study_directions WHERE study_id = ? ORDER BY objective",
        [&](const Statement& row) -> Status {
          const std::string word = row.text(0);
          if (word != "MINIMIZE" && word != "MAXIMIZE") {
            return odd(fmt::format("expected the direction MINIMIZE or MAXIMIZE, found {}", printable(word)));
          }
          if (row.integer(1) != static_cast<std::int64_t>(study_.goals.size())) {
            return odd(fmt::format("expected objective {}, found {}", study_.goals.size(), row.integer(1)));
          }
          study_.goals.push_back(word == "MAXIMIZE" ? Goal::kMaximize : Goal::kMinimize);
          return {};
        });
  }

  Status read_metric_names() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t tables, count_tables(database_, "study_system_attributes"));
    if (tables == 0) return {};
    return each_row("SELECT value_json FROM study_system_attributes WHERE study_id = ? AND key = 'study:metric_names'",
                    [&](const Statement& row) -> Status {
                      TRAINWARDEN_ASSIGN_OR_RETURN(study_.metric_names, python_texts(row.text(0), "names of metrics"));
                      return {};
                    });
  }

  Status read_trials() {
    const std::map<std::string, TrialState, std::less<>> states = {{"RUNNING", TrialState::kRunning},
                                                                   {"COMPLETE", TrialState::kComplete},
                                                                   {"PRUNED", TrialState::kPruned},
                                                                   {"FAIL", TrialState::kFailed},
                                                                   {"WAITING", TrialState::kWaiting}};
    return each_row(
        "SELECT trial_id, number, state, datetime_start, datetime_complete FROM trials WHERE study_id = ? ORDER BY "
        "number",
        [&](const Statement& row) -> Status {
          if (study_.trials.size() >= kMaxOptunaTrials) {
            return Status(Code::kResourceExhausted, fmt::format("expected at most {} trials", kMaxOptunaTrials));
          }
          const auto state = states.find(row.text(2));
          if (state == states.end()) return odd(fmt::format("no trial of Optuna is {}", printable(row.text(2))));
          OptunaTrial& trial = study_.trials.emplace_back();
          trial.number = row.integer(1);
          trial.state = state->second;
          trial.values.assign(study_.goals.size(), std::numeric_limits<double>::quiet_NaN());
          places_[row.integer(0)] = study_.trials.size() - 1;
          if (!row.is_null(3)) {
            TRAINWARDEN_ASSIGN_OR_RETURN(trial.start_unix_ns, python_local_time(row.text(3)));
          }
          if (!row.is_null(4)) {
            TRAINWARDEN_ASSIGN_OR_RETURN(trial.end_unix_ns, python_local_time(row.text(4)));
          }
          return {};
        });
  }

  Status read_parameters() {
    return each_of_trials("param_name, param_value, distribution_json", "trial_params",
                          [&](OptunaTrial& trial, const Statement& row) {
                            return add_parameter(trial, row.text(1), row.number_or_nan(2), row.text(3));
                          });
  }

  Status read_values() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool has_type, has_column("trial_values", "value_type"));
    const std::string columns = has_type ? "objective, value, value_type" : "objective, value, NULL";
    return each_of_trials(columns, "trial_values", [&](OptunaTrial& trial, const Statement& row) -> Status {
      const std::int64_t objective = row.integer(1);
      if (objective < 0 || objective >= static_cast<std::int64_t>(trial.values.size())) {
        return odd(fmt::format("a value of objective {}, which there is not", objective));
      }
      trial.values[static_cast<std::size_t>(objective)] = typed_number(row, 2);
      return {};
    });
  }

  Status read_steps() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool has_type,
                                 has_column("trial_intermediate_values", "intermediate_value_type"));
    const std::string columns =
        fmt::format("step, intermediate_value, {}", has_type ? "intermediate_value_type" : "NULL");
    return each_of_trials(columns, "trial_intermediate_values",
                          [&](OptunaTrial& trial, const Statement& row) -> Status {
                            trial.steps[row.integer(1)] = typed_number(row, 2);
                            return {};
                          });
  }

  Status read_attributes() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t tables, count_tables(database_, "trial_user_attributes"));
    if (tables == 0) return {};
    return each_of_trials("key, value_json", "trial_user_attributes",
                          [&](OptunaTrial& trial, const Statement& row) -> Status {
                            trial.attributes[row.text(1)] = quoted_numbers(row.text(2));
                            return {};
                          });
  }

  // A number in this column and its type in the next one, which says what is not finite.
  static double typed_number(const Statement& row, int column) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const std::string type = row.text(column + 1);
    return type == "INF_POS" ? kInfinity : type == "INF_NEG" ? -kInfinity : row.number_or_nan(column);
  }

  Database& database_;
  OptunaStudy& study_;
  std::int64_t id_;
  std::unordered_map<std::int64_t, std::size_t> places_;  // of trials, by their ids
  std::size_t rows_ = 0;
};

}  // namespace

Result<std::vector<std::string>> names_in_optuna_database(const std::filesystem::path& file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Database database, open_storage(file));
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement statement,
                               database.prepare("SELECT study_name FROM studies ORDER BY study_id"));
  std::vector<std::string> names;
  while (true) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool found, statement.step());
    if (!found) return names;
    if (names.size() >= kMaxOptunaStudies) {
      return Status(Code::kResourceExhausted, fmt::format("expected at most {} studies", kMaxOptunaStudies));
    }
    names.push_back(statement.text(0));
  }
}

Result<OptunaStudy> read_optuna_database(const std::filesystem::path& file, const std::string& name) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Database database, open_storage(file));
  TRAINWARDEN_ASSIGN_OR_RETURN(Statement statement,
                               database.prepare("SELECT study_id FROM studies WHERE study_name = ?"));
  statement.bind(1, name);
  TRAINWARDEN_ASSIGN_OR_RETURN(const bool found, statement.step());
  if (!found) return Status(Code::kNotFound, fmt::format("there is no study \"{}\"", printable(name)));
  OptunaStudy study{.name = name, .goals = {}, .metric_names = {}, .trials = {}};
  TRAINWARDEN_RETURN_IF_ERROR(
      StudyRows(database, study, statement.integer(0)).read().with_context(printable(file.string())));
  return study;
}

}  // namespace trainwarden::tune
