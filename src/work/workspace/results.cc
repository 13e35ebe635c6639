#include "work/workspace/results.h"

#include <system_error>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/process/captured_output.h"

namespace trainwarden::workspace {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxTextBytes = 4096;
constexpr std::chrono::hours kTimeout{12};

bool has_files(const fs::path& folder) {
  std::error_code error;
  const bool empty = fs::is_empty(folder, error);
  return !error && !empty;
}

// tar's messages go to its standard output, from which they are read.
process::Program tar_of(const fs::path& folder, const fs::path& archive) {
  process::Program tar;
  tar.command = {"tar",       "--create",       "--format=gnu",    "--sort=name",      "--mtime=@0",
                 "--owner=0", "--group=0",      "--numeric-owner", "--mode=u+rw,go-w", "--use-compress-program=gzip -n",
                 "--file",    archive.string(), "--directory",     folder.string(),    "."};
  return tar;
}

Status pack(const fs::path& folder, const fs::path& archive) {
  if (!has_files(folder)) return Status();
  const fs::path partial = archive.string() + ".partial";
  std::error_code error;
  fs::create_directories(archive.parent_path(), error);
  if (error) {
    return Status(Code::kInternal,
                  fmt::format("cannot make {}: {}", printable(archive.parent_path().string()), error.message()));
  }
  const auto packed = process::capture_output(tar_of(folder, partial), kMaxTextBytes, kTimeout);
  if (!packed.ok()) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("{} cannot be packed: {}", printable(folder.string()), packed.status().message()));
  }
  if (packed->exit.shell_code() == 0) fs::rename(partial, archive, error);
  if (packed->exit.shell_code() == 0 && !error) return Status();
  std::error_code ignored;
  fs::remove(partial, ignored);
  return Status(Code::kFailedPrecondition,
                fmt::format("{} cannot be packed into {}: tar has ended with exit code {}; is the disk full?",
                            printable(folder.string()), printable(archive.string()), packed->exit.shell_code()));
}

}  // namespace

bool has_results(const JobLayout& layout) {
  return has_files(layout.model) || has_files(layout.output_data);
}

Status pack_results(const JobLayout& layout) {
  TRAINWARDEN_RETURN_IF_ERROR(pack(layout.model, layout.results / "model.tar.gz"));
  return pack(layout.output_data, layout.results / "output.tar.gz");
}

}  // namespace trainwarden::workspace
