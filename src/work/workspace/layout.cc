#include "work/workspace/layout.h"

#include <string_view>

#include "store/storage/bucket_folder.h"

namespace trainwarden::workspace {

namespace fs = std::filesystem;

namespace {

// A place within what an address leads to.
std::string within_address(std::string address, const std::string& path) {
  while (address.ends_with('/')) address.pop_back();
  return address + "/" + path;
}

}  // namespace

bool is_in_bucket(const std::string& address) {
  return storage::is_bucket_address(address) && storage::reaches_buckets() &&
         storage::folder_of_bucket(address).status().code() == Code::kUnimplemented;
}

Result<fs::path> local_source(const jobs::Channel& channel, const fs::path& base, const fs::path& fetched) {
  return is_in_bucket(channel.source) ? Result<fs::path>(fetched / channel.name) : local_path(channel.source, base);
}

Result<fs::path> local_path(const std::string& address, const fs::path& base) {
  constexpr std::string_view kFileScheme = "file://";
  if (storage::is_bucket_address(address)) return storage::folder_of_bucket(address);
  const std::string path = address.starts_with(kFileScheme) ? address.substr(kFileScheme.size()) : address;
  return (base / path).lexically_normal();
}

std::string mirror_of(const jobs::JobSpec& spec, const std::string& job) {
  const std::string& folder = spec.mirror.empty() ? spec.output_dir : spec.mirror;
  return is_in_bucket(folder) ? within_address(folder, job + "/debug-output") : "";
}

Result<fs::path> local_board(const jobs::JobSpec& spec, const fs::path& base, const fs::path& job) {
  return is_in_bucket(spec.tensorboard) ? Result<fs::path>(job / kBoard) : local_path(spec.tensorboard, base);
}

Result<JobLayout> layout_of(const jobs::JobRecord& record, const jobs::JobSpec& spec) {
  const fs::path job = record.place().absolute().path();
  const fs::path base = fs::path(record.order().spec_file).parent_path();
  JobLayout layout;
  layout.root = job / "ml";
  layout.code = record.order().folder;
  layout.input = layout.root / "input";
  layout.input_config = layout.input / "config";
  layout.input_data = layout.input / "data";
  layout.model = layout.root / "model";
  layout.output = layout.root / "output";
  layout.output_data = layout.output / "data";
  layout.intermediate = layout.output / "intermediate";
  layout.fetched = job / "fetched";
  layout.kept_checkpoints = job / "checkpoints";
  if (is_in_bucket(spec.checkpoints.path)) {
    layout.bucket_checkpoints = spec.checkpoints.path;
  } else if (!spec.checkpoints.path.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(layout.kept_checkpoints, local_path(spec.checkpoints.path, base));
  }
  layout.checkpoints = layout.kept_checkpoints;
  if (!spec.checkpoints.local.empty()) layout.checkpoints = (base / spec.checkpoints.local).lexically_normal();
  layout.results = job / "output";
  if (is_in_bucket(spec.output_dir)) {
    layout.bucket_outputs = within_address(spec.output_dir, record.order().name);
  } else if (!spec.output_dir.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const fs::path output, local_path(spec.output_dir, base));
    layout.results = output / record.order().name / "output";
  }
  layout.board = job / kBoard / record.order().name;
  if (is_in_bucket(spec.tensorboard)) layout.bucket_board = within_address(spec.tensorboard, record.order().name);
  layout.rule_output = layout.results.parent_path() / kRuleOutput;
  return layout;
}

}  // namespace trainwarden::workspace
