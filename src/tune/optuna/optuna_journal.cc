#include "tune/optuna/optuna_journal.h"

#include <fstream>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/json_number.h"
#include "tune/optuna/distribution.h"
#include "tune/optuna/python_json.h"
#include "tune/optuna/python_time.h"

namespace trainwarden::tune {
namespace {

using format::Json;

constexpr std::size_t kMaxLineBytes = 16 * kMaxOptunaTextBytes;

enum Operation : std::int64_t {
  kCreateStudy = 0,
  kDeleteStudy = 1,
  kSetStudySystemAttribute = 3,
  kCreateTrial = 4,
  kSetTrialParameter = 5,
  kSetTrialState = 6,
  kSetTrialStep = 7,
  kSetTrialUserAttribute = 8,
};

constexpr TrialState kStatesByNumber[] = {TrialState::kRunning, TrialState::kComplete, TrialState::kPruned,
                                          TrialState::kFailed, TrialState::kWaiting};

// A number, or a text for what is not finite; none: null, or not there.
Result<std::optional<double>> number_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::optional<double>();
  TRAINWARDEN_ASSIGN_OR_RETURN(const double number, format::number_field(object, key));
  return std::optional(number);
}

Result<std::int64_t> time_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return 0;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, format::string_field(object, key));
  return python_local_time(text);
}

// A member that is an object, and is there; null: it is not.
const Json* object_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? &*found : nullptr;
}

// All studies of a journal, as its lines make them.
class JournalFold {
 public:
  Status apply(const Json& line) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t code, format::int_field(line, "op_code"));
    switch (code) {
      case kCreateStudy: return create_study(line);
      case kDeleteStudy: return delete_study(line);
      case kSetStudySystemAttribute: return name_metrics(line);
      case kCreateTrial: return create_trial(line);
      case kSetTrialParameter: return set_parameter(line);
      case kSetTrialState: return set_state(line);
      case kSetTrialStep: return set_step(line);
      case kSetTrialUserAttribute: return set_attributes(line, "user_attr");
      default: return {};  // attributes that nobody asks for
    }
  }

  // Nullopt: it was deleted.
  std::vector<std::optional<OptunaStudy>>& studies() { return studies_; }

 private:
  struct Place {
    std::size_t study, trial;
  };

  Status create_study(const Json& line) {
    OptunaStudy study;
    TRAINWARDEN_ASSIGN_OR_RETURN(study.name, format::string_field(line, "study_name"));
    TRAINWARDEN_ASSIGN_OR_RETURN(const Json* const directions, format::array_field(line, "directions"));
    for (const Json& each : *directions) {
      const bool is_known = each.is_number_integer() && (each == 1 || each == 2);
      if (!is_known) return Status(Code::kDataLoss, "directions: expected 1 or 2, minimize or maximize");
      study.goals.push_back(each == 2 ? Goal::kMaximize : Goal::kMinimize);
    }
    for (const auto& other : studies_) {
      if (other && other->name == study.name) return {};  // Optuna leaves this line out too
    }
    if (studies_.size() >= kMaxOptunaStudies) {
      return Status(Code::kResourceExhausted, fmt::format("expected at most {} studies", kMaxOptunaStudies));
    }
    studies_.emplace_back(std::move(study));
    return {};
  }

  Status delete_study(const Json& line) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t id, format::int_field(line, "study_id", 0));
    if (static_cast<std::size_t>(id) < studies_.size()) studies_[static_cast<std::size_t>(id)].reset();
    return {};
  }

  Status name_metrics(const Json& line) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t id, format::int_field(line, "study_id", 0));
    const Json* const attributes = object_at(line, "system_attr");
    const bool is_ours = attributes != nullptr && attributes->contains("study:metric_names");
    if (!is_ours || static_cast<std::size_t>(id) >= studies_.size() || !studies_[static_cast<std::size_t>(id)])
      return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(studies_[static_cast<std::size_t>(id)]->metric_names,
                                 format::strings_field(*attributes, "study:metric_names"));
    return {};
  }

  Status create_trial(const Json& line) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t id, format::int_field(line, "study_id", 0));
    const auto study = static_cast<std::size_t>(id);
    if (study >= studies_.size()) return Status(Code::kDataLoss, fmt::format("there is no study {}", id));
    if (places_.size() >= kMaxOptunaTrials) {
      return Status(Code::kResourceExhausted, fmt::format("expected at most {} trials", kMaxOptunaTrials));
    }
    if (!studies_[study]) return {};  // it was deleted meanwhile
    OptunaTrial trial{.number = static_cast<std::int64_t>(studies_[study]->trials.size()),
                      .state = TrialState::kRunning};
    trial.values.assign(studies_[study]->goals.size(), std::numeric_limits<double>::quiet_NaN());
    TRAINWARDEN_RETURN_IF_ERROR(set_state_of(trial, line));
    TRAINWARDEN_RETURN_IF_ERROR(set_whole(trial, line));
    places_.push_back({study, studies_[study]->trials.size()});
    studies_[study]->trials.push_back(std::move(trial));
    return {};
  }

  // Of a trial that was added as a whole.
  Status set_whole(OptunaTrial& trial, const Json& line) {
    const Json* const distributions = object_at(line, "distributions");
    const Json* const values = object_at(line, "params");
    if (distributions != nullptr && values != nullptr) {
      for (const auto& [name, unused] : values->items()) {
        TRAINWARDEN_ASSIGN_OR_RETURN(const double value, format::number_field(*values, name.c_str()));
        TRAINWARDEN_ASSIGN_OR_RETURN(const std::string range, format::string_field(*distributions, name.c_str()));
        TRAINWARDEN_RETURN_IF_ERROR(add_parameter(trial, name, value, range));
      }
    }
    if (const Json* const steps = object_at(line, "intermediate_values")) {
      for (const auto& [step, unused] : steps->items()) {
        const auto number = parse_int(step);
        if (!number) return Status(Code::kDataLoss, fmt::format("no step is {}", printable(step)));
        TRAINWARDEN_ASSIGN_OR_RETURN(trial.steps[*number], format::number_field(*steps, step.c_str()));
      }
    }
    return set_attributes_of(trial, object_at(line, "user_attrs"));
  }

  Status set_parameter(const Json& line) {
    TRAINWARDEN_ASSIGN_OR_RETURN(OptunaTrial* const trial, trial_of(line));
    if (trial == nullptr) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string name, format::string_field(line, "param_name"));
    TRAINWARDEN_ASSIGN_OR_RETURN(const double value, format::number_field(line, "param_value_internal"));
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string range, format::string_field(line, "distribution"));
    return add_parameter(*trial, name, value, range).with_context(fmt::format("trial {}", trial->number));
  }

  Status set_state(const Json& line) {
    TRAINWARDEN_ASSIGN_OR_RETURN(OptunaTrial* const trial, trial_of(line));
    return trial == nullptr ? Status() : set_state_of(*trial, line);
  }

  static Status set_state_of(OptunaTrial& trial, const Json& line) {
    if (line.contains("state")) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t state, format::int_field(line, "state", 0, 4));
      trial.state = kStatesByNumber[state];
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<double> value, number_at(line, "value"));
    if (value && !trial.values.empty()) trial.values[0] = *value;
    if (line.contains("values") && line["values"].is_array()) {
      if (line["values"].size() != trial.values.size()) {
        return Status(Code::kDataLoss,
                      fmt::format("values: expected {}, found {}", trial.values.size(), line["values"].size()));
      }
      for (std::size_t i = 0; i < trial.values.size(); ++i) {
        const Json one = {{"value", line["values"][i]}};
        TRAINWARDEN_ASSIGN_OR_RETURN(trial.values[i], format::number_field(one, "value"));
      }
    }
    for (const auto& [key, time] :
         {std::pair("datetime_start", &trial.start_unix_ns), std::pair("datetime_complete", &trial.end_unix_ns)}) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t said, time_at(line, key));
      if (said > 0) *time = said;
    }
    return {};
  }

  Status set_step(const Json& line) {
    TRAINWARDEN_ASSIGN_OR_RETURN(OptunaTrial* const trial, trial_of(line));
    if (trial == nullptr) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t step, format::int_field(line, "step"));
    TRAINWARDEN_ASSIGN_OR_RETURN(trial->steps[step], format::number_field(line, "intermediate_value"));
    return {};
  }

  Status set_attributes(const Json& line, const char* key) {
    TRAINWARDEN_ASSIGN_OR_RETURN(OptunaTrial* const trial, trial_of(line));
    return trial == nullptr ? Status() : set_attributes_of(*trial, object_at(line, key));
  }

  static Status set_attributes_of(OptunaTrial& trial, const Json* attributes) {
    if (attributes == nullptr) return {};
    for (const auto& [name, value] : attributes->items()) {
      trial.attributes[name] = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    return {};
  }

  // Null: its study was deleted, or it is over and nothing can be changed.
  Result<OptunaTrial*> trial_of(const Json& line) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t id, format::int_field(line, "trial_id", 0));
    if (static_cast<std::size_t>(id) >= places_.size()) {
      return Status(Code::kDataLoss, fmt::format("there is no trial {}", id));
    }
    const Place& place = places_[static_cast<std::size_t>(id)];
    if (!studies_[place.study]) return nullptr;
    OptunaTrial& trial = studies_[place.study]->trials[place.trial];
    const bool is_over = trial.state != TrialState::kRunning && trial.state != TrialState::kWaiting;
    return is_over ? nullptr : &trial;
  }

  std::vector<std::optional<OptunaStudy>> studies_;
  std::vector<Place> places_;  // of trials, by their ids
};

