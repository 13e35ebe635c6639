#include "ui/cli/commands/submit_request.h"

#include <unistd.h>

#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/terminal/output.h"
#include "work/sagemaker/job_request.h"
#include "work/workspace/layout.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhatARequestIs = R"(a request of SageMaker's API: JSON, as in {"TrainingJobName": ...})";

// A folder of its own for each attempt to submit: another one under the same name may be at it.
std::string folder_name() {
  return fmt::format("{}{:x}-{}", sagemaker::kRequestPrefix, system_clock().unix_ns(), ::getpid());
}

// Of the disk that the folder of jobs is on, or will be; 0: not known.
std::uint64_t free_disk_bytes(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  const fs::space_info space = fs::space(folder, error);
  return error ? 0 : space.available;
}

Status cannot(const char* what, const fs::path& path, const std::error_code& error) {
  if (error == std::errc::file_exists) {
    return Status(Code::kAlreadyExists, fmt::format("{} is there already", printable(path.string())));
  }
  return Status(Code::kPermissionDenied, fmt::format("{} {}: {}", what, printable(path.string()), error.message()));
}

}  // namespace

Result<sagemaker::RequestFiles> read_job_request(const RequestChoice& choice) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, read_job_text(choice.file, kWhatARequestIs));
  return sagemaker::files_of_request(
      text, {fs::current_path(), choice.jobs, folder_name(), choice.name, free_disk_bytes(choice.jobs)});
}

OrderedJson request_json(const sagemaker::RequestFiles& files) {
  OrderedJson texts = OrderedJson::object();
  for (const auto& [name, text] : files.texts) texts[name] = text;
  return {{"job", files.name}, {"folder", files.folder.string()}, {"files", texts}, {"notices", files.notices}};
}

RequestedJob::RequestedJob(std::string name, fs::path folder) : name_(std::move(name)), folder_(std::move(folder)) {}

RequestedJob::RequestedJob(RequestedJob&& other) noexcept
    : name_(std::move(other.name_)),
      folder_(std::exchange(other.folder_, {})),
      link_(std::move(other.link_)),
      outputs_(std::move(other.outputs_)),
      made_(std::move(other.made_)) {}

RequestedJob::~RequestedJob() {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  fs::remove(folder_.parent_path(), ignored);  // unless another job of this name is there
  if (!link_.empty()) fs::remove(link_, ignored);
  for (const fs::path& folder : made_) fs::remove(folder, ignored);
}

std::string RequestedJob::spec() const {
  return (folder_ / sagemaker::kJobFile).string();
}

Result<RequestedJob> RequestedJob::make(const RequestChoice& choice) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const sagemaker::RequestFiles files, read_job_request(choice));
  RequestedJob made(files.name, files.folder);
  TRAINWARDEN_RETURN_IF_ERROR(made.write(files));
  if (!files.captured.empty()) {
    TRAINWARDEN_RETURN_IF_ERROR(made.link_run(files.captured, choice.runs / files.name));
  }
  made.outputs_ = files.outputs;
  TRAINWARDEN_RETURN_IF_ERROR(made.make_outputs());
  for (const std::string& notice : files.notices) emit(stderr, "trainwarden: warning: {}\n", notice);
  return made;
}

Status RequestedJob::make_outputs() {
  for (const auto& [name, folder] : outputs_) {
    std::error_code error;
    if (fs::create_directories(folder, error)) made_.push_back(folder);
    if (error) return cannot("cannot make", folder, error);
  }
  return Status();
}

Status RequestedJob::write(const sagemaker::RequestFiles& files) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return cannot("cannot make", folder_, error);
  for (const auto& [name, text] : files.texts) {
    std::ofstream file(folder_ / name, std::ios::binary);
    file << text;
    file.close();
    if (!file) return Status(Code::kResourceExhausted, "cannot write " + printable((folder_ / name).string()));
  }
  if (files.script.empty()) return Status();
  const fs::path script = files.script;
  fs::create_directory(folder_ / sagemaker::kCodeFolder, error);
  if (!error) fs::copy_file(script, folder_ / sagemaker::kCodeFolder / script.filename(), error);
  return error ? cannot("cannot copy", script, error) : Status();
}

// The run is also found where SageMaker would have put its tensors.
Status RequestedJob::link_run(const std::string& address, const fs::path& run) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const fs::path place, workspace::local_path(address, fs::current_path()));
  const fs::path link = place / name_ / "debug-output";
  std::error_code error;
  fs::create_directories(link.parent_path(), error);
  if (!error) fs::create_directory_symlink(run, link, error);
  if (error) return cannot("debugger_hook_config: s3_output_path: cannot make", link, error);
  link_ = link;
  return Status();
}

}  // namespace trainwarden::cli
