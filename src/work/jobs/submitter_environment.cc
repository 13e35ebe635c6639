#include "work/jobs/submitter_environment.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "core/base/file_descriptor.h"
#include "core/base/job_variables.h"
#include "core/base/text.h"
#include "store/storage/location.h"

namespace trainwarden::jobs {
namespace {

constexpr std::uint64_t kMaxEnvironmentBytes = std::uint64_t{8} << 20;
constexpr std::array<std::string_view, 3> kOfAJob = {variable::kJobName, variable::kJobDir, variable::kJobAttempt};

std::string name_of(std::string_view variable) {
  return std::string(variable.substr(0, variable.find('=')));
}

bool is_of_a_job(const std::string& name) {
  return std::find(kOfAJob.begin(), kOfAJob.end(), name) != kOfAJob.end();
}

Status write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return Status(Code::kResourceExhausted, fmt::format("cannot write the environment: {}", std::strerror(errno)));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return Status();
}

}  // namespace

Status write_submitter_environment(const std::filesystem::path& file, const std::vector<std::string>& environment) {
  std::string text;
  for (const std::string& variable : environment) {
    if (!is_of_a_job(name_of(variable))) text += variable + '\0';
  }
  const FileDescriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (made.is_open()) {
    const Status written = write_all(made.get(), text);
    if (!written.ok()) ::unlink(file.c_str());
    return written;
  }
  return Status(errno == EEXIST ? Code::kAlreadyExists : Code::kPermissionDenied,
                fmt::format("cannot write {}: {}", printable(file.string()), std::strerror(errno)));
}

Result<process::EnvironmentChanges> read_submitter_environment(const std::filesystem::path& file) {
  const storage::Location folder(file.parent_path());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text,
                               folder.storage().read(file.filename().string(), kMaxEnvironmentBytes));
  process::EnvironmentChanges changes;
  for (const std::string& ours : process::environment_with({})) changes.removed.push_back(name_of(ours));
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\0');
    const std::string_view variable = rest.substr(0, end);
    const std::size_t equals = variable.find('=');
    if (end == std::string_view::npos || equals == 0 || equals == std::string_view::npos) {
      return Status(Code::kDataLoss, fmt::format("{}: expected variables", printable(file.string())));
    }
    changes.set.emplace(variable.substr(0, equals), variable.substr(equals + 1));
    rest.remove_prefix(end + 1);
  }
  return changes;
}

}  // namespace trainwarden::jobs