Result<JournalFold> read_journal(const std::filesystem::path& file) {
  JournalFold fold;
  std::ifstream in(file, std::ios::binary);
  std::string line;
  for (std::size_t number = 1; std::getline(in, line) && !in.eof(); ++number) {
    const std::string where = fmt::format("{}, line {}", printable(file.string()), number);
    if (line.size() > kMaxLineBytes) {
      return Status(Code::kResourceExhausted, fmt::format("{}: expected at most {} bytes", where, kMaxLineBytes));
    }
    if (number > kMaxOptunaRows) {
      return Status(Code::kResourceExhausted, fmt::format("{}: expected at most {} lines", where, kMaxOptunaRows));
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, python_object(line, where));
    TRAINWARDEN_RETURN_IF_ERROR(fold.apply(json).with_context(where));
  }
  return fold;
}

}  // namespace

Result<std::vector<std::string>> names_in_optuna_journal(const std::filesystem::path& file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(JournalFold fold, read_journal(file));
  std::vector<std::string> names;
  for (const auto& study : fold.studies()) {
    if (study) names.push_back(study->name);
  }
  return names;
}

Result<OptunaStudy> read_optuna_journal(const std::filesystem::path& file, const std::string& name) {
  TRAINWARDEN_ASSIGN_OR_RETURN(JournalFold fold, read_journal(file));
  for (auto& study : fold.studies()) {
    if (study && study->name == name) return *std::move(study);
  }
  return Status(Code::kNotFound, fmt::format("there is no study \"{}\"", printable(name)));
}

}  // namespace trainwarden::tune
