// Trial: tensors whose parts lie on several workers, put together.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "read/trial/sharding.h"
#include "trainwarden/trial.h"

namespace trainwarden {
namespace {

using trial::kShardsSignal;
using trial::Sharding;

// A worker writes the signal with its first step, and again when it changes: few steps have it.
constexpr std::size_t kMaxLooks = 64;

// What the worker said last before this global step ended, or first when that was later.
Result<std::optional<std::string>> shards_text(Trial& trial, std::int64_t global_step, const std::string& worker) {
  std::vector<std::int64_t> steps = trial.steps_of(kShardsSignal, Mode::kGlobal, Kept::kValue, true);
  std::reverse(steps.begin(), std::upper_bound(steps.begin(), steps.end(), global_step));
  steps.resize(std::min(steps.size(), kMaxLooks));
  for (const std::int64_t step : steps) {
    const auto value = trial.value(kShardsSignal, step, Mode::kGlobal, worker);
    if (value.status().code() == Code::kOutOfRange) continue;
    if (!value.ok()) return value.status();
    if (value->strings.size() == 1) return std::optional(value->strings[0]);
  }
  return std::optional<std::string>();
}

struct Parts {
  Sharding sharding;                                       // of any of them
  std::map<std::vector<std::int64_t>, std::string> owner;  // the first worker that has it, by part
};

Status take_part(Trial& trial, std::string_view tensor, std::int64_t global_step, const std::string& worker,
                 std::optional<Parts>& parts) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto text, shards_text(trial, global_step, worker));
  if (!text) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(auto sharding, trial::find_sharding(*text, trial::parameter_of(tensor)));
  if (!sharding) return Status();
  if (!parts) parts.emplace(Parts{*sharding, {}});
  if (!(parts->sharding.shape == sharding->shape) || parts->sharding.parts != sharding->parts) {
    return Status(Code::kDataLoss, fmt::format("workers do not agree on how {} is sharded", printable(tensor)));
  }
  parts->owner.try_emplace(std::move(sharding->part), worker);
  return Status();
}

Result<Parts> find_parts(Trial& trial, std::string_view tensor, std::int64_t global_step) {
  std::optional<Parts> parts;
  for (const std::string& worker : trial.workers()) {
    TRAINWARDEN_RETURN_IF_ERROR(take_part(trial, tensor, global_step, worker, parts));
  }
  if (!parts) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("the run does not say that {} is sharded over workers (signal {})", printable(tensor),
                              kShardsSignal));
  }
  const auto there = static_cast<std::int64_t>(parts->owner.size());
  if (there != parts->sharding.parts) {
    return Status(Code::kOutOfRange,
                  fmt::format("the run has {} of the {} parts of {}", there, parts->sharding.parts, printable(tensor)));
  }
  return std::move(*parts);
}

}  // namespace

Result<ShardedTensor> Trial::sharded(std::string_view tensor, std::int64_t step, Mode mode) {
  return no_throw([&]() -> Result<ShardedTensor> {
    TRAINWARDEN_RETURN_IF_ERROR(tensor_info(tensor).status());
    const std::int64_t global = global_step(mode, step).value_or(step);
    TRAINWARDEN_ASSIGN_OR_RETURN(const Parts parts, find_parts(*this, tensor, global));
    ShardedTensor whole{parts.sharding.shape, {}, {}};
    for (const auto& [part, worker] : parts.owner) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics statistics, this->statistics(tensor, step, mode, worker));
      whole.statistics.merge(statistics);
      whole.workers.push_back(worker);
    }
    whole.statistics.has_hash = false;  // it depends on the order of the elements
    if (static_cast<std::int64_t>(whole.statistics.count) != whole.shape.element_count()) {
      return Status(Code::kDataLoss,
                    fmt::format("the parts of {} have {} elements, and {} has {}", printable(tensor),
                                whole.statistics.count, whole.shape.to_string(), whole.shape.element_count()));
    }
    return whole;
  });
}

}  // namespace trainwarden
