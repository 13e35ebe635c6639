// ProfilerConfigFollower: looks at a profilerconfig.json while the training runs, as smdebug does at each step, has the
// training's workers record what it asks for, and the machine sampled as often as it says.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "data/foreign/smdebug_profiler_config.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

class ProfilerConfigFollower {
 public:
  // Samples the machine by what the file says, from this one's thread; returns what is done now, for people.
  using Sampling = std::function<std::string(const foreign::SmdebugProfilerConfig&)>;

  // In place of a run: the machine is sampled, and no worker is asked. Somebody else does so.
  static constexpr const char* kAsksNobody = "";

  // Begins at once; waits for the run to appear. `known`: what was in the file when the program was started.
  ProfilerConfigFollower(std::filesystem::path file, std::filesystem::path run, foreign::SmdebugProfilerConfig known,
                         Sampling sampling);

 private:
  void follow_config(const std::stop_token& stop);
  void look_at_file();
  void take_config(const foreign::SmdebugProfilerConfig& now);
  void ask_when_due();
  Status ask_for(const foreign::SmdebugProfileRange& range);

  const std::filesystem::path file_;
  const std::filesystem::path run_;
  foreign::SmdebugProfilerConfig known_;
  const Sampling sampling_;
  std::filesystem::file_time_type changed_{};  // none: it may have changed since it was read, and is looked at anew
  std::optional<foreign::SmdebugProfileRange> due_;  // asked for, and not yet passed on
  std::jthread thread_;                              // last: it uses all of the above
};

}  // namespace trainwarden::cli
