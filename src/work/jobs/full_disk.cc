#include "work/jobs/full_disk.h"

#include <sys/statvfs.h>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::jobs {
namespace {

constexpr std::uint64_t kLeastBytes = std::uint64_t{64} << 10;  // for a transition, and how its program ended

bool is_full(const std::string& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return false;
  const bool counts_files = disk.f_files > 0;
  return disk.f_bavail * disk.f_frsize < kLeastBytes || (counts_files && disk.f_favail == 0);
}

}  // namespace

std::string full_disk_notice(const JobRecord& job) {
  if (!job.place().folder()) return "";
  const std::string folder = job.place().absolute().path().string();
  if (!is_full(folder)) return "";
  return fmt::format("the disk of {} is full: what has happened since may not be written; make room on it",
                     printable(folder));
}

}  // namespace trainwarden::jobs
