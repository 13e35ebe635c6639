// MirrorReceiver: on this machine, writes what comes of a job from its host.
#pragma once

#include <string>

#include "core/base/file_descriptor.h"
#include "trainwarden/status.h"
#include "work/jobs/job_record.h"
#include "work/ssh/mirror_files.h"
#include "work/ssh/mirror_frame.h"

namespace trainwarden::ssh {

// Writes into the job's folder and into that of its run, only what mirror_files.h allows, and through no link. A file
// that is sent whole appears whole. One thread at a time.
class MirrorReceiver {
 public:
  explicit MirrorReceiver(const jobs::JobRecord& job);

  // What is here already, for the host: frames without bytes.
  Result<std::string> known() const;
  // A frame of the kind kFile. kPermissionDenied when the file is none of a job's; kDataLoss when it is no piece that
  // fits to what is here, or a transition that is here otherwise: the host's job is another one; those of the disk.
  Status receive(const MirrorFrame& frame);

 private:
  Status append(const MirrorFrame& frame) const;
  Status put(const MirrorFrame& frame) const;
  Status replace(const MirrorFrame& frame);

  MirroredFolders folders_;
  FileDescriptor coming_;  // the file that comes whole, under another name
  std::string coming_path_;
  std::uint64_t coming_bytes_ = 0;
};

}  // namespace trainwarden::ssh
