// Upload: the files of this machine that a job needs on its host, in one archive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::ssh {

inline constexpr std::uint64_t kMaxUploadBytes = std::uint64_t{256} << 20;
inline constexpr std::size_t kMaxUploadFiles = 20'000;

// What is to be sent, as paths within the folder of the job's file: with a source_dir what the job names, without one
// all that lies there, since the program works in that folder. Absolute paths mean files of the host, and are not sent.
// kInvalidArgument for a path that leads out of the folder.
Result<std::vector<std::string>> upload_names(const jobs::JobSpec& spec);

struct UploadedText {
  std::string name;
  std::string text;
};

// Packs these of `base` into a new archive, `target`, and the job's own text, as it was checked. Left out: .git,
// __pycache__, the folders in `left_out`, and what is neither file, folder nor link; links are sent as links.
// kResourceExhausted when it is more than the limits. Asks the program `tar` of GNU; kFailedPrecondition when it is
// missing or fails.
Status pack_upload(const std::filesystem::path& base, const std::vector<std::string>& names,
                   const std::vector<std::filesystem::path>& left_out, const UploadedText& spec,
                   const std::filesystem::path& target);

}  // namespace trainwarden::ssh
