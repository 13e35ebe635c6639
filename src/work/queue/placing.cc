#include "work/queue/placing.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"

namespace trainwarden::queue {
namespace {

using Numbers = std::vector<int>;
using CoreOf = std::function<jobs::CpuPlace(int)>;

// What is free of one kind of device.
class FreeDevices {
 public:
  // `what`: one of them; more have an "s".
  FreeDevices(const Numbers& all, std::string_view what) : all_(all), free_(all), what_(what) {}

  void take(const std::optional<Numbers>& taken) {
    const Numbers& gone = taken ? *taken : all_;
    std::erase_if(free_, [&](int one) { return std::find(gone.begin(), gone.end(), one) != gone.end(); });
  }

  std::size_t wanted(std::optional<std::int64_t> count) const {
    return count ? static_cast<std::size_t>(*count) : all_.size();
  }

  bool could_fit(std::optional<std::int64_t> count) const { return wanted(count) <= all_.size(); }

  // Nothing when there are enough.
  std::optional<std::string> shortage(std::optional<std::int64_t> count) const {
    const std::size_t need = wanted(count);
    if (!could_fit(count))
      return fmt::format("needs {}, and there {} in all", counted(need),
                         all_.size() == 1 ? "is 1" : fmt::format("are {}", all_.size()));
    if (need > free_.size())
      return fmt::format("waits for {}: {} of {} free", counted(need), free_.size(), all_.size());
    return std::nullopt;
  }

  // As many as are wanted; as many as there are when they are not enough.
  Numbers pick(std::optional<std::int64_t> count) const {
    return {free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(std::min(wanted(count), free_.size()))};
  }

  // Only what is free by whole cores, side by side.
  FreeDevices in_whole_cores(const CoreOf& core_of) const {
    FreeDevices whole = *this;
    std::erase_if(whole.free_, [&](int one) { return shares_core(one, core_of); });
    std::sort(whole.free_.begin(), whole.free_.end(),
              [&](int a, int b) { return std::pair(core_of(a), a) < std::pair(core_of(b), b); });
    return whole;
  }

  // With these, all that is on their cores.
  Numbers with_rest_of_cores(const Numbers& numbers, const CoreOf& core_of) const {
    Numbers whole;
    for (const int one : all_) {
      const auto is_mate = [&](int other) { return core_of(one) == core_of(other); };
      if (std::any_of(numbers.begin(), numbers.end(), is_mate)) whole.push_back(one);
    }
    return whole;
  }

 private:
  // With one that is taken.
  bool shares_core(int number, const CoreOf& core_of) const {
    return std::any_of(all_.begin(), all_.end(), [&](int other) {
      return core_of(other) == core_of(number) && std::find(free_.begin(), free_.end(), other) == free_.end();
    });
  }

  std::string counted(std::size_t count) const { return fmt::format("{} {}{}", count, what_, count == 1 ? "" : "s"); }

  Numbers all_;
  Numbers free_;
  std::string what_;
};

class FreeMemory {
 public:
  explicit FreeMemory(std::uint64_t bytes) : all_(bytes), free_(bytes) {}
  void take(std::uint64_t bytes) { free_ -= std::min(bytes, free_); }
  bool could_fit(std::uint64_t bytes) const { return bytes <= all_; }
  std::optional<std::string> shortage(std::uint64_t bytes) const {
    if (!could_fit(bytes))
      return fmt::format("needs {}, and there are {} in all", format_bytes(bytes), format_bytes(all_));
    if (bytes <= free_) return std::nullopt;
    return fmt::format("waits for {}: {} of {} free", format_bytes(bytes), format_bytes(free_), format_bytes(all_));
  }

 private:
  std::uint64_t all_;
  std::uint64_t free_;
};

class Machine {
 public:
  explicit Machine(const Capacity& capacity)
      : cpus_(capacity.cpus, "processor"), gpus_(capacity.gpus, "GPU"), memory_(capacity.memory_bytes) {
    // One that nothing is said of is a core of its own.
    core_of_ = [topology = capacity.topology](int cpu) {
      const auto place = topology.find(cpu);
      return place == topology.end() ? jobs::CpuPlace{-1, cpu} : place->second;
    };
  }

  void take(const jobs::Allocation& allocation) {
    cpus_.take(allocation.cpus);
    gpus_.take(allocation.gpus);
    memory_.take(allocation.memory_bytes);
  }

  bool could_fit(const jobs::Needs& needs) const {
    return cpus_.could_fit(needs.cpus) && gpus_.could_fit(needs.gpus) && memory_.could_fit(needs.memory_bytes);
  }

  std::optional<std::string> shortage(const jobs::Needs& needs) const {
    const FreeDevices& free_cpus = needs.whole_cores ? cpus_.in_whole_cores(core_of_) : cpus_;
    if (auto cpus = free_cpus.shortage(needs.cpus)) return cpus;
    if (auto gpus = gpus_.shortage(needs.gpus)) return gpus;
    return memory_.shortage(needs.memory_bytes);
  }

  jobs::Allocation pick(const jobs::Needs& needs) const {
    return {pick_cpus(needs), gpus_.pick(needs.gpus), needs.memory_bytes};
  }

 private:
  Numbers pick_cpus(const jobs::Needs& needs) const {
    if (!needs.whole_cores) return cpus_.pick(needs.cpus);
    return cpus_.with_rest_of_cores(cpus_.in_whole_cores(core_of_).pick(needs.cpus), core_of_);
  }

  CoreOf core_of_;
  FreeDevices cpus_;
  FreeDevices gpus_;
  FreeMemory memory_;
};

// A job that says nothing is not confined to numbers: what it gets is the machine.
jobs::Allocation given(jobs::Allocation picked, const jobs::Needs& needs) {
  if (!needs.cpus) picked.cpus.reset();
  if (!needs.gpus) picked.gpus.reset();
  return picked;
}

}  // namespace

Placing place(std::vector<WaitingJob> waiting, const std::vector<jobs::Allocation>& running, const Capacity& capacity) {
  const auto order = [](const WaitingJob& job) { return std::tuple(-job.priority, job.submitted_unix_ns, job.name); };
  std::sort(waiting.begin(), waiting.end(),
            [&](const WaitingJob& a, const WaitingJob& b) { return order(a) < order(b); });
  Machine machine(capacity);
  for (const jobs::Allocation& one : running) machine.take(one);
  Placing placing;
  for (const WaitingJob& job : waiting) {
    const std::optional<std::string> shortage = machine.shortage(job.needs);
    const jobs::Allocation picked = machine.pick(job.needs);  // or what is kept for it
    if (shortage) {
      placing.reasons[job.name] = *shortage;
    } else {
      placing.starts[job.name] = given(picked, job.needs);
    }
    if (machine.could_fit(job.needs)) machine.take(picked);
  }
  return placing;
}

}  // namespace trainwarden::queue
