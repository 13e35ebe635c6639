#include "work/jobs/job_markers.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/text.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::jobs {

Status JobMarkers::enter(const std::string& job) {
  TRAINWARDEN_RETURN_IF_ERROR(place_.storage().create_folder(""));
  const Status put = place_.storage().put_if_absent(job, {});
  return put.code() == Code::kAlreadyExists ? Status() : put;
}

Status JobMarkers::leave(const std::string& job) {
  if (!is_job_name(job)) return Status(Code::kInvalidArgument, "no name of a job");
  const std::filesystem::path file = place_.path() / job;
  if (::unlink(file.c_str()) == 0 || errno == ENOENT) return Status();
  return Status(Code::kInternal, fmt::format("cannot remove {}: {}", printable(file.string()), std::strerror(errno)));
}

Result<std::vector<std::string>> JobMarkers::names() const {
  Result<std::vector<std::string>> names = place_.storage().list("");
  if (names.status().code() == Code::kNotFound) return std::vector<std::string>();
  if (!names.ok()) return names;
  std::erase_if(*names, [](const std::string& name) { return !is_job_name(name); });
  return names;
}

std::optional<std::int64_t> JobMarkers::entered_unix_ns(const std::string& job) const {
  const Result<storage::FileInfo> info = place_.storage().info(job);
  if (!info.ok()) return std::nullopt;
  return info->changed_unix_ns;
}

}  // namespace trainwarden::jobs
