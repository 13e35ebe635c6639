// MirrorSender: on a job's host, sends what is new of the job to who follows it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "trainwarden/status.h"
#include "work/jobs/job_record.h"
#include "work/ssh/mirror_files.h"
#include "work/ssh/mirror_frame.h"

namespace trainwarden::ssh {

// One thread at a time.
class MirrorSender {
 public:
  using Send = std::function<Status(const MirrorFrame& frame)>;

  MirrorSender(const jobs::JobRecord& job, Send send);

  // A file that the other end has already, as it is there.
  void note_known(const MirrorFrame& frame);
  // Sends all that has changed; the transitions last, so that what has ended is there whole when it says so. True when
  // the job had ended before. Errors: of Send, and of the folders.
  Result<bool> send_new();

 private:
  struct Sent {
    std::uint64_t bytes = 0;
    std::int64_t time_unix_ns = 0;
  };
  Status send_if_changed(const MirroredFile& file);
  Status send_from(const MirroredFile& file, std::uint64_t offset);

  const jobs::JobRecord& job_;
  MirroredFolders folders_;
  Send send_;
  std::map<std::string, Sent> sent_;  // by path
};

}  // namespace trainwarden::ssh
