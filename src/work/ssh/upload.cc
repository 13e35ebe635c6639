#include "work/ssh/upload.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/process/captured_output.h"
#include "core/process/descriptors.h"
#include "store/storage/location.h"

namespace trainwarden::ssh {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kPackTimeout{10};

// Collects the files that are to be packed, by their paths within the base.
class FileList {
 public:
  FileList(const fs::path& base, const std::vector<fs::path>& left_out) : base_(base) {
    for (const fs::path& folder : left_out) left_out_.push_back(fs::absolute(folder).lexically_normal());
  }

  Status add(const fs::path& name) {
    const fs::path path = (base_ / name).lexically_normal();
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (error) return failed(path, error);
    if (fs::is_directory(status)) return add_folder(path, name);
    if (!fs::is_symlink(status) && !fs::is_regular_file(status)) return Status();
    return add_file(path, name);
  }

  // As tar reads them, each with a NUL behind it.
  const std::string& text() const { return text_; }

 private:
  static Status failed(const fs::path& path, const std::error_code& error) {
    return {Code::kNotFound, fmt::format("cannot send {}: {}", printable(path.string()), error.message())};
  }

  Status add_folder(const fs::path& path, const fs::path& name) {
    const std::string last = path.filename().string();
    if (last == ".git" || last == "__pycache__") return Status();
    if (std::find(left_out_.begin(), left_out_.end(), path) != left_out_.end()) return Status();
    if (name != ".") text_ += name.string() + '\0';  // also when it is empty
    std::error_code error;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      TRAINWARDEN_RETURN_IF_ERROR(add(name == "." ? at->path().filename() : name / at->path().filename()));
    }
    return error ? failed(path, error) : Status();
  }

  Status add_file(const fs::path& path, const fs::path& name) {
    std::error_code ignored;
    const std::uintmax_t bytes = fs::is_symlink(path, ignored) ? 0 : fs::file_size(path, ignored);
    bytes_ += ignored ? 0 : bytes;
    text_ += name.string() + '\0';
    if (++files_ <= kMaxUploadFiles && bytes_ <= kMaxUploadBytes) return Status();
    return {
        Code::kResourceExhausted,
        fmt::format("what is to be sent is more than {} files or {}, at {}; put the sources into a folder and name it "
                    "as source_dir, and name data by its path on the host",
                    kMaxUploadFiles, format_bytes(kMaxUploadBytes), printable(path.string()))};
  }

  const fs::path base_;
  std::vector<fs::path> left_out_;
  std::string text_;
  std::size_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

// A path of the job within its folder; empty: nothing is to be sent.
Result<std::string> name_within(std::string_view field, const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  if (path.empty() || normal.is_absolute() || path.find("://") != std::string::npos) return std::string();
  if (!normal.empty() && *normal.begin() != "..") return normal.string();
  return Status(Code::kInvalidArgument,
                fmt::format("{}: expected a path within the folder of the job's file, which is sent to the host, or a "
                            "whole path of the host, found \"{}\"",
                            field, printable(path)));
}

}  // namespace

Result<std::vector<std::string>> upload_names(const jobs::JobSpec& spec) {
  std::vector<std::pair<const char*, std::string>> named = {
      {"hook", spec.hook_config}, {"actions", spec.actions}, {"source_dir", spec.source_dir}};
  for (const std::string& folder : spec.dependencies) named.emplace_back("dependencies", folder);
  for (const jobs::Channel& channel : spec.inputs) named.emplace_back("inputs", channel.source);
  if (spec.source_dir.empty()) named.emplace_back("entry_point", spec.entry_point);
  std::vector<std::string> names;
  for (const auto& [field, path] : named) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string name, name_within(field, path));
    if (!name.empty()) names.push_back(name);
  }
  if (spec.source_dir.empty()) return std::vector<std::string>{"."};
  return names;
}

Status pack_upload(const fs::path& base, const std::vector<std::string>& names, const std::vector<fs::path>& left_out,
                   const UploadedText& spec, const fs::path& target) {
  const storage::Location beside(target.parent_path());
  TRAINWARDEN_RETURN_IF_ERROR(beside.storage().replace(spec.name, as_bytes(spec.text)));
  FileList files(base, left_out);
  for (const std::string& name : names) TRAINWARDEN_RETURN_IF_ERROR(files.add(name));
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor list, process::open_memory_file(files.text()));
  process::Program program;
  program.command = {"tar", "--create", "--gzip", "--no-recursion", "--file", target};
  program.command.insert(program.command.end(),
                         {"--directory", base, "--null", "--verbatim-files-from", "--files-from=-"});
  program.command.insert(program.command.end(), {"--directory", target.parent_path(), "--", spec.name});
  program.descriptors[STDIN_FILENO] = list.get();
  program.signals = process::SignalStart::all_default();
  program.ends_with_us = true;
  TRAINWARDEN_ASSIGN_OR_RETURN(const process::CapturedOutput packed,
                               process::capture_output(std::move(program), std::size_t{1} << 16, kPackTimeout));
  if (packed.exit.shell_code() == 0) return Status();
  return {Code::kFailedPrecondition, fmt::format("tar: {}", printable(trim(packed.errors)))};
}

}  // namespace trainwarden::ssh
