// TrackLog: calls whose times somebody else took, on tracks that are named, on their way to the thread that collects
// them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "hook/capture/operators/call_log.h"

namespace trainwarden::capture {

// What was collected of them when a step ended.
struct CollectedTracks {
  struct Track {
    std::uint64_t id = 0;  // in the order of their first calls
    std::string name;
    std::vector<LoggedCall> calls;
  };
  std::vector<Track> tracks;  // that have calls
  std::uint64_t lost = 0;

  std::uint64_t count() const;
};

// Any thread, under a lock: there are some dozen calls a step.
class TrackLog {
 public:
  static constexpr std::size_t kMaxTracks = 1024;                 // what others have is lost
  static constexpr std::size_t kMaxCalls = std::size_t{1} << 17;  // that wait to be collected; what comes then is lost

  // A window begins. What is left of the one before is thrown away.
  void open();
  void add(std::string_view track, const LoggedCall& call) noexcept;
  // What was added since the last time.
  CollectedTracks take();

 private:
  struct Track {
    std::uint64_t id = 0;
    std::vector<LoggedCall> calls;
  };

  std::mutex mutex_;  // guards the rest
  std::map<std::string, Track, std::less<>> tracks_;
  std::size_t calls_ = 0;  // of all tracks
  std::uint64_t lost_ = 0;
};

}  // namespace trainwarden::capture
