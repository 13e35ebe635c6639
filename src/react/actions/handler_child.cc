#include "react/actions/handler_child.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/base/hook_variables.h"

namespace trainwarden::actions {
namespace {

// Ours, but a handler is no training that is to be watched.
process::EnvironmentChanges handler_environment(std::map<std::string, std::string> added) {
  process::EnvironmentChanges changes;
  changes.set = std::move(added);
  changes.set.emplace(variable::kAttach, "0");
  const char* preloaded = std::getenv("LD_PRELOAD");
  const bool preloads_us =
      preloaded != nullptr && std::string_view(preloaded).find("trainwarden") != std::string_view::npos;
  if (preloads_us) changes.removed.emplace_back("LD_PRELOAD");
  return changes;
}

}  // namespace

Result<HandlerChild> HandlerChild::start(const HandlerOptions& options, std::map<int, int> descriptors) {
  process::Program program;
  program.command = options.command;
  program.environment = handler_environment(options.environment);
  program.folder = options.folder;
  program.descriptors = std::move(descriptors);
  program.signals = process::SignalStart::usual();
  program.own_group = true;
  program.memory_bytes = options.memory_bytes;
  program.nice = options.nice;
  TRAINWARDEN_ASSIGN_OR_RETURN(process::Child child, process::Child::start(program));
  return HandlerChild(std::move(child));
}

HandlerChild::~HandlerChild() {
  if (!child_.reaped()) child_.kill_group();
}

HandlerEnd HandlerChild::reap() {
  using Ended = process::ExitRecord::How;
  const process::ExitRecord& record = child_.reap();
  HandlerEnd end;
  end.number = record.number;
  end.how = record.how == Ended::kExited      ? HandlerEnd::How::kExited
            : record.how == Ended::kSignalled ? HandlerEnd::How::kSignalled
                                              : HandlerEnd::How::kUnknown;
  return end;
}

}  // namespace trainwarden::actions
