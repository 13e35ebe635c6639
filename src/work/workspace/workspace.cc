#include "work/workspace/workspace.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/storage/location.h"
#include "work/document/document.h"
#include "work/workspace/bucket_transfer.h"
#include "work/workspace/channels.h"
#include "work/workspace/checkpoint_sync.h"
#include "work/workspace/layout.h"
#include "work/workspace/node_variables.h"
#include "work/workspace/results.h"
#include "work/workspace/toolkit_variables.h"

namespace trainwarden::workspace {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kWrittenLately{2'000};  // a checkpoint that may not be whole yet
constexpr std::uint64_t kMaxFailureBytes = 1024;            // as SageMaker's

class Workspace final : public jobs::AttemptStages {
 public:
  Workspace(jobs::JobSpec spec, fs::path base, JobLayout layout, const jobs::JobOrder& order,
            std::vector<std::string> hosts)
      : spec_(std::move(spec)),
        base_(std::move(base)),
        layout_(std::move(layout)),
        program_(order.program),
        own_variables_(order.environment),
        hosts_(std::move(hosts)),
        checkpoints_(layout_.checkpoints, layout_.kept_checkpoints),
        transfer_(environment_of_job(order)) {}

  void set_meanwhile(std::function<bool()> meanwhile) override { transfer_.set_meanwhile(std::move(meanwhile)); }

  bool fetches() const override {
    return !spec_.inputs.empty() || layout_.checkpoints != layout_.kept_checkpoints ||
           !layout_.bucket_checkpoints.empty() || !layout_.bucket_board.empty();
  }

  Result<std::map<std::string, std::string>> fetch(const jobs::Allocation& allocation) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_volume());
    TRAINWARDEN_RETURN_IF_ERROR(make_folders());
    TRAINWARDEN_RETURN_IF_ERROR(fetch_from_buckets());
    const auto nodes = static_cast<std::int64_t>(std::max<std::size_t>(hosts_.size(), 1));
    for (std::int64_t node = 1; node < nodes; ++node) {
      TRAINWARDEN_ASSIGN_OR_RETURN(auto variables, prepare_node({node, nodes}, allocation));
      for (const auto& [name, value] : own_variables_) variables.erase(name);  // they stay as the user has set them
      TRAINWARDEN_RETURN_IF_ERROR(write_node_variables(layout_, node, variables));
    }
    TRAINWARDEN_RETURN_IF_ERROR(checkpoints_.restore());
    checkpoints_.start();
    keep_in_buckets();
    return prepare_node({0, nodes}, allocation);
  }

  bool stores() const override {
    return has_results(layout_) || !layout_.bucket_checkpoints.empty() || !layout_.bucket_board.empty();
  }

  Status store() override {
    transfer_.end_keeping();
    TRAINWARDEN_RETURN_IF_ERROR(checkpoints_.finish());
    TRAINWARDEN_RETURN_IF_ERROR(pack_results(layout_));
    // One that fails keeps none of the others here.
    Status first = send_to_bucket(layout_.kept_checkpoints, layout_.bucket_checkpoints, "its checkpoints");
    const Status shown = send_to_bucket(layout_.board, layout_.bucket_board, "what TensorBoard shows");
    if (first.ok()) first = shown;
    for (const auto& [folder, what] :
         {std::pair(layout_.results, "its results"), std::pair(layout_.rule_output, "what its rules wrote")}) {
      const std::string name = folder.filename().string();
      const std::string address = layout_.bucket_outputs.empty() ? "" : layout_.bucket_outputs + "/" + name;
      const Status sent = send_to_bucket(folder, address, what);
      if (first.ok()) first = sent;
    }
    return first;
  }

  std::string failure() const override {
    const storage::Location output(layout_.output);
    const auto file = output.storage().open("failure");
    std::string text(kMaxFailureBytes, '\0');
    const auto bytes = file.ok() ? (*file)->read_at(0, std::as_writable_bytes(std::span(text))) : file.status();
    text.resize(bytes.value_or(0));
    return std::string(trim(with_valid_utf8(text)));
  }

 private:
  // Before the program starts: channels, and checkpoints of an attempt or of a job before this one.
  Status fetch_from_buckets() {
    for (const jobs::Channel& channel : spec_.inputs) {
      if (!is_in_bucket(channel.source)) continue;
      const fs::path folder = layout_.fetched / channel.name;
      TRAINWARDEN_RETURN_IF_ERROR(
          transfer_.fetch(channel.source, folder.string(), fmt::format("inputs: {}", printable(channel.name))));
    }
    if (layout_.bucket_checkpoints.empty()) return {};
    const Status fetched =
        transfer_.fetch(layout_.bucket_checkpoints + "/", layout_.kept_checkpoints.string(), "checkpoints");
    return fetched.code() == Code::kNotFound ? Status() : fetched;
  }

