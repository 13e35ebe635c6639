// AttemptGroup: the control group of an attempt that runs, if it can have one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/process/program.h"
#include "work/jobs/allocation.h"
#include "work/jobs/attempt_setup.h"
#include "work/jobs/control_group.h"
#include "work/jobs/job_exit.h"

namespace trainwarden::jobs {

// One thread at a time.
class AttemptGroup {
 public:
  // Makes the group that the allocation names, with its limit of memory, and says in `setup` what came of it. That it
  // cannot be made is no error: the attempt runs without, and its setup says why.
  AttemptGroup(const Allocation& allocation, const std::string& key, std::filesystem::path root, AttemptSetup& setup);

  // The program enters it when it starts. Errors: those of open(2).
  Status put_in(process::Program& program);
  // What it has used, and whether its memory was used up. Without a group of its own a kill counts when one happened
  // around this process meanwhile and the program has ended so.
  void add_use(JobExit& exit) const;
  void end();  // kills what is left in it

 private:
  Status make(const Allocation& allocation, const std::string& key);
  std::optional<std::int64_t> kills_around() const;

  std::filesystem::path root_;
  std::optional<ControlGroup> group_;
  std::vector<FileDescriptor> entries_;
  std::optional<std::int64_t> kills_before_;
};

}  // namespace trainwarden::jobs
