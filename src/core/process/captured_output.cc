#include "core/process/captured_output.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/process/child.h"
#include "core/process/descriptors.h"
#include "core/process/output_tail.h"

namespace trainwarden::process {
namespace {

using std::chrono::milliseconds;

// So long as it runs, its end wakes us where the system can say so.
void wait_for_output(OutputTail& output, OutputTail& errors, const Child& child, milliseconds time) {
  const FileDescriptor end = child.open_end();
  std::array<pollfd, 3> events{pollfd{output.number(), POLLIN, 0}, pollfd{errors.number(), POLLIN, 0},
                               pollfd{end.get(), POLLIN, 0}};
  ::poll(events.data(), events.size(), static_cast<int>(time.count()));
  output.read();
  errors.read();
}

}  // namespace

Result<CapturedOutput> capture_output(Program program, std::size_t max_bytes, milliseconds timeout) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor null, open_null());
  TRAINWARDEN_ASSIGN_OR_RETURN(Pipe out, open_pipe());
  TRAINWARDEN_ASSIGN_OR_RETURN(Pipe err, open_pipe());
  program.descriptors.emplace(STDIN_FILENO, null.get());
  program.descriptors[STDOUT_FILENO] = out.writing.get();
  program.descriptors[STDERR_FILENO] = err.writing.get();
  program.own_group = true;
  TRAINWARDEN_ASSIGN_OR_RETURN(Child child, Child::start(program));
  OutputTail output(std::move(out.reading), max_bytes);
  OutputTail errors(std::move(err.reading), max_bytes);
  if (!child.wait_for(timeout, [&](milliseconds max) { wait_for_output(output, errors, child, max); })) {
    child.kill_group();
    return Status(Code::kDeadlineExceeded,
                  fmt::format("{} took longer than {} s", printable(program.command.front()), timeout.count() / 1000));
  }
  output.read();
  errors.read();
  return CapturedOutput{child.reap(), output.text(), errors.text()};
}

}  // namespace trainwarden::process
