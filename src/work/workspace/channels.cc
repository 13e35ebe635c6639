#include "work/workspace/channels.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "store/storage/location.h"
#include "work/workspace/layout.h"

namespace trainwarden::workspace {
namespace {

namespace fs = std::filesystem;

Status cannot(std::string_view what, const fs::path& path, const std::error_code& error) {
  return Status(Code::kInternal, fmt::format("cannot {} {}: {}", what, printable(path.string()), error.message()));
}

Status link(const fs::path& source, const fs::path& name) {
  std::error_code error;
  fs::create_directories(name.parent_path(), error);
  if (!error) fs::create_symlink(source, name, error);
  return error ? cannot("link", name, error) : Status();
}

// Paths of the files within, also of those in folders of it; a link counts as what it leads to, but leads into no
// folder.
Result<std::vector<std::string>> files_to_divide(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory(error)) continue;
    if (files.size() == kMaxShardedFiles) {
      return Status(Code::kResourceExhausted,
                    fmt::format("{} has more than {} files; divide it among fewer, larger files",
                                printable(folder.string()), kMaxShardedFiles));
    }
    files.push_back(at->path().lexically_relative(folder).string());
  }
  if (error) return cannot("list", folder, error);
  return files;
}

Status link_share(const fs::path& source, const fs::path& name, const JobNode& node) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<std::string> files, files_to_divide(source));
  const std::vector<std::string> share = shard_of(std::move(files), node);
  std::error_code error;
  fs::create_directories(name, error);
  for (const std::string& file : share) TRAINWARDEN_RETURN_IF_ERROR(link(source / file, name / file));
  const std::string list = share.empty() ? "" : fmt::format("{}\n", fmt::join(share, "\n"));
  const storage::Location folder(name.parent_path());
  return folder.storage().replace(name.filename().string() + ".files", as_bytes(list));
}

}  // namespace

std::vector<std::string> shard_of(std::vector<std::string> files, const JobNode& node) {
  std::sort(files.begin(), files.end());
  std::vector<std::string> share;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (static_cast<std::int64_t>(i) % node.count == node.number) share.push_back(std::move(files[i]));
  }
  return share;
}

Status link_channel(const jobs::Channel& channel, const fs::path& source, const fs::path& folder, const JobNode& node) {
  std::error_code error;
  const fs::file_status status = fs::status(source, error);
  if (!fs::exists(status)) {
    return Status(Code::kNotFound,
                  fmt::format("inputs: {}: nothing is there: {}", printable(channel.name), printable(source.string())));
  }
  const fs::path name = folder / channel.name;
  fs::remove_all(name, error);  // removes links, and not what they lead to
  if (!fs::is_directory(status)) {
    const bool other_nodes = channel.distribution == jobs::Distribution::kShardedByKey && node.number > 0;
    fs::create_directories(name, error);
    return other_nodes ? Status() : link(source, name / source.filename());
  }
  const bool divided = channel.distribution == jobs::Distribution::kShardedByKey && node.count > 1;
  return divided ? link_share(source, name, node) : link(source, name);
}

}  // namespace trainwarden::workspace
