// SshTarget: where a job lies on its host.
//
//   JOB/ssh/target.json      which host, and where on it; written before the job is sent there
//   JOB/ssh/submitted.json   the host has it: `trainwarden submit` there has said so, or the job was found there
//   JOB/ssh/connection.json  how the connection stands, as its follower has seen it last
//   JOB/ssh/follower.lock, .lease, .log   of the process that brings its files here (follower.h)
//   JOB/ssh/submitter.lock, .lease        of the process that sends it there
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/jobs/job_record.h"
#include "work/ssh/ssh_host.h"

namespace trainwarden::ssh {

struct SshTarget {
  SshHost host;
  std::string folder;             // there, whole: "/home/user/trainwarden", with jobs, runs and incoming in it
  std::vector<std::string> path;  // folders there, before those of PATH; relative ones begin in the home
  std::string id;                 // the job's, as no other has it; its files are sent to incoming/ID
  friend bool operator==(const SshTarget&, const SshTarget&) = default;
};

Result<std::string> make_target_id();
Status write_target(const storage::Location& job, const SshTarget& target);  // kAlreadyExists when it is there
Result<SshTarget> read_target(const storage::Location& job);                 // kNotFound, kDataLoss

Status write_submitted(const storage::Location& job);  // fine when it is there
bool is_submitted(const storage::Location& job);

struct Connection {
  enum class State : std::uint8_t {
    kStands,
    kUnreachable,  // the host
    kNotKept,      // it is reached, and what it sends cannot be kept here: a full disk
  };
  State state = State::kUnreachable;
  std::int64_t since_unix_ns = 0;
  std::string message;  // why it does not stand
};
Status write_connection(const storage::Location& job, const Connection& connection);
Result<std::optional<Connection>> read_connection(const storage::Location& job);

// Lines that set PATH there, to be followed by others.
std::string path_script(const std::vector<std::string>& path);
// Runs `trainwarden job WORDS` of this job there. Errors as run_on_host().
Result<std::string> ask_host(const SshTarget& target, const std::string& job, const std::vector<std::string>& words);
// What `job mirror` is started with there.
std::string mirror_script(const SshTarget& target, const std::string& job);

inline constexpr const char* kFollowerLease = "ssh/follower";
inline constexpr const char* kSubmitterLease = "ssh/submitter";
bool has_follower(const jobs::JobRecord& job, const Clock& clock);
bool is_being_submitted(const jobs::JobRecord& job, const Clock& clock);

// Who submitted it may have died before it was sent anywhere: a minute later it has failed.
Status give_up_unsent(jobs::JobRecord& job, const Clock& clock);

// Where the job stands as far as it is known here. Of one that has not ended the message says since when nothing comes
// of it: it may go on there, so nothing is concluded from that.
Result<jobs::Transition> standing(const jobs::JobRecord& job);

}  // namespace trainwarden::ssh
