#include "hook/capture/operators/stack_log.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trainwarden::capture {

std::uint64_t CollectedStacks::count() const {
  std::uint64_t count = 0;
  for (const Thread& thread : threads) count += thread.calls.size();
  return count;
}

std::uint32_t StackLog::number_of(std::string_view name) noexcept {
  try {
    return names_.number_of(name);
  } catch (...) {  // no memory for it
    return OperatorNames::kOther;
  }
}

void StackLog::open(std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  threads_.clear();
  last_ns_ = now_ns;
  calls_ = 0;
  lost_ = 0;
  cost_ns_ = 0;
}

void StackLog::add(std::span<const ThreadStack> stacks, std::int64_t now_ns, std::int64_t cost_ns) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    cost_ns_ += cost_ns;
    if (now_ns <= last_ns_) return;  // it stands for no time
    ++samples_;
    for (const ThreadStack& stack : stacks.first(std::min(stacks.size(), kMaxThreads))) add_stack(stack);
    for (auto& [id, thread] : threads_) {
      if (thread.sample != samples_) end_from(thread, 0);
    }
    last_ns_ = now_ns;
  } catch (...) {
    // No memory, or no lock: the sample is not there, and the next one stands for its time.
  }
}

void StackLog::add_stack(const ThreadStack& stack) {
  if (threads_.size() >= kMaxTracks && threads_.count(stack.thread_id) == 0) return;
  Thread& thread = threads_[stack.thread_id];
  const std::string_view name = stack.thread_name.substr(0, OperatorNames::kMaxNameBytes);
  if (thread.name != name) {
    end_from(thread, 0);
    thread.name = name;
  }
  thread.sample = samples_;
  const auto frames = stack.frames.first(std::min(stack.frames.size(), kMaxDepth));
  std::size_t same = 0;
  while (same < std::min(frames.size(), thread.open.size()) && thread.open[same].frame == frames[same]) ++same;
  end_from(thread, same);
  for (const std::uint32_t frame : frames.subspan(same)) thread.open.push_back({frame, last_ns_});
}

// What is that deep or deeper has ended with the last sample.
void StackLog::end_from(Thread& thread, std::size_t depth) {
  for (std::size_t at = depth; at < thread.open.size(); ++at) {
    const Open& ended = thread.open[at];
    if (ended.start_ns >= last_ns_) continue;  // a step has ended since
    if (calls_ == kMaxCalls) {
      ++lost_;
      continue;
    }
    thread.calls.push_back({.start_ns = ended.start_ns,
                            .duration_ns = last_ns_ - ended.start_ns,
                            .name = ended.frame,
                            .kind = OperatorKind::kPythonStack});
    ++calls_;
  }
  thread.open.resize(depth);
}

CollectedStacks StackLog::take() {
  CollectedStacks collected;
  const std::lock_guard lock(mutex_);
  for (auto place = threads_.begin(); place != threads_.end();) {
    Thread& thread = place->second;
    std::vector<Open> open = thread.open;
    const bool is_gone = open.empty();
    end_from(thread, 0);
    for (Open& each : open) each.start_ns = last_ns_;
    thread.open = std::move(open);
    if (!thread.calls.empty())
      collected.threads.push_back({place->first, thread.name, std::exchange(thread.calls, {})});
    place = is_gone ? threads_.erase(place) : std::next(place);
  }
  collected.lost = std::exchange(lost_, 0);
  collected.cost_ns = std::exchange(cost_ns_, 0);
  calls_ = 0;
  return collected;
}

}  // namespace trainwarden::capture
