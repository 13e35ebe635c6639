#include "read/transfer/kineto_steps.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/text.h"

namespace trainwarden::transfer {
namespace {

constexpr std::string_view kStepMark = "ProfilerStep#";
constexpr std::string_view kBatchMark = "enumerate(DataLoader)#";
constexpr std::string_view kOptimizerMark = "Optimizer.step#";

std::int64_t end_of(const OperatorCall& call) {
  return call.start_unix_ns + call.duration_ns;
}

// Names that are phases of the thread that calls.
struct NamedPhase {
  std::string_view prefix;
  std::string_view phase;
};
constexpr NamedPhase kNamedPhases[] = {
    {kBatchMark, "data_wait"},  {kOptimizerMark, "optimizer"}, {"Optimizer.zero_grad#", "zero_grad"},
    {"nccl:", "gradient_sync"}, {"gloo:", "gradient_sync"},    {"mpi:", "gradient_sync"},
    {"c10d::", "gradient_sync"}};

std::string_view marked_phase(std::string_view name) {
  for (const NamedPhase& named : kNamedPhases) {
    if (name.starts_with(named.prefix)) return named.phase;
  }
  return {};
}

// Operators around a forward pass and not in it: they copy, ask, begin a backward pass, or are of the profiler itself.
constexpr std::string_view kAround[] = {"aten::to",    "aten::_to_copy", "aten::copy_",     "aten::item",
                                        "aten::zeros", "aten::empty",    "aten::ones_like", "aten::_local_scalar_dense",
                                        "aten::detach"};

bool is_around(std::string_view name) {
  return std::find(std::begin(kAround), std::end(kAround), name) != std::end(kAround);
}

// A stretch of the training thread that is of a phase. Of two the one with the higher rank has the time, and of equal
// ones that which began later, for it lies within the other.
struct ThreadStretch {
  std::int64_t start_ns;
  std::int64_t end_ns;
  int rank;
  std::string_view phase;
};
constexpr int kForwardRank = 0, kBackwardRank = 1, kNamedRank = 2;

// What divides steps into phases, of the thread that trains.
class TrainingThread {
 public:
  explicit TrainingThread(const KinetoCalls& trace) : trace_(trace) {
    const auto marked = busiest(kStepMark);
    track_ = marked ? marked : busiest(kBatchMark);
    if (track_) find_stretches();
  }

  bool found() const { return track_.has_value(); }
  // Of calls of the thread whose name begins so.
  std::vector<const OperatorCall*> marked(std::string_view prefix) const {
    std::vector<const OperatorCall*> found;
    for (const OperatorCall& call : trace_.calls) {
      if (track_ && call.track == *track_ && name_of(call).starts_with(prefix)) found.push_back(&call);
    }
    return found;
  }
  // By their starts.
  const std::vector<ThreadStretch>& stretches() const { return stretches_; }
  std::int64_t last_end() const { return last_end_; }

 private:
  const std::string& name_of(const OperatorCall& call) const { return trace_.names[call.name]; }

  std::optional<std::uint32_t> busiest(std::string_view prefix) const {
    std::map<std::uint32_t, std::size_t> counts;
    for (const OperatorCall& call : trace_.calls) {
      if (name_of(call).starts_with(prefix)) ++counts[call.track];
    }
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == counts.end() ? std::nullopt : std::optional(most->first);
  }

