// RunContext: the run that an action acts on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "core/base/clock.h"
#include "data/format/request_id.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::actions {

// What the training has answered to a request in the run's control folder.
struct RunAnswer {
  bool ended = false;     // the training is over, answered or not
  bool accepted = false;  // this request, or for a stop any other one of this attempt
  bool done = false;      // what was asked for is there: the checkpoint, the dump
  std::string refused;    // why it will not
  std::string detail;     // where the checkpoint or the dump is, relative to the run's folder
};

struct RunContext {
  std::string name;
  std::filesystem::path path;
  storage::Storage* storage = nullptr;  // the run's; outlives every action
  const Clock* clock = &system_clock();
  std::string run_id;  // separates it from another run made in its folder; empty: nobody knows
  // Is it still this run that lies there? kFailedPrecondition when it is another one by now, kNotFound when none is.
  // From any thread. Null: nobody knows.
  std::function<Status()> still_there;
  // To this request. From any thread, cheap. Null: nobody listens, and actions do not wait.
  std::function<Result<RunAnswer>(const format::RequestId& request)> answer_to;
  // A global step that no worker of the run has reached yet, so that all can begin something at the same one. From any
  // thread; reads the run. Null: nobody knows.
  std::function<Result<std::int64_t>()> common_step{};
};

}  // namespace trainwarden::actions
