// ExperimentStore: the folder of experiments.
//
//   experiments/NAME.json          an experiment; written once
//   trials/NAME.json               a trial of one; written once
//   components/NAME/component.json a component: the first that was said of it; written once
//   components/NAME/*.json         what else was said of it: a record each, which only its writer replaces
//   environments/HASH.txt          the packages of a Python; written once
//   associations/KEY.json          how two things belong together; written once (lineage.h)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/experiments/entities.h"

namespace trainwarden::experiments {

inline constexpr const char* kExperimentsFolder = "experiments";
inline constexpr const char* kTrialsFolder = "trials";
inline constexpr const char* kComponentsFolder = "components";
inline constexpr const char* kAssociationsFolder = "associations";
inline constexpr std::size_t kMaxRecords = 1000;  // of a component; what comes after, by name, is not read

// A component as all its records together have it.
struct Component {
  std::string name;
  std::int64_t created_unix_ns = 0;
  ComponentRecord now;              // what is over a limit in all records together is left out, the last by name
  std::vector<std::string> unread;  // why records could not be read, one each
};

// Cheap to copy. All methods may be called from many threads and processes at once. Codes beside those of the storage:
// kInvalidArgument for a name or a value that is none.
class ExperimentStore {
 public:
  explicit ExperimentStore(storage::Location folder) : folder_(std::move(folder)) {}
  const storage::Location& folder() const { return folder_; }

  // kAlreadyExists when there is one.
  Status create_experiment(const ExperimentInfo& experiment);
  // kNotFound names the nearest.
  Result<ExperimentInfo> read_experiment(const std::string& name) const;
  // Makes it when it is not there. kNotFound when there is no such experiment, kFailedPrecondition when the trial is
  // another experiment's.
  Status ensure_trial(const TrialInfo& trial);
  Result<TrialInfo> read_trial(const std::string& name) const;

  // Its trials must be there, those of the record too.
  Status create_component(const std::string& name, const ComponentRecord& record);  // kAlreadyExists
  // One more record of a component, which is made when it is not there. kInvalidArgument when it would then have more
  // than a component may.
  Status add_record(const std::string& name, const ComponentRecord& record);
  // The same under a name of its own, once: kAlreadyExists when somebody has said it.
  Status add_record_once(const std::string& name, const std::string& file, const ComponentRecord& record);
  // The same in place of what was said under this name before, by the same writer.
  Status replace_record(const std::string& name, const std::string& file, const ComponentRecord& record);
  // The list of packages of a Python, by its content: written once. As an artifact.
  Result<ArtifactUse> keep_environment(const std::string& packages);
  Result<Component> read_component(const std::string& name) const;  // kNotFound names the nearest

 private:
  Status put(const std::string& path, const std::string& text);
  Result<std::vector<std::string>> record_files(const std::string& name) const;
  std::vector<ComponentRecord> read_records(Component& component, const std::vector<std::string>& files) const;
  Status check_trials(const ComponentRecord& record) const;
  Status not_found(const char* kind, const char* folder, const std::string& name) const;

  storage::Location folder_;
};

// The trial of jobs and records that name none, as SageMaker's SDK calls it.
std::string default_trial(const std::string& experiment);

}  // namespace trainwarden::experiments
