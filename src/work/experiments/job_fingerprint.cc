#include "work/experiments/job_fingerprint.h"

#include <algorithm>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "work/experiments/code_version.h"
#include "work/experiments/content_hash.h"

namespace trainwarden::experiments {
namespace {

namespace fs = std::filesystem;

constexpr HashBudget kCodeBudget{std::uint64_t{64} << 20, 10'000};
constexpr std::size_t kMaxDataFiles = 100'000;

Status too_much(std::string_view what) {
  return Status(Code::kResourceExhausted, fmt::format("{} is too much to know it again", what));
}

// A line, in which nothing that a name may hold can stand for another line.
void add_fact(std::string& facts, std::string_view name, std::string_view value) {
  facts += fmt::format("{}:{} {}:{}\n", name.size(), name, value.size(), value);
}

Status add_content(std::string& facts, const fs::path& path) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ContentHash content, hash_content(path, kCodeBudget));
  if (content.hash.empty()) return too_much(path.string());
  add_fact(facts, "content", content.hash);
  return {};
}

Status add_code(std::string& facts, const jobs::JobSpec& spec, const fs::path& folder) {
  if (!spec.source_dir.empty()) return add_content(facts, folder / spec.source_dir);
  std::vector<std::string> words = spec.program;
  words.push_back(spec.entry_point);
  for (const std::string& word : words) {
    std::error_code error;
    const fs::path path = folder / word;
    if (word.empty() || !fs::is_regular_file(path, error)) continue;
    TRAINWARDEN_RETURN_IF_ERROR(add_content(facts, path));
  }
  for (const auto& [name, value] : code_version(folder)) add_fact(facts, name, value);
  return {};
}

std::string stamp_of(const fs::path& path) {
  std::error_code error;
  const auto bytes = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
  const auto changed = fs::last_write_time(path, error);
  return error ? "none" : fmt::format("{} {}", bytes, changed.time_since_epoch().count());
}

Status add_data(std::string& facts, const jobs::Channel& channel, const fs::path& folder) {
  constexpr std::string_view kFilePrefix = "file://";
  std::string source = channel.source;
  if (source.starts_with(kFilePrefix)) source.erase(0, kFilePrefix.size());
  add_fact(facts, channel.name, source);
  if (source.find("://") != std::string::npos) return {};
  const fs::path root = folder / source;
  std::vector<std::string> files = {stamp_of(root)};
  std::error_code error;
  fs::recursive_directory_iterator entry(root, error);
  while (!error && entry != fs::recursive_directory_iterator()) {
    if (files.size() > kMaxDataFiles) return too_much(root.string());
    if (!entry->is_directory(error)) files.push_back(entry->path().string() + " " + stamp_of(entry->path()));
    entry.increment(error);
  }
  std::sort(files.begin(), files.end());  // a folder lists them in any order
  for (const std::string& file : files) add_fact(facts, "data", file);
  return {};
}

}  // namespace

Result<std::string> fingerprint_of_job(const jobs::JobSpec& spec, std::string_view text, const fs::path& folder) {
  std::string facts;
  add_fact(facts, "job", text);
  TRAINWARDEN_RETURN_IF_ERROR(add_code(facts, spec, folder));
  for (const jobs::Channel& channel : spec.inputs) TRAINWARDEN_RETURN_IF_ERROR(add_data(facts, channel, folder));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string hash, sha256_of(facts));
  return "sha256:" + hash;
}

}  // namespace trainwarden::experiments
