#include "work/ssh/mirror_files.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/storage/path_rules.h"

namespace trainwarden::ssh {
namespace {

constexpr std::string_view kJob = "job/";
constexpr std::string_view kRun = "run/";
constexpr std::size_t kMaxFiles = 200'000;
constexpr int kMaxDepth = 16;

std::string_view name_in(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_left_out(std::string_view path) {
  const std::string_view name = name_in(path);
  return name.starts_with('.') || name.ends_with(".lock") || name.ends_with(".tmp");
}

bool is_transition(std::string_view name) {
  constexpr std::size_t kDigits = 6;
  constexpr std::string_view kEnding = ".json";
  return name.size() == kDigits + kEnding.size() && name.ends_with(kEnding) &&
         name.find_first_not_of("0123456789") == kDigits;
}

bool is_rule_status(std::string_view path) {
  return path.starts_with("rules/") && path.ends_with(".json");
}

MirrorWay way_in_job(std::string_view path) {
  constexpr std::string_view kState = "state/";
  if (path.starts_with(kState)) return is_transition(path.substr(kState.size())) ? MirrorWay::kOnce : MirrorWay::kNever;
  const bool is_log = path.ends_with(".log") && (path.find('/') == std::string_view::npos ||
                                                 path.starts_with("ranks/") || path.starts_with("rules/"));
  if (is_log) return MirrorWay::kAppended;
  const bool is_result = path.starts_with("attempts/") || path.starts_with("output/") ||
                         path.starts_with("rule-output/") || is_rule_status(path);
  return is_result ? MirrorWay::kWhole : MirrorWay::kNever;
}

MirrorWay way_in_run(std::string_view path) {
  if (path.starts_with("checkpoints/")) return MirrorWay::kNever;
  return path.ends_with(".tw") ? MirrorWay::kAppended : MirrorWay::kWhole;
}

// Whether something in this folder may be mirrored, so that what is large and is not is not walked through.
bool is_entered(std::string_view path) {
  if (path.starts_with(kRun)) return path != "run/checkpoints";
  const std::string_view top = path.substr(kJob.size()).substr(0, path.substr(kJob.size()).find('/'));
  return top == "state" || top == "attempts" || top == "output" || top == "rule-output" || top == "ranks" ||
         top == "rules";
}

Status list_folder(const storage::Location& folder, std::string_view prefix, const std::string& path, int depth,
                   std::vector<MirroredFile>& files) {
  const Result<std::vector<storage::Entry>> entries = folder.storage().entries(path);
  if (entries.status().code() == Code::kNotFound) return Status();  // not there yet, or gone meanwhile
  if (!entries.ok()) return entries.status();
  for (const storage::Entry& entry : *entries) {
    const std::string inner = path.empty() ? entry.name : path + "/" + entry.name;
    const std::string whole = std::string(prefix) + inner;
    if (entry.info.kind == storage::FileInfo::Kind::kFolder && depth < kMaxDepth && is_entered(whole)) {
      TRAINWARDEN_RETURN_IF_ERROR(list_folder(folder, prefix, inner, depth + 1, files));
    }
    if (entry.info.kind != storage::FileInfo::Kind::kFile || way_of(whole) == MirrorWay::kNever) continue;
    files.push_back({whole, entry.info.bytes, entry.info.changed_unix_ns});
    if (files.size() > kMaxFiles) {
      return {Code::kResourceExhausted, fmt::format("{} has more than {} files", folder.address(), kMaxFiles)};
    }
  }
  return Status();
}

}  // namespace

MirrorWay way_of(std::string_view path) {
  if (!storage::check_file_path(path).ok() || !is_utf8(path) || is_left_out(path)) return MirrorWay::kNever;
  if (path.starts_with(kJob)) return way_in_job(path.substr(kJob.size()));
  if (path.starts_with(kRun)) return way_in_run(path.substr(kRun.size()));
  return MirrorWay::kNever;
}

Result<std::vector<MirroredFile>> list_mirrored(const MirroredFolders& folders) {
  std::vector<MirroredFile> files;
  TRAINWARDEN_RETURN_IF_ERROR(list_folder(folders.job, kJob, "state", 1, files));
  const std::size_t transitions = files.size();
  TRAINWARDEN_RETURN_IF_ERROR(list_folder(folders.job, kJob, "", 0, files));
  files.erase(std::remove_if(files.begin() + static_cast<std::ptrdiff_t>(transitions), files.end(),
                             [](const MirroredFile& file) { return way_of(file.path) == MirrorWay::kOnce; }),
              files.end());
  TRAINWARDEN_RETURN_IF_ERROR(list_folder(folders.run, kRun, "", 0, files));
  return files;
}

MirroredPlace place_of(const MirroredFolders& folders, std::string_view path) {
  if (path.starts_with(kRun)) return {&folders.run, std::string(path.substr(kRun.size()))};
  return {&folders.job, std::string(path.substr(kJob.size()))};
}

}  // namespace trainwarden::ssh