  void find_stretches() {
    std::vector<ThreadStretch> forward, backward;
    const bool has_sequences = std::any_of(trace_.calls.begin(), trace_.calls.end(), [this](const OperatorCall& call) {
      return call.track == *track_ && call.sequence >= 0;
    });
    std::int64_t covered_to = std::numeric_limits<std::int64_t>::min();
    for (const OperatorCall& call : trace_.calls) {
      if (call.kind == OperatorKind::kBackward)
        backward.push_back({call.start_unix_ns, end_of(call), kBackwardRank, "backward"});
      if (call.track != *track_) continue;
      last_end_ = std::max(last_end_, end_of(call));
      const std::string& name = name_of(call);
      if (const std::string_view phase = marked_phase(name); !phase.empty()) {
        stretches_.push_back({call.start_unix_ns, end_of(call), kNamedRank, phase});
        covered_to = std::max(covered_to, end_of(call));
      } else if (call.kind == OperatorKind::kOperator && call.start_unix_ns >= covered_to) {
        covered_to = end_of(call);  // what it calls is in it
        if (is_around(name) || name.starts_with("cuda") || (has_sequences && call.sequence < 0)) continue;
        forward.push_back({call.start_unix_ns, end_of(call), kForwardRank, "forward"});
      }
    }
    const std::vector<ThreadStretch> named = stretches_;
    const std::vector<ThreadStretch> passes = joined(backward, {&named, &forward});
    append(joined(forward, {&named, &passes}));
    append(passes);
    std::sort(stretches_.begin(), stretches_.end(),
              [](const ThreadStretch& a, const ThreadStretch& b) { return a.start_ns < b.start_ns; });
  }

  void append(const std::vector<ThreadStretch>& more) { stretches_.insert(stretches_.end(), more.begin(), more.end()); }

  // Neighbours between which none of `others` begins, as one: from the first operator of a pass to its last.
  static std::vector<ThreadStretch> joined(const std::vector<ThreadStretch>& stretches,
                                           std::initializer_list<const std::vector<ThreadStretch>*> others) {
    std::vector<ThreadStretch> passes;
    for (const ThreadStretch& next : stretches) {
      const auto begins_between = [&](const std::vector<ThreadStretch>* other) {
        const auto at = std::lower_bound(other->begin(), other->end(), passes.back().end_ns,
                                         [](const ThreadStretch& a, std::int64_t ns) { return a.start_ns < ns; });
        return at != other->end() && at->start_ns < next.start_ns;
      };
      if (passes.empty() || std::any_of(others.begin(), others.end(), begins_between)) {
        passes.push_back(next);
      } else {
        passes.back().end_ns = std::max(passes.back().end_ns, next.end_ns);
      }
    }
    return passes;
  }

  const KinetoCalls& trace_;
  std::optional<std::uint32_t> track_;
  std::vector<ThreadStretch> stretches_;
  std::int64_t last_end_ = std::numeric_limits<std::int64_t>::min();
};

// Gives each nanosecond between two borders to one phase.
class PhaseSweep {
 public:
  // Stretches by their starts, steps by time.
  void run(const std::vector<ThreadStretch>& stretches, std::vector<KinetoStep>& steps) {
    std::size_t next = 0;
    for (KinetoStep& step : steps) {
      std::map<std::string_view, std::int64_t> spent;
      std::int64_t now = step.start_ns;
      while (now < step.end_ns) {
        while (next < stretches.size() && stretches[next].start_ns <= now) open_.insert(key_of(stretches[next++]));
        while (!open_.empty() && std::get<2>(*open_.rbegin()) <= now) open_.erase(std::prev(open_.end()));
        std::int64_t until = next < stretches.size() ? std::min(step.end_ns, stretches[next].start_ns) : step.end_ns;
        std::string_view phase = "rest";
        if (!open_.empty()) {
          until = std::min(until, std::get<2>(*open_.rbegin()));
          phase = std::get<3>(*open_.rbegin());
        }
        spent[phase] += until - now;
        now = until;
      }
      for (const auto& [phase, ns] : spent) step.phases[std::string(phase)] = static_cast<double>(ns) / 1e9;
    }
  }

