#include "hook/capture/operators/operator_batch.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace trainwarden::capture {
namespace {

// The names of one batch, numbered as they come.
class BatchNames {
 public:
  BatchNames(const OperatorNames& names, OperatorBatch& batch) : names_(names), batch_(batch) {}

  std::uint32_t index_of(std::uint32_t number) {
    const auto [place, is_new] = indices_.try_emplace(number, static_cast<std::uint32_t>(batch_.names.size()));
    if (is_new) batch_.names.push_back(names_.name(number));
    return place->second;
  }

 private:
  const OperatorNames& names_;
  OperatorBatch& batch_;
  std::unordered_map<std::uint32_t, std::uint32_t> indices_;
};

// By track, then by start; of calls that begin together the longer one is around the other.
bool comes_before(const OperatorCall& a, const OperatorCall& b) {
  return std::tie(a.track, a.start_unix_ns, b.duration_ns) < std::tie(b.track, b.start_unix_ns, a.duration_ns);
}

template <class Thread>
std::vector<const Thread*> by_id(const std::vector<Thread>& all) {
  std::vector<const Thread*> threads;
  for (const Thread& thread : all) threads.push_back(&thread);
  std::sort(threads.begin(), threads.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  return threads;
}

// The calls of one track.
void add_track(OperatorTrack track, const std::vector<LoggedCall>& calls, std::int64_t unix_offset_ns,
               BatchNames& names, OperatorBatch& batch) {
  const auto index = static_cast<std::uint32_t>(batch.tracks.size());
  batch.tracks.push_back(std::move(track));
  for (const LoggedCall& call : calls) {
    batch.calls.push_back({.name = names.index_of(call.name),
                           .track = index,
                           .kind = call.kind,
                           .start_unix_ns = call.start_ns + unix_offset_ns,
                           .duration_ns = call.duration_ns,
                           .sequence = call.sequence});
  }
}

}  // namespace

OperatorBatch make_operator_batch(const StepCalls& step) {
  OperatorBatch batch;
  batch.global_step = step.id.global_step;
  batch.mode = step.id.mode;
  batch.lost_calls = step.calls.lost;
  batch.calls.reserve(step.calls.count() + step.calls.stacks.count());
  BatchNames names(step.names, batch);
  for (const CollectedCalls::Thread* thread : by_id(step.calls.threads)) {
    add_track({.name = fmt::format("thread {}", thread->id), .id = thread->id}, thread->calls,
              step.calls.unix_offset_ns, names, batch);
  }
  for (const CollectedTracks::Track& track : step.calls.tracks.tracks) {
    add_track({.name = track.name, .id = track.id}, track.calls, step.calls.unix_offset_ns, names, batch);
  }
  batch.memory = step.calls.memory;
  BatchNames frame_names(step.frame_names, batch);
  for (const CollectedStacks::Thread* thread : by_id(step.calls.stacks.threads)) {
    add_track({.name = fmt::format("python thread {}", thread->name), .id = thread->id}, thread->calls,
              step.calls.unix_offset_ns, frame_names, batch);
  }
  std::stable_sort(batch.calls.begin(), batch.calls.end(), comes_before);
  return batch;
}

}  // namespace trainwarden::capture
