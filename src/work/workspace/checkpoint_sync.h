// CheckpointSync: checkpoints from the folder in which the program writes them to the one in which they are kept, and
// back before it starts.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "trainwarden/status.h"

namespace trainwarden::workspace {

// Nothing is ever deleted in the kept folder. A file is copied under another name first, so that it is there whole or
// not at all, and only when it has not been written for a moment: the program may be at it. All methods belong to one
// thread; the copying while the program runs has a thread of its own.
class CheckpointSync {
 public:
  CheckpointSync(std::filesystem::path written, std::filesystem::path kept);
  ~CheckpointSync();

  // Makes both folders, and brings what is kept and not there to where the program looks for it.
  Status restore();
  void start(std::chrono::milliseconds interval = std::chrono::seconds(5));
  // Ends the thread, and copies what is new, also what was written just now.
  Status finish();

 private:
  struct Seen {
    std::uint64_t bytes = 0;
    std::filesystem::file_time_type changed;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  Status copy_new(std::chrono::milliseconds quiet);

  std::filesystem::path written_;
  std::filesystem::path kept_;
  std::map<std::string, Seen> copied_;  // by path within
  std::jthread thread_;
};

}  // namespace trainwarden::workspace
