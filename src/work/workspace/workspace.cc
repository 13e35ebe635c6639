#include "work/workspace/workspace.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/storage/location.h"
#include "work/document/document.h"
#include "work/workspace/channels.h"
#include "work/workspace/checkpoint_sync.h"
#include "work/workspace/layout.h"
#include "work/workspace/results.h"
#include "work/workspace/toolkit_variables.h"

namespace trainwarden::workspace {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxFailureBytes = 1024;  // as SageMaker's

class Workspace final : public jobs::AttemptStages {
 public:
  Workspace(jobs::JobSpec spec, fs::path base, JobLayout layout, std::vector<std::string> program)
      : spec_(std::move(spec)),
        base_(std::move(base)),
        layout_(std::move(layout)),
        program_(std::move(program)),
        checkpoints_(layout_.checkpoints, layout_.kept_checkpoints) {}

  bool fetches() const override { return !spec_.inputs.empty() || layout_.checkpoints != layout_.kept_checkpoints; }

  Result<std::map<std::string, std::string>> fetch(const jobs::Allocation& allocation) override {
    TRAINWARDEN_RETURN_IF_ERROR(make_folders());
    for (const jobs::Channel& channel : spec_.inputs) {
      TRAINWARDEN_RETURN_IF_ERROR(link_channel(channel, base_, layout_.input_data, JobNode()));
    }
    TRAINWARDEN_RETURN_IF_ERROR(checkpoints_.restore());
    checkpoints_.start();
    NodeSurroundings surroundings;
    if (allocation.cpus) surroundings.cpus = static_cast<std::int64_t>(allocation.cpus->size());
    if (allocation.gpus) surroundings.gpus = static_cast<std::int64_t>(allocation.gpus->size());
    surroundings.arguments = program_;
    TRAINWARDEN_RETURN_IF_ERROR(write_config_files(spec_, layout_, surroundings));
    return toolkit_variables(spec_, layout_, surroundings);
  }

  bool stores() const override { return has_results(layout_); }

  Status store() override {
    TRAINWARDEN_RETURN_IF_ERROR(checkpoints_.finish());
    return pack_results(layout_);
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
  CheckpointSync checkpoints_;
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

Result<std::unique_ptr<jobs::AttemptStages>> create_workspace(const jobs::JobRecord& job) {
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobSpec spec, spec_of(job));
  TRAINWARDEN_ASSIGN_OR_RETURN(JobLayout layout, layout_of(job, spec));
  const fs::path base = fs::path(job.order().spec_file).parent_path();
  return std::unique_ptr<jobs::AttemptStages>(
      std::make_unique<Workspace>(std::move(spec), base, std::move(layout), job.order().program));
}

}  // namespace trainwarden::workspace
