#include "hook/capture/saving/shard_keeper.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "hook/capture/saving/shard_copy.h"

namespace trainwarden::capture {
namespace {

// Why this is no part of such a tensor; nullptr when it is.
const char* why_no_part(const Shard& shard) {
  const Shape& part = shard.part.shape;
  const Shape& whole = shard.global_shape;
  if (!shard.part.device.host_readable()) return "its parts are not in memory that the host can read";
  if (shard.part.dtype == DType::kString) return "texts have no parts";
  if (part.rank() != whole.rank() || shard.offsets.size() != static_cast<std::size_t>(whole.rank())) {
    return "a part has other dimensions than the whole";
  }
  for (int i = 0; i < whole.rank(); ++i) {
    const std::int64_t offset = shard.offsets[static_cast<std::size_t>(i)];
    if (offset < 0 || offset > whole[i] || part[i] > whole[i] - offset) return "a part lies outside of the whole";
  }
  return nullptr;
}

template <class Block>
bool overlap(const Block& a, const Block& b) {
  for (std::size_t i = 0; i < a.first.size(); ++i) {
    if (a.first[i] + a.sizes[i] <= b.first[i] || b.first[i] + b.sizes[i] <= a.first[i]) return false;
  }
  return true;
}

}  // namespace

void ShardKeeper::keep(TensorEntry& entry, FormBits form, const Shard& shard) {
  if (const char* problem = why_no_part(shard)) return intake_.lose_unsupported(entry, problem);
  const std::lock_guard lock(mutex_);
  auto found = open_.find(entry.id);
  if (found == open_.end()) {
    found = open_.emplace(entry.id, begin(entry, form, shard)).first;
    open_count_ = open_.size();
  }
  Whole& whole = found->second;
  if (whole.is_lost) return;
  take(whole, shard);
  if (whole.is_lost || whole.elements < whole.shape.element_count()) return;
  finish(whole);
  open_.erase(found);
  open_count_ = open_.size();
}

ShardKeeper::Whole ShardKeeper::begin(TensorEntry& entry, FormBits form, const Shard& shard) {
  Whole whole;
  whole.entry = &entry;
  whole.dtype = shard.part.dtype;
  whole.shape = shard.global_shape;
  whole.form = form;
  const std::size_t bytes = TensorView::of(nullptr, whole.dtype, whole.shape).packed_bytes();
  const auto claim = [&] {
    if (auto slot = intake_.claim(entry, bytes)) whole.slot.emplace(*std::move(slot));
    return whole.slot.has_value();
  };
  intake_.keep_in_form(
      form,
      [&] {
        const bool has_room = claim();
        if (has_room) whole.kept = Kept::kValues;
        return has_room;
      },
      [&] { whole.kept = Kept::kStatistics; }, [&] { whole.kept = Kept::kShape; });
  if ((form & kBlackBoxBit) != 0 && (form & kValuesBit) == 0) claim();
  whole.is_lost = whole.kept == Kept::kNothing && !whole.slot;
  return whole;
}

void ShardKeeper::take(Whole& whole, const Shard& shard) {
  if (shard.part.dtype != whole.dtype || shard.global_shape != whole.shape) {
    return lose(whole, "its parts do not agree on its type or its shape");
  }
  if (shard.part.element_count() == 0) return;
  const auto sizes = shard.part.shape.sizes();
  Block block{{shard.offsets.begin(), shard.offsets.end()}, {sizes.begin(), sizes.end()}};
  for (const Block& other : whole.blocks) {
    if (other == block) return;  // another copy of what is there
    if (overlap(other, block)) return lose(whole, "its parts overlap");
  }
  if (whole.slot) {
    const Status copied = copy_shard(shard.part, whole.shape, shard.offsets, whole.slot->memory());
    if (!copied.ok()) return lose(whole, copied.message());
  }
  if (whole.kept == Kept::kStatistics) add_statistics(whole, shard);
  whole.elements += shard.part.element_count();
  whole.blocks.push_back(std::move(block));
}

// Without a hash: it depends on the order of the elements.
void ShardKeeper::add_statistics(Whole& whole, const Shard& shard) {
  const StatisticsOptions options{.histogram = (whole.form & kHistogramBit) != 0};
  const Result<Statistics> part = compute_statistics(shard.part, options);
  if (!part.ok()) return lose(whole, part.status().message());
  whole.statistics.merge(*part);
}

void ShardKeeper::finish(Whole& whole) {
  if ((whole.form & kBlackBoxBit) != 0 && whole.slot) {
    box_.keep(*whole.entry, TensorView::of(whole.slot->memory().data(), whole.dtype, whole.shape));
  }
  if (whole.kept == Kept::kStatistics) {
    return intake_.add_row(*whole.entry, {.dtype = whole.dtype, .shape = whole.shape, .statistics = whole.statistics});
  }
  if (whole.kept == Kept::kShape) return intake_.add_shape(*whole.entry, whole.dtype, whole.shape);
  if (whole.kept != Kept::kValues) return;
  StagedTensor tensor;
  tensor.dtype = whole.dtype;
  tensor.shape = whole.shape;
  tensor.statistics = whole.form & kAnyStatisticsBits;
  intake_.add(*whole.entry, 0,
              [&] { return intake_.step().add_tensor(*std::move(whole.slot), *whole.entry, std::move(tensor)); });
}

void ShardKeeper::lose(Whole& whole, std::string_view problem) {
  whole.is_lost = true;
  whole.slot.reset();
  intake_.lose_unsupported(*whole.entry, problem);
}

void ShardKeeper::end_step() {
  if (!has_open()) return;
  const std::lock_guard lock(mutex_);
  for (auto& [id, whole] : open_) {
    if (whole.is_lost) continue;
    lose(whole, fmt::format("{} of its {} elements came, in {} parts", whole.elements, whole.shape.element_count(),
                            whole.blocks.size()));
  }
  open_.clear();
  open_count_ = 0;
}

}  // namespace trainwarden::capture
