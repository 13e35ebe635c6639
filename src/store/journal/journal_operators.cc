#include "store/journal/journal_operators.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

namespace trainwarden::journal {
namespace {

// Frames of one step become one batch again.
class BatchMerger {
 public:
  explicit BatchMerger(std::int64_t global_step) { batch_.global_step = global_step; }

  // In the order of writing: the parts of a batch follow one another.
  void add(format::OperatorPart part) {
    if (part.part <= last_part_ || part.batch_calls != batch_calls_) end_batch();
    last_part_ = part.part;
    batch_calls_ = part.batch_calls;
    found_calls_ += part.batch.calls.size();
    batch_.mode = part.batch.mode;
    lose(part.batch.lost_calls);
    if (part.batch.calls.size() > kMaxOperatorCalls - batch_.calls.size() ||
        part.batch.memory.size() > kMaxMemoryChanges - batch_.memory.size()) {
      return lose(part.batch.calls.size());
    }
    take(part.batch);
  }

  OperatorBatch finish() {
    end_batch();
    const auto call_before = [](const OperatorCall& a, const OperatorCall& b) {
      return std::tuple(a.track, a.start_unix_ns, b.duration_ns) < std::tuple(b.track, b.start_unix_ns, a.duration_ns);
    };
    const auto change_before = [](const MemoryChange& a, const MemoryChange& b) { return a.unix_ns < b.unix_ns; };
    sort_if_needed(batch_.calls, call_before);
    sort_if_needed(batch_.memory, change_before);
    return std::move(batch_);
  }

 private:
  using TrackKey = std::tuple<std::string, std::uint64_t, bool>;

  template <class T, class Before>
  static void sort_if_needed(std::vector<T>& all, Before before) {
    if (!std::is_sorted(all.begin(), all.end(), before)) std::stable_sort(all.begin(), all.end(), before);
  }

  // What the batch said to have and did not bring is lost.
  void end_batch() {
    if (batch_calls_ > found_calls_) lose(batch_calls_ - found_calls_);
    last_part_ = -1;
    batch_calls_ = found_calls_ = 0;
  }

  void lose(std::uint64_t calls) {
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - batch_.lost_calls;
    batch_.lost_calls += std::min(calls, room);
  }

  void take(OperatorBatch& part) {
    std::vector<std::uint32_t> names;
    std::vector<std::uint32_t> tracks;
    for (std::string& name : part.names) names.push_back(name_index(std::move(name)));
    for (OperatorTrack& track : part.tracks) tracks.push_back(track_index(std::move(track)));
    batch_.calls.reserve(batch_.calls.size() + part.calls.size());
    for (OperatorCall& call : part.calls) {
      call.name = names[call.name];
      call.track = tracks[call.track];
      batch_.calls.push_back(call);
    }
    batch_.memory.insert(batch_.memory.end(), part.memory.begin(), part.memory.end());
  }

  std::uint32_t name_index(std::string name) {
    const auto [known, added] = names_.try_emplace(name, static_cast<std::uint32_t>(batch_.names.size()));
    if (added) batch_.names.push_back(std::move(name));
    return known->second;
  }

  std::uint32_t track_index(OperatorTrack track) {
    const auto next = static_cast<std::uint32_t>(batch_.tracks.size());
    const auto [known, added] = tracks_.try_emplace(TrackKey(track.name, track.id, track.device), next);
    if (added) batch_.tracks.push_back(std::move(track));
    return known->second;
  }

  OperatorBatch batch_;
  std::unordered_map<std::string, std::uint32_t> names_;  // indexes into batch_.names
  std::map<TrackKey, std::uint32_t> tracks_;              // the same of tracks
  // Of the batch whose parts are coming.
  std::int64_t last_part_ = -1;
  std::uint64_t batch_calls_ = 0;
  std::uint64_t found_calls_ = 0;
};

}  // namespace

std::vector<std::int64_t> JournalOperators::steps() const {
  std::vector<std::int64_t> steps;
  for (const OperatorFrame& frame : contents_.operator_frames) steps.push_back(frame.step);
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

Result<OperatorBatch> JournalOperators::read(std::int64_t global_step) {
  BatchMerger merger(global_step);
  std::size_t read = 0;
  Status damage(Code::kNotFound, fmt::format("no operator calls were recorded in step {}", global_step));
  for (const OperatorFrame& frame : contents_.operator_frames) {
    if (frame.step != global_step) continue;
    Result<format::OperatorPart> part = frames_.operators(use_(frame.segment), frame.offset, global_step);
    if (part.ok()) {
      merger.add(*std::move(part));
      ++read;
    } else if (is_damage(part.status())) {
      damage = part.status();  // which was counted by whoever read it
    } else {
      return part.status();
    }
  }
  if (read == 0) return damage;
  return merger.finish();
}

}  // namespace trainwarden::journal
