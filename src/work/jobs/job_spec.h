// JobSpec: what a training job is, as its user writes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"
#include "work/document/document.h"
#include "work/document/mistakes.h"
#include "work/jobs/backend.h"
#include "work/jobs/job_array.h"
#include "work/log_metrics/definition.h"

namespace trainwarden::jobs {

// Limits of Amazon SageMaker's API where it has one, so that what fits there fits here.
inline constexpr std::size_t kMaxJobNameBytes = 63;
inline constexpr std::size_t kMaxHyperparameters = 100;
inline constexpr std::size_t kMaxVariables = 100;
inline constexpr std::size_t kMaxChannels = 20;
inline constexpr std::size_t kMaxTags = 50;
inline constexpr std::size_t kMaxRules = 40;
inline constexpr std::size_t kMaxValueBytes = 2500;
inline constexpr std::int64_t kMaxRetries = 30;
inline constexpr double kDefaultMaxRunSeconds = 24 * 3600;
inline constexpr double kMaxRunSeconds = 28.0 * 24 * 3600;

enum class Distribution : std::uint8_t { kFullyReplicated, kShardedByKey };
enum class InputMode : std::uint8_t { kFile, kFastFile };
enum class Binding : std::uint8_t { kNone, kSockets, kCores };

struct Channel {
  std::string name;    // "train"
  std::string source;  // a path, file://..., s3://...
  Distribution distribution = Distribution::kFullyReplicated;
  InputMode mode = InputMode::kFile;
  std::string content_type;
  std::string place;  // in the document, for messages; so for all that has a place
};

struct Resources {
  std::int64_t nodes = 1;
  std::int64_t tasks_per_node = 1;
  std::optional<std::int64_t> cpus;           // of each task; as many as there are when nothing is said
  std::optional<std::int64_t> gpus;           // of each node
  std::optional<std::uint64_t> memory_bytes;  // of each node
  std::optional<std::uint64_t> volume_bytes;  // free disk that it needs
  std::optional<std::int64_t> threads_per_rank;
  Binding binding = Binding::kNone;
  std::string network_interface;  // "eth0"; empty: none is chosen
  std::string profile;            // a name for all of these, "ml.p3.2xlarge"
  bool preemptible = false;       // may be interrupted and go on later
  std::string place;
};

struct Limits {
  double max_run_seconds = kDefaultMaxRunSeconds;  // of all attempts together
  std::optional<double> max_wait_seconds;          // waiting and running
  std::optional<double> max_pending_seconds;       // before its first start
  std::int64_t retries = 0;                        // after faults that are not the program's
  std::string place;
};

struct Checkpoints {
  std::string path;   // where they are kept: a path, file://..., s3://...; empty: nowhere
  std::string local;  // where the program writes them; empty: the job's own folder
};

struct Experiment {
  std::string experiment;
  std::string trial;
  std::string run;
};

// On a cluster that Slurm runs: who pays, and where it may run; what is empty is left to Slurm.
struct SlurmChoice {
  std::string partition;
  std::string account;
  std::string qos;
  std::string constraint;
  friend bool operator==(const SlurmChoice&, const SlurmChoice&) = default;
};

// On a machine that ssh reaches.
struct SshChoice {
  std::vector<std::string> hosts;  // "gpu1", "user@gpu2:2222": one of them
  std::string folder;              // of Trainwarden there; empty: the usual one
  std::vector<std::string> path;   // folders there in which programs are looked for first
  friend bool operator==(const SshChoice&, const SshChoice&) = default;
};

struct JobSpec {
  std::string name;       // of this very job; or else
  std::string base_name;  // what its name begins with

  // Either a program and its arguments, or a script in a folder of sources.
  std::vector<std::string> program;
  std::string entry_point;
  std::string source_dir;
  std::vector<std::string> dependencies;  // folders that are packed beside the sources
  std::vector<std::string> arguments;

  std::map<std::string, document::DocumentValue> hyperparameters;  // by name
  std::map<std::string, std::string> environment;
  Resources resources;
  Backend backend = Backend::kLocal;
  SlurmChoice slurm;
  SshChoice ssh;
  std::string image;              // of a container that the program runs in; empty: it runs in none
  bool isolated_network = false;  // of the container
  std::vector<Channel> inputs;
  std::string output_dir;
  std::string mirror;  // "s3://...": the run is kept in MIRROR/JOB/debug-output too; empty: beside a bucket's output
  std::string tensorboard;  // a path, file://..., s3://...: its run is shown to TensorBoard there; empty: nowhere
  Checkpoints checkpoints;
  Limits limits;
  std::int64_t priority = 0;
  std::map<std::string, std::string> tags;

  bool hook = true;         // false: nothing is captured
  std::string hook_config;  // a file
  std::vector<std::string> rules;
  std::string actions;  // a file
  log_metrics::DefinitionSet metrics;
  Experiment experiment;
  std::vector<ArrayAxis> array;                            // not empty: it is to run once for each combination
  std::string place;                                       // the file
  std::map<std::string, std::string, std::less<>> places;  // of the fields that are there, by our name

  // For messages; the file when there is no such field.
  const std::string& place_of(std::string_view field) const;
};

// Fields have the names of our documents (docs/reference/job-spec.md), and those of the estimators of SageMaker's
// Python SDK, of version 1 ("train_instance_count") and 2 ("instance_count"). What is wrong is left out of the answer.
JobSpec read_job_spec(const document::DocumentValue& top, document::Mistakes& mistakes);

// A name that a job may have: letters and digits, with single hyphens between them.
bool is_job_name(std::string_view name);
// What is said of one that is none.
std::string no_job_name(std::string_view text);

}  // namespace trainwarden::jobs
