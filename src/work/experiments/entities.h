// Experiments, trials and components, and the records that say something of a component.
//
// An experiment has trials, and a trial has components: one execution of something, with what went in, what came out,
// its parameters and metrics. A component may belong to many trials. The words and limits are those of SageMaker's API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "trainwarden/status.h"
#include "work/experiments/metric_summary.h"

namespace trainwarden::experiments {

// In bytes, or in number of entries.
inline constexpr std::size_t kMaxEntityName = 120;
inline constexpr std::size_t kMaxDescription = 3072;
inline constexpr std::size_t kMaxMessage = 1024;
inline constexpr std::size_t kMaxParameters = 300;
inline constexpr std::size_t kMaxParameterText = 2500;
inline constexpr std::size_t kMaxArtifacts = 60;  // in, and as many out
inline constexpr std::size_t kMaxMediaType = 64;
inline constexpr std::size_t kMaxUri = 2048;
inline constexpr std::size_t kMaxEntityTags = 50;
inline constexpr std::size_t kMaxMetrics = 1000;  // ours
inline constexpr std::size_t kMaxKey = 256;       // of a parameter, metric, artifact or tag; ours
inline constexpr std::size_t kMaxTrials = 100;    // of one component; ours

// Letters and digits with hyphens between them, 120 at most.
bool is_entity_name(std::string_view name);
// kInvalidArgument when it is none; `kind` for the message: "experiment".
Status check_entity_name(std::string_view kind, std::string_view name);

struct ExperimentInfo {
  std::string name;
  std::string display_name;
  std::string description;
  std::int64_t created_unix_ns = 0;
  std::map<std::string, std::string> tags;
  friend bool operator==(const ExperimentInfo&, const ExperimentInfo&) = default;
};

struct TrialInfo {
  std::string name;
  std::string experiment;
  std::string display_name;
  std::int64_t created_unix_ns = 0;
  friend bool operator==(const TrialInfo&, const TrialInfo&) = default;
};

// What went into a component, or came out of it.
struct ArtifactUse {
  std::string uri;         // as it was given: a path, "file://...", "s3://...", "git:..."
  std::string media_type;  // "application/json"; empty: not known
  std::string type;        // "DataSet", "Model", "Checkpoint", "Code", "Environment", "Image"; free text
  std::string hash;        // "sha256:..." of its content; empty: not known, and `note` says why
  std::optional<std::uint64_t> bytes;
  std::string note;
  friend bool operator==(const ArtifactUse&, const ArtifactUse&) = default;
};

using ComponentValue = std::variant<double, std::string>;

// What somebody says of a component at one time. Empty fields say nothing.
struct ComponentRecord {
  std::int64_t unix_ns = 0;
  std::string display_name;
  std::string run_name;
  std::string source;  // the folder of its job
  std::string status;  // "InProgress", "Completed", "Failed", "Stopping", "Stopped"
  std::string message;
  std::optional<std::int64_t> start_unix_ns;
  std::optional<std::int64_t> end_unix_ns;
  std::map<std::string, ComponentValue> parameters;
  std::map<std::string, MetricSummary> metrics;
  std::map<std::string, ArtifactUse> inputs;
  std::map<std::string, ArtifactUse> outputs;
  std::map<std::string, std::string> tags;
  std::set<std::string> trials;
  friend bool operator==(const ComponentRecord&, const ComponentRecord&) = default;

  // What is said later takes the place of what was said before; metrics of both count together.
  void merge(const ComponentRecord& later);
  // Within the limits above? kInvalidArgument with the first that is not.
  Status check() const;
};

// JSON, one document each. Decoding: kDataLoss when it is none or not within the limits, kUnimplemented for a newer
// version; `what` names the text in the message.
std::string encode(const ExperimentInfo& experiment);
std::string encode(const TrialInfo& trial);
std::string encode(const ComponentRecord& record);
Result<ExperimentInfo> decode_experiment(std::string_view text, const std::string& what);
Result<TrialInfo> decode_trial(std::string_view text, const std::string& what);
Result<ComponentRecord> decode_record(std::string_view text, const std::string& what);

}  // namespace trainwarden::experiments
