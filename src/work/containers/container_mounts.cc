#include "work/containers/container_mounts.h"

#include <system_error>

#include <fmt/format.h>

#include "core/base/text.h"
#include "work/workspace/layout.h"

namespace trainwarden::containers {
namespace {

namespace fs = std::filesystem;

const fs::path kToolkitRoot = "/opt/ml";

Status make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return Status();
  return Status(Code::kInternal, fmt::format("cannot make {}: {}", printable(folder.string()), error.message()));
}

Status check(const Mount& mount) {
  if (mount.source.string().find_first_of(":,") == std::string::npos) return Status();
  return Status(Code::kInvalidArgument, fmt::format("image: a path with a colon or a comma cannot be seen in a "
                                                    "container: {}",
                                                    printable(mount.source.string())));
}

}  // namespace

Result<std::vector<Mount>> mounts_of(const jobs::JobRecord& job, const jobs::JobSpec& spec) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const workspace::JobLayout layout, workspace::layout_of(job, spec));
  const fs::path run = job.order().run;
  const fs::path base = fs::path(job.order().spec_file).parent_path();
  for (const fs::path& folder : {run, layout.root, layout.checkpoints}) {
    TRAINWARDEN_RETURN_IF_ERROR(make_folder(folder));
  }
  std::vector<Mount> mounts = {{layout.code, layout.code}, {run, run}, {layout.root, layout.root}};
  mounts.push_back({layout.checkpoints, layout.checkpoints});
  mounts.push_back({layout.root, kToolkitRoot});
  mounts.push_back({layout.checkpoints, kToolkitRoot / "checkpoints"});
  for (const jobs::Channel& channel : spec.inputs) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const fs::path source, workspace::local_source(channel, base, layout.fetched));
    mounts.push_back({source, source, false});
  }
  for (const Mount& mount : mounts) TRAINWARDEN_RETURN_IF_ERROR(check(mount));
  return mounts;
}

}  // namespace trainwarden::containers
