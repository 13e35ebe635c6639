#include "work/jobs/job_spec.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "store/storage/bucket_folder.h"
#include "work/document/table_reader.h"

namespace trainwarden::jobs {
namespace {

using document::DocumentValue;
using document::Mistakes;
using document::TableReader;
using Kind = DocumentValue::Kind;

constexpr std::int64_t kMaxNodes = 10'000;
constexpr std::int64_t kMaxTasks = 1024;
constexpr std::int64_t kMaxCpus = 4096;
constexpr std::int64_t kMaxPriority = 1000;
constexpr std::size_t kMaxNameBytes = 120;
constexpr std::uint64_t kGigabyte = std::uint64_t{1} << 30;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_variable_name(std::string_view name) {
  const auto allowed = [](char c) { return is_letter_or_digit(c) || c == '_'; };
  return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
         std::all_of(name.begin(), name.end(), allowed);
}

bool is_channel_name(std::string_view name) {
  const auto allowed = [](char c) { return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_'; };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), allowed);
}

// In the order of the types that they are for.
constexpr std::array<const char*, 3> kBindings = {"none", "sockets", "cores"};
constexpr std::array<const char*, 2> kDistributions = {"FullyReplicated", "ShardedByS3Key"};
constexpr std::array<const char*, 2> kModes = {"File", "FastFile"};

// Reads the fields of one job. Each function is about one part of it.
class SpecReader {
 public:
  SpecReader(const DocumentValue& top, Mistakes& mistakes) : table_(top, mistakes), mistakes_(mistakes) {
    spec_.place = top.place;
    spec_.resources.place = top.place;
    spec_.limits.place = top.place;
  }

  JobSpec read() {
    read_names();
    read_program();
    read_hyperparameters();
    if (const DocumentValue* const array = table_.table({"array"})) spec_.array = read_axes(*array, mistakes_);
    read_environment();
    read_resources();
    read_backend();
    read_inputs();
    read_places();
    read_limits();
    read_judging();
    read_records();
    table_.refuse_rest();
    spec_.places = table_.places();
    return std::move(spec_);
  }

 private:
  void wrong(std::string_view place, std::string_view what) { mistakes_.add(place, what); }

  void read_names() {
    spec_.name = name_of({"name", "job_name", "training_job_name"});
    spec_.base_name = name_of({"base_job_name", "base_name"});
  }

  std::string name_of(TableReader::Names names) {
    const std::string name = table_.text(names).value_or("");
    if (name.empty() || is_job_name(name)) return name;
    wrong(table_.place_of(*names.begin()),
          fmt::format("{}: expected letters and digits with single hyphens between them, {} at most, "
                      "found \"{}\"",
                      *names.begin(), kMaxJobNameBytes, printable(name)));
    return "";
  }

  void read_program() {
    spec_.program = table_.texts({"program", "command"});
    spec_.entry_point = table_.text({"entry_point"}).value_or("");
    spec_.source_dir = table_.text({"source_dir"}).value_or("");
    spec_.dependencies = table_.texts({"dependencies"});
    spec_.arguments = table_.texts({"arguments"});
    spec_.image = table_.text({"image", "image_uri", "image_name"}).value_or("");
    spec_.isolated_network = table_.boolean({"isolated_network", "enable_network_isolation"}).value_or(false);
    if (spec_.isolated_network && spec_.image.empty()) {
      wrong(table_.place_of("isolated_network"),
            "isolated_network: goes with image: only a container can be without a network");
    }
    if (spec_.program.empty() == spec_.entry_point.empty()) {
      wrong(table_.place_of("program"),
            fmt::format("expected either entry_point = \"train.py\" or program = [\"./train\", \"--fast\"], found {}",
                        spec_.program.empty() ? "neither" : "both"));
    }
    if (spec_.entry_point.empty() && !spec_.source_dir.empty()) {
      wrong(table_.place_of("source_dir"), "source_dir: goes with entry_point, the script in it");
    }
  }

  void read_hyperparameters() {
    const DocumentValue* const table = table_.table({"hyperparameters"});
    if (table == nullptr) return;
    if (too_many(*table, "hyperparameters", table->fields.size(), kMaxHyperparameters)) return;
    for (const auto& [name, value] : table->fields) {
      if (!check_entry(value, "hyperparameters", name)) continue;
      if (value.is(Kind::kOther)) {
        wrong(value.place, fmt::format("hyperparameters: {}: expected a text, a number, true or false, a list or a "
                                       "table, found {}",
                                       name, document::name(value.kind)));
        continue;
      }
      spec_.hyperparameters.emplace(name, value);
    }
  }

  // True when it says so.
  bool too_many(const DocumentValue& value, std::string_view field, std::size_t found, std::size_t max) {
    if (found <= max) return false;
    wrong(value.place, fmt::format("{}: expected {} at most, found {}", field, max, found));
    return true;
  }

  // A name without control characters, a text that is not too long and has no NUL.
  bool check_entry(const DocumentValue& value, std::string_view field, const std::string& name) {
    if (name.empty() || printable(name) != name) {
      wrong(value.place,
            fmt::format("{}: expected names without control characters, found \"{}\"", field, printable(name)));
      return false;
    }
    if (value.text.size() > kMaxValueBytes) {
      wrong(value.place,
            fmt::format("{}: {}: expected {} bytes at most, found {}", field, name, kMaxValueBytes, value.text.size()));
      return false;
    }
    if (value.text.find('\0') == std::string::npos) return true;
    wrong(value.place, fmt::format("{}: {}: expected no NUL", field, name));
    return false;
  }

  void read_environment() {
    const DocumentValue* const table = table_.table({"environment"});
    if (table == nullptr) return;
    if (too_many(*table, "environment", table->fields.size(), kMaxVariables)) return;
    for (const auto& [name, value] : table->fields) {
      if (!check_entry(value, "environment", name)) continue;
      if (!is_variable_name(name)) {
        wrong(value.place, fmt::format("environment: expected names of letters, digits and \"_\", found \"{}\"", name));
      } else if (name.starts_with("SM_") || name.starts_with("TRAINWARDEN_")) {
        wrong(value.place, fmt::format("environment: {}: Trainwarden sets variables that begin so", name));
      } else if (const std::optional<std::string> text = variable_text(value)) {
        spec_.environment.emplace(name, *text);
      } else {
        wrong(value.place,
              fmt::format("environment: {}: expected a text or a number, found {}", name, document::name(value.kind)));
      }
    }
  }

  static std::optional<std::string> variable_text(const DocumentValue& value) {
    if (value.is(Kind::kText)) return value.text;
    if (value.is(Kind::kInteger)) return std::to_string(value.integer);
    if (value.is(Kind::kNumber)) return fmt::format("{}", value.number);
    return std::nullopt;
  }

  // In a table of their own, or as SageMaker's estimators have them, beside all else.
  void read_resources() {
    if (const DocumentValue* const table = table_.table({"resources"})) {
      spec_.resources.place = table->place;
      TableReader reader(*table, mistakes_);
      read_resources(reader);
      reader.refuse_rest();
    } else {
      read_resources(table_);
    }
  }

  void read_resources(TableReader& table) {
    Resources& resources = spec_.resources;
    resources.nodes = table.integer({"nodes", "instance_count", "train_instance_count"}, 1, kMaxNodes).value_or(1);
    resources.tasks_per_node = table.integer({"tasks_per_node"}, 1, kMaxTasks).value_or(1);
    resources.cpus = table.integer({"cpus"}, 1, kMaxCpus);
    resources.gpus = table.integer({"gpus"}, 0, kMaxTasks);
    resources.memory_bytes = table.bytes({"memory"});
    resources.volume_bytes = table.bytes({"volume"});
    resources.threads_per_rank = table.integer({"threads_per_rank"}, 1, kMaxCpus);
    resources.network_interface = table.text({"network_interface"}).value_or("");
    resources.profile = table.text({"profile", "instance_type", "train_instance_type"}).value_or("");
    resources.preemptible =
        table.boolean({"preemptible", "use_spot_instances", "train_use_spot_instances"}).value_or(false);
    const auto gigabytes = table.integer({"volume_size", "train_volume_size"}, 1, 1 << 20);
    if (gigabytes && resources.volume_bytes) {
      wrong(table.place_of("volume_size"), "volume_size: expected either volume or volume_size (GB), found both");
    } else if (gigabytes) {
      resources.volume_bytes = static_cast<std::uint64_t>(*gigabytes) * kGigabyte;
    }
    resources.binding = static_cast<Binding>(table.choice({"bind"}, kBindings).value_or(0));
  }

  void read_backend() {
    spec_.backend = static_cast<Backend>(table_.choice({"backend"}, kBackendNames).value_or(0));
    if (const DocumentValue* const table = table_.table({"slurm"})) read_slurm(*table);
    if (const DocumentValue* const table = table_.table({"ssh"})) read_ssh(*table);
  }

  void read_slurm(const DocumentValue& table) {
    TableReader reader(table, mistakes_);
    spec_.slurm.partition = plain_text(reader, {"partition"});
    spec_.slurm.account = plain_text(reader, {"account"});
    spec_.slurm.qos = plain_text(reader, {"qos"});
    spec_.slurm.constraint = plain_text(reader, {"constraint"});
    reader.refuse_rest();
  }

  void read_ssh(const DocumentValue& table) {
    TableReader reader(table, mistakes_);
    spec_.ssh.hosts = reader.texts({"hosts", "host"});
    spec_.ssh.folder = plain_text(reader, {"folder"});
    spec_.ssh.path = reader.texts({"path"});
    reader.refuse_rest();
  }

  // A table of channels, or the source of a single one, "training".
  void read_inputs() {
    const DocumentValue* const inputs = table_.take({"inputs"});
    if (inputs == nullptr) return;
    if (inputs->is(Kind::kText)) {
      read_channel("training", *inputs);
    } else if (!inputs->is(Kind::kTable)) {
      table_.wrong_kind(*inputs, "inputs", "a table of channels, or the path of one");
    } else if (!too_many(*inputs, "inputs", inputs->fields.size(), kMaxChannels)) {
      for (const auto& [name, value] : inputs->fields) read_channel(name, value);
    }
  }

  void read_channel(const std::string& name, const DocumentValue& value) {
    Channel channel;
    channel.name = name;
    channel.place = value.place;
    if (!is_channel_name(name)) {
      wrong(value.place, fmt::format("inputs: expected names of letters, digits, \".\", \"-\" and \"_\", 64 at most, "
                                     "found \"{}\"",
                                     printable(name)));
      return;
    }
    if (value.is(Kind::kText)) {
      channel.source = value.text;
    } else if (value.is(Kind::kTable)) {
      read_channel_table(value, channel);
    } else {
      table_.wrong_kind(value, name, "a path or a table");
      return;
    }
    if (channel.source.empty()) {
      wrong(value.place, fmt::format("inputs: {}: expected source = a path, file://, s3:// or gs://", name));
      return;
    }
    spec_.inputs.push_back(std::move(channel));
  }

  void read_channel_table(const DocumentValue& value, Channel& channel) {
    TableReader table(value, mistakes_);
    channel.source = table.text({"source", "s3_data"}).value_or("");
    channel.content_type = table.text({"content_type"}).value_or("");
    channel.distribution = static_cast<Distribution>(table.choice({"distribution"}, kDistributions).value_or(0));
    channel.mode = static_cast<InputMode>(table.choice({"mode", "input_mode"}, kModes).value_or(0));
    table.refuse_rest();
  }

  void read_places() {
    spec_.output_dir = table_.text({"output_dir", "output_path"}).value_or("");
    spec_.tensorboard = table_.text({"tensorboard"}).value_or("");
    spec_.mirror = table_.text({"mirror"}).value_or("");
    if (!spec_.mirror.empty() && !storage::is_bucket_address(spec_.mirror)) {
      wrong(table_.place_of("mirror"),
            fmt::format(
                "mirror: expected s3://BUCKET/PREFIX or gs://BUCKET/PREFIX, found \"{}\"; without it the run is in "
                "the folder of runs",
                printable(spec_.mirror)));
      spec_.mirror.clear();
    }
    if (const DocumentValue* const table = table_.table({"checkpoints"})) {
      TableReader reader(*table, mistakes_);
      spec_.checkpoints.path = reader.text({"path"}).value_or("");
      spec_.checkpoints.local = reader.text({"local"}).value_or("");
      reader.refuse_rest();
      if (spec_.checkpoints.path.empty()) wrong(table->place, "checkpoints: expected path, where they are kept");
    } else {
      spec_.checkpoints.path = table_.text({"checkpoint_path", "checkpoint_s3_uri"}).value_or("");
      spec_.checkpoints.local = table_.text({"checkpoint_local_path"}).value_or("");
    }
  }

  void read_limits() {
    Limits& limits = spec_.limits;
    limits.max_run_seconds =
        table_.seconds({"max_run", "train_max_run"}, 1, kMaxRunSeconds).value_or(kDefaultMaxRunSeconds);
    limits.max_wait_seconds = table_.seconds({"max_wait", "train_max_wait"}, 1, 2 * kMaxRunSeconds);
    limits.max_pending_seconds = table_.seconds({"max_pending"}, 1, kMaxRunSeconds);
    limits.retries = table_.integer({"retries", "max_retry_attempts"}, 0, kMaxRetries).value_or(0);
    spec_.priority = table_.integer({"priority"}, -kMaxPriority, kMaxPriority).value_or(0);
    if (limits.max_wait_seconds && *limits.max_wait_seconds < limits.max_run_seconds) {
      wrong(table_.place_of("max_wait"),
            fmt::format("max_wait: counts the time of running too: expected max_run ({} s) at least, "
                        "found {} s",
                        limits.max_run_seconds, *limits.max_wait_seconds));
    }
  }

  void read_judging() {
    if (const DocumentValue* const hook = table_.take({"hook", "debugger_hook_config"})) {
      if (hook->is(Kind::kBoolean)) {
        spec_.hook = hook->boolean;
      } else if (hook->is(Kind::kText)) {
        spec_.hook_config = hook->text;
      } else {
        table_.wrong_kind(*hook, "hook", "the file of its configuration, or false");
      }
    }
    spec_.rules = table_.texts({"rules"});
    if (spec_.rules.size() > kMaxRules) {
      wrong(table_.place_of("rules"),
            fmt::format("rules: expected {} at most, found {}", kMaxRules, spec_.rules.size()));
    }
    spec_.actions = table_.text({"actions"}).value_or("");
    spec_.metrics.strict = table_.boolean({"strict_metrics"}).value_or(false);
    if (const DocumentValue* const metrics = table_.take({"metric", "metric_definitions"})) {
      spec_.metrics.definitions = log_metrics::read_definitions(*metrics, mistakes_);
    }
  }

  // What it is filed under.
  void read_records() {
    if (const DocumentValue* const tags = table_.take({"tags"})) read_tags(*tags);
    const DocumentValue* const table = table_.table({"experiment", "experiment_config"});
    if (table == nullptr) return;
    TableReader reader(*table, mistakes_);
    spec_.experiment.experiment = plain_text(reader, {"experiment", "experiment_name"});
    spec_.experiment.trial = plain_text(reader, {"trial", "trial_name"});
    spec_.experiment.run = plain_text(reader, {"run", "run_name", "trial_component_display_name"});
    reader.refuse_rest();
  }

  std::string plain_text(TableReader& table, TableReader::Names names) {
    const std::string name = table.text(names).value_or("");
    if (name.size() <= kMaxNameBytes && printable(name) == name) return name;
    wrong(table.place_of(*names.begin()),
          fmt::format("{}: expected {} bytes at most and no control characters, found \"{}\"", *names.begin(),
                      kMaxNameBytes, printable(name)));
    return "";
  }

  // A table, or SageMaker's list of {"Key", "Value"}.
  void read_tags(const DocumentValue& tags) {
    if (tags.is(Kind::kTable)) {
      for (const auto& [key, value] : tags.fields) add_tag(key, value);
    } else if (tags.is(Kind::kList)) {
      for (const DocumentValue& item : tags.items) read_tag(item);
    } else {
      table_.wrong_kind(tags, "tags", "a table");
    }
    too_many(tags, "tags", spec_.tags.size(), kMaxTags);
  }

  void read_tag(const DocumentValue& item) {
    if (!item.is(Kind::kTable)) return table_.wrong_kind(item, "tags", R"({"Key": ..., "Value": ...})");
    TableReader reader(item, mistakes_);
    const std::optional<std::string> key = reader.text({"key"});
    const DocumentValue* const value = reader.take({"value"});
    reader.refuse_rest();
    if (key && value != nullptr) return add_tag(*key, *value);
    wrong(item.place, R"(tags: expected {"Key": ..., "Value": ...})");
  }

  void add_tag(const std::string& key, const DocumentValue& value) {
    if (!value.is(Kind::kText)) return table_.wrong_kind(value, "tags", "texts");
    if (check_entry(value, "tags", key)) spec_.tags[key] = value.text;
  }

  TableReader table_;
  Mistakes& mistakes_;
  JobSpec spec_;
};

}  // namespace

bool is_job_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxJobNameBytes || name.front() == '-' || name.back() == '-') return false;
  const auto allowed = [](char c) { return is_letter_or_digit(c) || c == '-'; };
  return std::all_of(name.begin(), name.end(), allowed) && name.find("--") == std::string_view::npos;
}

std::string no_job_name(std::string_view text) {
  return fmt::format(
      "\"{}\" is no name of a job; expected letters and digits with single hyphens between them, {} at most",
      printable(text), kMaxJobNameBytes);
}

const std::string& JobSpec::place_of(std::string_view field) const {
  const auto known = places.find(field);
  return known == places.end() ? place : known->second;
}

JobSpec read_job_spec(const DocumentValue& top, Mistakes& mistakes) {
  if (!top.is(Kind::kTable)) {
    mistakes.add(top.place,
                 fmt::format("expected a job, as in entry_point = \"train.py\", found {}", document::name(top.kind)));
    return {};
  }
  return SpecReader(top, mistakes).read();
}

}  // namespace trainwarden::jobs