 private:
  using Key = std::tuple<int, std::int64_t, std::int64_t, std::string_view>;  // rank, start, end, phase
  static Key key_of(const ThreadStretch& stretch) {
    return {stretch.rank, stretch.start_ns, stretch.end_ns, stretch.phase};
  }
  std::multiset<Key> open_;  // the last one has the time
};

// From each mark to the next.
std::vector<KinetoStep> steps_between(const std::vector<const OperatorCall*>& marks, std::int64_t end_ns) {
  std::vector<KinetoStep> steps;
  for (const OperatorCall* mark : marks) {
    if (!steps.empty() && steps.back().start_ns == mark->start_unix_ns) continue;
    if (steps.size() == kMaxKinetoSteps) break;
    if (!steps.empty()) steps.back().end_ns = mark->start_unix_ns;
    steps.push_back(
        {.number = static_cast<std::int64_t>(steps.size()), .start_ns = mark->start_unix_ns, .end_ns = end_ns});
  }
  if (!steps.empty()) steps.back().end_ns = std::max(steps.back().end_ns, steps.back().start_ns);
  return steps;
}

// Numbers of the profiler, if they rise.
void take_numbers(const std::vector<const OperatorCall*>& marks, const KinetoCalls& trace,
                  std::vector<KinetoStep>& steps) {
  if (marks.size() != steps.size()) return;
  std::vector<std::int64_t> numbers;
  for (const OperatorCall* mark : marks) {
    const auto number = parse_int(std::string_view(trace.names[mark->name]).substr(kStepMark.size()));
    if (!number || *number < 0 || (!numbers.empty() && *number <= numbers.back())) return;
    numbers.push_back(*number);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i].number = numbers[i];
}

// Behind the last step a loop asks for one more batch, and there is none: that is no step.
void drop_end_of_loop(const TrainingThread& thread, std::vector<KinetoStep>& steps) {
  const auto optimizers = thread.marked(kOptimizerMark);
  if (optimizers.empty() || steps.size() < 2) return;
  if (optimizers.back()->start_unix_ns < steps.back().start_ns) steps.pop_back();
}

}  // namespace

DividedTrace divide_trace(KinetoCalls& trace) {
  std::stable_sort(trace.calls.begin(), trace.calls.end(), [](const OperatorCall& a, const OperatorCall& b) {
    if (a.start_unix_ns != b.start_unix_ns) return a.start_unix_ns < b.start_unix_ns;
    return a.duration_ns > b.duration_ns;
  });
  DividedTrace divided;
  if (trace.calls.empty()) return divided;
  const TrainingThread thread(trace);
  if (const auto marks = thread.marked(kStepMark); !marks.empty()) {
    divided.marks = StepMarks::kProfilerSteps;
    divided.steps = steps_between(marks, end_of(*marks.back()));
    take_numbers(marks, trace, divided.steps);
  } else if (const auto batches = thread.marked(kBatchMark); !batches.empty()) {
    divided.marks = StepMarks::kBatches;
    divided.steps = steps_between(batches, thread.last_end());
    drop_end_of_loop(thread, divided.steps);
  } else {
    std::int64_t end_ns = 0;
    for (const OperatorCall& call : trace.calls) end_ns = std::max(end_ns, end_of(call));
    divided.steps = {{.number = 0, .start_ns = trace.calls.front().start_unix_ns, .end_ns = end_ns}};
    return divided;
  }
  PhaseSweep().run(thread.stretches(), divided.steps);
  return divided;
}

OperatorKind kineto_kind(std::string_view category, std::string_view name) {
  const std::string kind = lower(category);
  if (kind == "kernel") return OperatorKind::kKernel;
  if (kind == "memcpy" || kind == "memset" || kind == "gpu_memcpy" || kind == "gpu_memset") return OperatorKind::kCopy;
  if (kind == "python_function") return OperatorKind::kPythonStack;
  if (kind == "user_annotation") return OperatorKind::kUser;
  if (kind == "runtime" || kind == "cuda_runtime" || kind == "cuda_driver") return OperatorKind::kOperator;
  if (kind != "operator" && kind != "cpu_op") return OperatorKind::kUnknown;
  if (name.starts_with(kStepMark) || !marked_phase(name).empty()) {
    return name.starts_with("nccl:") || name.starts_with("gloo:") || name.starts_with("c10d::")
               ? OperatorKind::kOperator
               : OperatorKind::kUser;
  }
  const std::string_view plain = name.substr(0, name.find_last_not_of("0123456789") + 1);
  const bool is_node = name.starts_with("autograd::engine::evaluate_function: ") || plain.ends_with("Backward") ||
                       name.ends_with("AccumulateGrad");
  return is_node ? OperatorKind::kBackward : OperatorKind::kOperator;
}

}  // namespace trainwarden::transfer
