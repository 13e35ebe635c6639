// JobOrder: what is to be run, as it was submitted; written once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"
#include "work/jobs/backend.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::jobs {

// What it takes of its machine while it runs.
struct Needs {
  std::optional<std::int64_t> cpus;  // nothing: all that there are
  std::optional<std::int64_t> gpus;  // the same
  std::uint64_t memory_bytes = 0;    // 0: not counted
  bool whole_cores = false;          // no other job is to have a processor of its cores
  friend bool operator==(const Needs&, const Needs&) = default;
};

struct JobOrder {
  std::string name;
  std::int64_t submitted_unix_ns = 0;
  Backend backend = Backend::kLocal;
  std::string host;  // whose queue it is in; over ssh as ssh takes it; empty: nobody has chosen yet
  // `trainwarden run` with its options, but those that belong to an attempt; empty: the program is started by itself.
  std::vector<std::string> launcher;
  std::vector<std::string> program;                // and its arguments
  std::map<std::string, std::string> environment;  // beside that of whoever submits:
  std::string environment_file;                    // submitter_environment.h; empty: the agent's own
  std::string folder;                              // in which the program works
  std::string run;                                 // the path of its run
  Needs needs;
  Binding binding = Binding::kNone;  // of its ranks to processors
  std::int64_t ranks = 1;            // how many processes the program has, on all nodes together
  std::int64_t priority = 0;
  double max_run_seconds = 0;                 // of all attempts together
  std::optional<double> max_wait_seconds;     // from its submission to its end
  std::optional<double> max_pending_seconds;  // from its submission to its first start
  std::int64_t retries = 0;                   // after faults that are not the program's
  bool preemptible = false;                   // goes on, as often as need be, when it was asked to make room
  double grace_seconds = 120;                 // from SIGTERM to SIGKILL
  std::string array;                          // of jobs, which it belongs to; empty: none
  std::string repeats;                        // the job that it was made from; empty: none
  std::string spec;                           // the text of the user's file
  std::string spec_file;                      // its path: where relative paths in it begin
  std::string seal;                           // of all this, for the folder of jobs (owner_seal.h); empty: none
  friend bool operator==(const JobOrder&, const JobOrder&) = default;
};

std::string encode_order(const JobOrder& order);  // one line of JSON
// kDataLoss when it is none, kUnimplemented when it is of a newer version; `what` names the text in the message.
Result<JobOrder> decode_order(std::string_view text, const std::string& what);

}  // namespace trainwarden::jobs
