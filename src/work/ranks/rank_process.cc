#include "work/ranks/rank_process.h"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/process/descriptors.h"
#include "core/process/program.h"
#include "work/jobs/confinement.h"
#include "work/jobs/job_exit.h"

namespace trainwarden::ranks {
namespace {

Result<process::Child> start_child(const std::vector<std::string>& command, const RankPlace& place,
                                   const FileDescriptor& log, const process::SignalRelay& signals) {
  process::Program program;
  program.command = command;
  program.environment.set = torchrun_variables(place);
  program.descriptors = {{STDOUT_FILENO, log.get()}, {STDERR_FILENO, log.get()}};
  program.own_group = true;
  program.ends_with_us = true;
  program.signals.blocked = signals.original_mask();
  program.signals.reset = signals.to_reset();
  return process::Child::start(program);
}

// To the processors that the agent has given out, if it has; of ranks on this machine alone.
Result<jobs::Confinement> bind(const RankPlace& place, const RankSurroundings& surroundings) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto setup, surroundings.job.read_setup(surroundings.attempt));
  const auto rank = static_cast<std::size_t>(place.local_rank);
  if (!setup || setup->rank_cpus.size() <= rank) return jobs::Confinement::to(std::nullopt);
  return jobs::Confinement::to(setup->rank_cpus[rank]);
}

}  // namespace

Result<RankProcess> RankProcess::start(const std::vector<std::string>& program, const RankPlace& place,
                                       const RankSurroundings& surroundings) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::filesystem::path file, surroundings.job.prepare_rank_log(place.rank));
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor log, process::open_log_file(file.string()));
  TRAINWARDEN_ASSIGN_OR_RETURN(output::LogTail tail, output::LogTail::open_at_end(file));
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Confinement bound, bind(place, surroundings));
  TRAINWARDEN_ASSIGN_OR_RETURN(process::Child child, start_child(program, place, log, surroundings.signals));
  return RankProcess(place.rank, std::move(child), std::move(tail), surroundings);
}

RankProcess::RankProcess(std::int64_t rank, process::Child child, output::LogTail log,
                         const RankSurroundings& surroundings)
    : rank_(rank), child_(std::move(child)), log_(std::move(log)), around_(&surroundings) {}

void RankProcess::print_new() {
  const auto print = [this](const log_metrics::LogRecord& record) {
    around_->print(fmt::format("[{}] {}\n", rank_, record.text));
  };
  for (;;) {
    const Result<std::string_view> bytes = log_.read();
    if (!bytes.ok() || bytes->empty()) break;  // an error of the system's: the log itself is whole
    lines_.append(*bytes, print);
  }
  if (!runs()) lines_.finish(print);
}

const process::ExitRecord* RankProcess::try_end() {
  if (!child_.has_ended()) return nullptr;
  child_.kill_group();
  print_new();
  return &child_.reap();
}

Status RankProcess::record_failure(const process::ExitRecord& end) {
  jobs::JobExit exit;
  exit.rank = rank_;
  exit.wall_ns = end.wall.count();
  if (end.how == process::ExitRecord::How::kExited) exit.code = end.number;
  if (end.how == process::ExitRecord::How::kSignalled) exit.signal = end.number;
  const Status written = around_->job.write_first_failure(around_->attempt, exit);
  return written.code() == Code::kAlreadyExists ? Status() : written;
}

bool has_failed(const process::ExitRecord& end) {
  return end.how != process::ExitRecord::How::kExited || end.number != 0;
}

}  // namespace trainwarden::ranks
