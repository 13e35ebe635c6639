// RunMirror: keeps a run in a bucket while it is written, in a thread of its own.
#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "store/s3/bucket_mirror.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

struct MirrorPlan {
  std::filesystem::path run;
  std::string address;                          // "s3://BUCKET/PREFIX": the run's place there
  std::chrono::milliseconds interval{2'000};    // between two looks
  std::chrono::milliseconds patience{600'000};  // how long it is tried once the run is over
  bool takes_requests = false;                  // those that lie in the bucket reach the training
};

struct MirrorState {
  std::uint64_t files = 0, bytes = 0;                // sent so far
  std::uint64_t files_behind = 0, bytes_behind = 0;  // not there yet
  Status problem;                                    // of the last look
  bool is_done = false;                              // everything is there, and nothing more is to come
};

// The address with which `typed` was meant: "s3://bucket/runs/" is "s3://bucket/runs/NAME" of the run. kInvalidArgument
// when it is none of a bucket; kPermissionDenied when there are no credentials for one. The bucket is not asked.
Result<std::string> checked_mirror_address(const std::string& typed, const std::filesystem::path& run);

class RunMirror {
 public:
  // Starts at once; waits for the run to appear. `ends_by_itself`: when the run is over, whoever wrote it.
  RunMirror(MirrorPlan plan, bool ends_by_itself);

  MirrorState state() const;
  // Nobody writes the run any more: sends what is left, for as long as the plan's patience. From now on state() says
  // when that is done.
  void finish();
  // Leaves what is not there yet.
  void stop();
  bool has_ended() const;

 private:
  void work(const std::stop_token& stop);
  void follow(const std::stop_token& stop);
  bool is_over(bool is_quiet) const;
  bool take(const storage::MirrorRound& round, bool is_last);

  const MirrorPlan plan_;
  const bool ends_by_itself_;
  mutable std::mutex mutex_;
  MirrorState state_;
  bool finishing_ = false, ended_ = false;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace trainwarden::cli
