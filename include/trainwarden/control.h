// Control: asks a running training to stop, or to save what it has, and waits for its answer.
//
//   const auto answer = trainwarden::request_stop("runs/first", {.reason = "the loss is flat"});
//   if (!answer.ok()) ...  // it has not answered in time: the request stays, and it stops when it reads it
//
// A request is a file in the run's control folder, which the hook of the training reads: in this process, in another,
// or on another machine that shares the folder. Each may be called from any thread, by many at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "trainwarden/export.h"
#include "trainwarden/status.h"

namespace trainwarden {

struct StopRequestOptions {
  std::string reason = "somebody asked for it";  // for people; the training and everybody who reads the run see it
  std::string requested_by = "user";
  // Names the request: a key asks once, however often it comes. [a-z0-9-], at most 100 of them. Empty: one of its own.
  std::string key;
  // Only the run with this id (Trial::run_id()), kFailedPrecondition when another one lies in the folder by now. Empty:
  // whichever lies there.
  std::string run_id;
  // "InProgress": only a run with this TrainingJobStatus, kFailedPrecondition otherwise. Empty: a run that is stopping
  // or has ended is fine as well, and nothing is asked of it.
  std::string if_status;
  bool wait = true;                           // false: leaves once the request is there
  std::chrono::milliseconds timeout{30'000};  // for the answer, kDeadlineExceeded then; what is left is for the end
  // What follows when there is no answer, or no end, in time, to the processes of this machine that write the run: to
  // no other ever.
  enum class Then : std::uint8_t {
    kNothing,
    kTerm,  // SIGTERM
    kKill,  // SIGTERM, and later SIGKILL
  };
  Then then = Then::kNothing;
  // For the end of a training that has answered until SIGTERM, and again until SIGKILL; of use with kTerm and kKill.
  std::chrono::milliseconds term_grace{120'000};
  std::stop_token stop{};      // stops waiting; kCancelled then
  std::function<void()> idle;  // called again and again while it waits
};

struct StopAnswer {
  std::string key;            // of the request
  std::string status_before;  // TrainingJobStatus: "InProgress"
  bool already = false;       // it was stopping, or had ended, before anything was asked
  bool accepted = false;      // it has said that it stops
  bool ended = false;         // nobody writes the run any more
  std::string story;          // what happened, for people
};

// kNotFound: no run. kFailedPrecondition: `if_status`, or a run that another recorder wrote. kPermissionDenied and the
// like: its folder cannot be written.
TRAINWARDEN_API Result<StopAnswer> request_stop(const std::filesystem::path& run_dir,
                                                const StopRequestOptions& options = {});

// As in StopRequestOptions.
struct SaveRequestOptions {
  std::string reason = "somebody asked for it";
  std::string requested_by = "user";
  std::string key;
  std::string run_id;
  bool wait = true;
  std::chrono::milliseconds timeout{300'000};  // until all is written
  std::stop_token stop{};
  std::function<void()> idle;
};

struct SaveAnswer {
  std::string key;         // of both requests
  bool saved = false;      // the checkpoint is there
  std::string checkpoint;  // where: relative to the run's folder, absolute, or a URL; empty when the program keeps it
  bool dumped = false;     // what the black box held is there
  std::string black_box;   // where, relative to the run's folder
  std::string story;       // what happened, for people
};

// Asks for a checkpoint and for the steps that the black box holds. Errors as request_stop, and kFailedPrecondition
// when there will be no checkpoint: the program does not say how it saves, or has ended. The message says why, and
// where the black box was written nevertheless.
TRAINWARDEN_API Result<SaveAnswer> request_save(const std::filesystem::path& run_dir,
                                                const SaveRequestOptions& options = {});

}  // namespace trainwarden
