// RankProcess: one rank of a job. It prints into a log of its own, and never waits for anybody to read it; its lines
// are printed again for the job's output, with the rank before each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/process/child.h"
#include "core/process/signal_relay.h"
#include "trainwarden/status.h"
#include "work/jobs/job_record.h"
#include "work/log_metrics/record_splitter.h"
#include "work/output/log_tail.h"
#include "work/ranks/rank_place.h"

namespace trainwarden::ranks {

// What the ranks of an attempt share. The references must outlive them.
struct RankSurroundings {
  jobs::JobRecord& job;
  int attempt = 1;
  process::SignalRelay& signals;
  std::function<void(std::string_view)> print;  // gets whole lines
};

// One thread at a time.
class RankProcess {
 public:
  // The program, with torchrun_variables(), in a process group of its own; it is ended when this process goes, in
  // whatever way. Errors as Child::start(), and those of making its log.
  static Result<RankProcess> start(const std::vector<std::string>& program, const RankPlace& place,
                                   const RankSurroundings& surroundings);

  std::int64_t rank() const { return rank_; }
  bool runs() const { return !child_.reaped(); }
  process::Child& child() { return child_; }

  void print_new();  // what it has printed since the last call, as whole lines
  // When it has ended: prints the rest, kills what it has left behind, and says how it ended. Nothing: it runs.
  const process::ExitRecord* try_end();
  // As the first rank that failed, which is the job's cause; fine when another one was first.
  Status record_failure(const process::ExitRecord& end);

 private:
  RankProcess(std::int64_t rank, process::Child child, output::LogTail log, const RankSurroundings& surroundings);

  std::int64_t rank_;
  process::Child child_;
  output::LogTail log_;
  log_metrics::RecordSplitter lines_;
  const RankSurroundings* around_;
};

bool has_failed(const process::ExitRecord& end);

}  // namespace trainwarden::ranks
