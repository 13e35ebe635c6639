#include "typed_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/process/child.h"
#include "core/process/descriptors.h"

namespace trainwarden::bench {

Result<process::ExitRecord> run_typed(const std::vector<std::string>& words,
                                      const process::EnvironmentChanges& changes) {
  process::Program program;
  program.command = {TW_CLI};
  program.command.insert(program.command.end(), words.begin(), words.end());
  program.environment = changes;
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor null, process::open_null());
  program.descriptors = {{1, null.get()}, {2, null.get()}};
  TRAINWARDEN_ASSIGN_OR_RETURN(process::Child child, process::Child::start(program));
  if (!child.wait_for(std::chrono::minutes(2))) {
    return Status(Code::kDeadlineExceeded, fmt::format("trainwarden {} takes two minutes", fmt::join(words, " ")));
  }
  const process::ExitRecord& record = child.reap();
  if (record.shell_code() != 0) {
    return Status(Code::kInternal,
                  fmt::format("trainwarden {} ended with {}", fmt::join(words, " "), record.shell_code()));
  }
  return record;
}

}  // namespace trainwarden::bench