  // While the program runs.
  void keep_in_buckets() {
    if (!layout_.bucket_checkpoints.empty()) {
      transfer_.start_keeping({.from = layout_.kept_checkpoints.string(),
                               .to = layout_.bucket_checkpoints,
                               .what = "checkpoints are",
                               .quiet = kWrittenLately});
    }
    // Always written; its file grows at its end, so that what was there at any moment is right.
    if (!layout_.bucket_board.empty()) {
      transfer_.start_keeping(
          {.from = layout_.board.string(), .to = layout_.bucket_board, .what = "what TensorBoard shows is"});
    }
  }

  // Nothing where there is no folder, or no bucket for it.
  Status send_to_bucket(const fs::path& folder, const std::string& address, const char* what) {
    std::error_code error;
    if (address.empty() || !fs::is_directory(folder, error)) return {};
    const Status sent = transfer_.send(folder.string(), address, what);
    if (sent.ok()) return {};
    return Status(sent.code(), fmt::format("{}; they are in {}, and `trainwarden job upload` sends them again",
                                           sent.message(), printable(folder.string())));
  }

  // Its channels and configuration; returns its variables.
  Result<std::map<std::string, std::string>> prepare_node(const JobNode& node, const jobs::Allocation& allocation) {
    const JobLayout layout = layout_of_node(layout_, node.number);
    for (const jobs::Channel& channel : spec_.inputs) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const fs::path source, local_source(channel, base_, layout_.fetched));
      TRAINWARDEN_RETURN_IF_ERROR(link_channel(channel, source, layout.input_data, node));
    }
    const NodeSurroundings surroundings = surroundings_of(node, allocation);
    TRAINWARDEN_RETURN_IF_ERROR(write_config_files(spec_, layout, surroundings));
    return toolkit_variables(spec_, layout, surroundings);
  }

  // A cluster gives each node what the job asks for.
  NodeSurroundings surroundings_of(const JobNode& node, const jobs::Allocation& allocation) const {
    NodeSurroundings surroundings;
    surroundings.arguments = program_;
    if (!hosts_.empty()) {
      surroundings.hosts = hosts_;
      surroundings.host = hosts_[static_cast<std::size_t>(node.number)];
      surroundings.cpus = spec_.resources.cpus.value_or(1) * spec_.resources.tasks_per_node;
      surroundings.gpus = spec_.resources.gpus.value_or(0);
    }
    if (allocation.cpus) surroundings.cpus = static_cast<std::int64_t>(allocation.cpus->size());
    if (allocation.gpus) surroundings.gpus = static_cast<std::int64_t>(allocation.gpus->size());
    return surroundings;
  }

  // Where results and checkpoints are written, as it is now.
  Status check_volume() const {
    std::error_code error;
    const fs::space_info space = fs::space(layout_.root.parent_path(), error);
    if (error || !spec_.resources.volume_bytes || space.available >= *spec_.resources.volume_bytes) return Status();
    return Status(Code::kResourceExhausted,
                  fmt::format("volume: {} are needed, and {} has {} free", format_bytes(*spec_.resources.volume_bytes),
                              printable(layout_.root.parent_path().string()), format_bytes(space.available)));
  }

  Status make_folders() const {
    for (const fs::path& folder : {layout_.input_data, layout_.model, layout_.output_data, layout_.intermediate}) {
      std::error_code error;
      fs::create_directories(folder, error);
      if (error) {
        return Status(Code::kInternal, fmt::format("cannot make {}: {}", printable(folder.string()), error.message()));
      }
    }
    std::error_code ignored;
    fs::remove(layout_.output / "failure", ignored);  // of an earlier attempt
    return Status();
  }

  jobs::JobSpec spec_;
  fs::path base_;
  JobLayout layout_;
  std::vector<std::string> program_;
  std::map<std::string, std::string> own_variables_;  // of the job's user
  std::vector<std::string> hosts_;                    // empty: this machine, without a name
  CheckpointSync checkpoints_;
  BucketTransfer transfer_;
};

}  // namespace

Result<jobs::JobSpec> spec_of(const jobs::JobRecord& job) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const document::DocumentValue top,
                               document::parse(job.order().spec, job.order().spec_file));
  document::Mistakes mistakes;
  jobs::JobSpec spec = jobs::read_job_spec(top, mistakes);
  TRAINWARDEN_RETURN_IF_ERROR(mistakes.status());
  return spec;
}

Result<std::unique_ptr<jobs::AttemptStages>> create_workspace(const jobs::JobRecord& job,
                                                              const std::vector<std::string>& hosts) {
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobSpec spec, spec_of(job));
  TRAINWARDEN_ASSIGN_OR_RETURN(JobLayout layout, layout_of(job, spec));
  const fs::path base = fs::path(job.order().spec_file).parent_path();
  return std::unique_ptr<jobs::AttemptStages>(
      std::make_unique<Workspace>(std::move(spec), base, std::move(layout), job.order(), hosts));
}

}  // namespace trainwarden::workspace
