#include "work/jobs/attempt_group.h"

#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/base/text_file.h"

namespace trainwarden::jobs {
namespace {

constexpr const char* kNothingSetAside =
    "no control group is set aside for jobs (trainwarden job queue --control-group)";
constexpr int kKilledCode = 128 + SIGKILL;  // as shells and container engines hand it on

bool ended_by_a_kill(const JobExit& exit) {
  return exit.signal == SIGKILL || exit.code == kKilledCode;
}

}  // namespace

AttemptGroup::AttemptGroup(const Allocation& allocation, const std::string& key, std::filesystem::path root,
                           AttemptSetup& setup)
    : root_(std::move(root)), kills_before_(kills_around()) {
  const Status made = make(allocation, key);
  if (group_) setup.control_group = allocation.control_group;
  if (!made.ok() && !allocation.control_group.empty()) log(LogLevel::kWarning, "{}", made.message());
  if (allocation.memory_bytes == 0) return;
  setup.memory = made.ok() ? fmt::format("{} at most: {}", format_bytes(allocation.memory_bytes), group_->describe())
                           : "counted, and not enforced: " + made.message();
}

Status AttemptGroup::make(const Allocation& allocation, const std::string& key) {
  if (allocation.control_group.empty()) return Status(Code::kNotFound, kNothingSetAside);
  TRAINWARDEN_ASSIGN_OR_RETURN(group_, ControlGroup::create(root_, allocation.control_group, key));
  return allocation.memory_bytes == 0 ? Status() : group_->limit_memory(allocation.memory_bytes);
}

Status AttemptGroup::put_in(process::Program& program) {
  if (!group_) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(entries_, group_->entries());
  for (const FileDescriptor& entry : entries_) program.control_groups.push_back(entry.get());
  return Status();
}

std::optional<std::int64_t> AttemptGroup::kills_around() const {
  return memory_kills_around(root_, read_text_file("/proc/self/cgroup").value_or(""));
}

void AttemptGroup::add_use(JobExit& exit) const {
  const bool succeeded = exit.code == 0;
  if (group_) {
    const GroupUse use = group_->use();
    exit.out_of_memory = use.memory_kills > 0 && !succeeded;
    if (use.peak_memory_bytes) exit.peak_memory_bytes = use.peak_memory_bytes;
    if (use.cpu_ns) exit.cpu_ns = use.cpu_ns;
  }
  const std::optional<std::int64_t> kills = kills_around();
  const bool killed_around = kills && kills_before_ && *kills > *kills_before_;
  if (killed_around && ended_by_a_kill(exit) && !exit.killed) exit.out_of_memory = true;
}

void AttemptGroup::end() {
  if (!group_) return;
  if (const Status ended = group_->end(); !ended.ok()) log(LogLevel::kWarning, "{}", ended.message());
}

}  // namespace trainwarden::jobs
