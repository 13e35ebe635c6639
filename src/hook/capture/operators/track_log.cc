#include "hook/capture/operators/track_log.h"

#include <utility>

#include "hook/capture/operators/operator_names.h"

namespace trainwarden::capture {

std::uint64_t CollectedTracks::count() const {
  std::uint64_t count = 0;
  for (const Track& track : tracks) count += track.calls.size();
  return count;
}

void TrackLog::open() {
  const std::lock_guard lock(mutex_);
  tracks_.clear();
  calls_ = 0;
  lost_ = 0;
}

void TrackLog::add(std::string_view track, const LoggedCall& call) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    const std::string_view name = track.substr(0, OperatorNames::kMaxNameBytes);
    auto found = tracks_.find(name);
    if (calls_ == kMaxCalls || (found == tracks_.end() && tracks_.size() == kMaxTracks)) {
      ++lost_;
      return;
    }
    if (found == tracks_.end()) found = tracks_.emplace(name, Track{tracks_.size(), {}}).first;
    found->second.calls.push_back(call);
    ++calls_;
  } catch (...) {  // no memory for it
    ++lost_;
  }
}

CollectedTracks TrackLog::take() {
  const std::lock_guard lock(mutex_);
  CollectedTracks collected;
  for (auto& [name, track] : tracks_) {
    if (!track.calls.empty()) collected.tracks.push_back({track.id, name, std::exchange(track.calls, {})});
  }
  calls_ = 0;
  collected.lost = std::exchange(lost_, 0);
  return collected;
}

}  // namespace trainwarden::capture
