#include "hook/capture/budget/space_keeper.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/text.h"

namespace trainwarden::capture {
namespace {

constexpr std::int64_t kLookIntervalNs = 1'000'000'000;
constexpr std::uint64_t kSmallestLook = 1 << 20;  // written since the last look
constexpr std::uint64_t kDefaultDiskShare = 20;   // of the disk: a default leaves a twentieth at most
// Of the run's bytes values may have four fifths, statistics all but a twentieth; the rest is for scalars.
constexpr std::uint64_t kPartWithoutValues = 5;
constexpr std::uint64_t kPartWithoutStatistics = 20;

struct LeftOut {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

// Statistics take the place of values; words have none.
LeftOut drop_values(StagedStep& step) {
  LeftOut out;
  std::unordered_set<std::uint32_t> known;
  for (const journal::StatisticsRow& row : step.statistics) known.insert(row.id);
  for (const StagedTensor& tensor : step.tensors) {
    ++out.count;
    out.bytes += tensor.data.size();
    if (tensor.dtype == DType::kString || known.contains(tensor.id)) continue;
    const auto form = static_cast<FormBits>(tensor.statistics | kStatisticsBit);
    add_statistics(step, tensor.id, TensorView::of(tensor.data.data(), tensor.dtype, tensor.shape), form);
  }
  step.tensors.clear();
  return out;
}

LeftOut drop_but_scalars(StagedStep& step) {
  const LeftOut out{step.item_count() - step.scalars.size(), step.tensor_bytes()};
  step.tensors.clear();
  step.statistics.clear();
  step.reductions.clear();
  return out;
}

const char* kept_text(Room room) {
  switch (room) {
    case Room::kAll: return "all is kept again";
    case Room::kStatistics: return "statistics are kept in place of whole tensors";
    case Room::kScalars: return "losses and other scalars alone are kept";
    case Room::kNothing: break;
  }
  return "nothing more is kept";
}

}  // namespace

std::uint64_t kept_free(std::uint64_t wanted, bool is_default, const storage::DiskSpace& disk) {
  return is_default ? std::min(wanted, disk.total_bytes / kDefaultDiskShare) : wanted;
}

void SpaceKeeper::look(std::uint64_t written_bytes) {
  const std::int64_t now = clock_.steady_ns();
  since_bytes_ = written_bytes - written_when_seen_;
  const std::uint64_t often = std::max(kSmallestLook, limits_.run_bytes / 1000);
  if (seen_ns_ && now - *seen_ns_ < kLookIntervalNs && since_bytes_ < often) return;
  seen_ = measure_();
  seen_ns_ = now;
  written_when_seen_ = written_bytes;
  since_bytes_ = 0;
}

Room SpaceKeeper::room_in_run(std::uint64_t step_bytes) const {
  if (limits_.run_bytes == 0) return Room::kAll;
  const std::uint64_t used = seen_.run_bytes + since_bytes_;
  const std::uint64_t limit = limits_.run_bytes;
  if (used + step_bytes <= limit - limit / kPartWithoutValues) return Room::kAll;
  if (used <= limit - limit / kPartWithoutStatistics) return Room::kStatistics;
  return used <= limit ? Room::kScalars : Room::kNothing;
}

// Scalars are so little that they are tried to the end.
Room SpaceKeeper::room_on_disk(std::uint64_t step_bytes) const {
  if (limits_.free_bytes == 0 || !seen_.free_bytes) return Room::kAll;
  const std::uint64_t left = *seen_.free_bytes - std::min(*seen_.free_bytes, since_bytes_);
  if (left >= step_bytes && left - step_bytes >= limits_.free_bytes) return Room::kAll;
  return left >= limits_.free_bytes / 2 ? Room::kStatistics : Room::kScalars;
}

Room SpaceKeeper::room_for(std::uint64_t step_bytes) const {
  return std::max(room_in_run(step_bytes), room_on_disk(step_bytes));
}

void SpaceKeeper::report(Room room) {
  if (room == told_) return;
  told_ = room;
  const std::string free =
      seen_.free_bytes ? fmt::format(", the disk has {} left", format_bytes(*seen_.free_bytes)) : std::string();
  log(room == Room::kAll ? LogLevel::kInfo : LogLevel::kWarning, "the run has {}{}: {}",
      format_bytes(seen_.run_bytes + since_bytes_), free, kept_text(room));
}

bool SpaceKeeper::fit(StagedStep& step, std::uint64_t written_bytes, SharedLossTally& losses) {
  look(written_bytes);
  const std::uint64_t bytes = step.tensor_bytes();
  const Room room = room_for(bytes);
  report(room);
  if (room == Room::kAll || step.item_count() == 0) return true;
  const LossCause cause = room_in_run(bytes) >= room_on_disk(bytes) ? LossCause::kRunBytes : LossCause::kDiskReserve;
  LeftOut out = room == Room::kStatistics ? drop_values(step) : drop_but_scalars(step);
  if (room == Room::kNothing) {
    out.count += step.scalars.size();
    step.scalars.clear();
  }
  if (out.count > 0) {
    const auto message = [&] { return fmt::format("step {}: {}", step.id.global_step, kept_text(room)); };
    step.losses.add(cause, out.count, out.bytes, message);
    losses.add(cause, out.count, out.bytes, message);
  }
  return room != Room::kNothing;
}

}  // namespace trainwarden::capture
