// BucketTransfer: what a job has in buckets, brought to this machine before its program starts, and back afterwards.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/environment.h"
#include "store/copy/copy_tree.h"
#include "trainwarden/status.h"
#include "work/jobs/job_order.h"

namespace trainwarden::workspace {

// The variables of who submitted the job, with those that the job sets: as whom its buckets are reached.
Environment environment_of_job(const jobs::JobOrder& order);

struct KeptFolder {
  std::string from, to;
  std::string what;                    // for messages: "checkpoints are"
  std::chrono::milliseconds quiet{0};  // files that were written within it are left for another time
  std::chrono::milliseconds interval{20'000};
};

// One thread at a time, but for the keeping, which has a thread of its own.
class BucketTransfer {
 public:
  explicit BucketTransfer(Environment environment) : environment_(std::move(environment)) {}

  // Called several times a second while something is copied; false ends that with kCancelled.
  void set_meanwhile(std::function<bool()> meanwhile) { meanwhile_ = std::move(meanwhile); }

  // Copies a file or a folder into the folder `to`; `what` is for messages. kNotFound: nothing is there.
  Status fetch(const std::string& from, const std::string& to, const std::string& what);
  // Makes `to` have all that is in the folder `from`; what is there besides stays.
  Status send(const std::string& from, const std::string& to, const std::string& what);

  // The same again and again, all that are kept side by side.
  void start_keeping(KeptFolder folder);
  void end_keeping();

 private:
  Status copy(const std::string& from, const std::string& to, bool is_sync, const copy::CopyOptions& options,
              const std::stop_token& stop) const;
  Status attended(const std::function<Status(const std::stop_token&)>& act) const;

  const Environment environment_;
  std::function<bool()> meanwhile_;
  std::vector<std::jthread> keepers_;
};

}  // namespace trainwarden::workspace
