#include "hook/capture/black_box/box_slot.h"

#include <algorithm>
#include <new>

namespace trainwarden::capture {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t kItemBytes = align_up(sizeof(BoxItem), kAlignment);

// All bits of the exponent are set.
template <class Word>
bool any_non_finite(ByteSpan elements, Word exponent) {
  for (std::size_t at = 0; at + sizeof(Word) <= elements.size(); at += sizeof(Word)) {
    if ((load_le<Word>(elements, at) & exponent) == exponent) return true;
  }
  return false;
}

}  // namespace

bool has_non_finite(DType dtype, ByteSpan elements) {
  switch (dtype) {
    case DType::kFloat64: return any_non_finite<std::uint64_t>(elements, 0x7ff0000000000000);
    case DType::kFloat32: return any_non_finite<std::uint32_t>(elements, 0x7f800000);
    case DType::kFloat16: return any_non_finite<std::uint16_t>(elements, 0x7c00);
    case DType::kBFloat16: return any_non_finite<std::uint16_t>(elements, 0x7f80);
    default: return false;
  }
}

BoxSlot::BoxSlot(MutableByteSpan memory) : memory_(memory), items_(new std::atomic<const BoxItem*>[kMaxItems]()) {}

std::uint32_t BoxSlot::item_count() const {
  return std::min(claimed_items_.load(std::memory_order_acquire), kMaxItems);
}

void BoxSlot::open(std::uint64_t number, const StepId& id) {
  const std::uint32_t count = item_count();
  for (std::uint32_t i = 0; i < count; ++i) items_[i].store(nullptr, std::memory_order_relaxed);
  claimed_items_ = 0;
  used_bytes_ = 0;
  missing_count_ = 0;
  missing_bytes_ = 0;
  for (auto& bytes : asked_) bytes.store(0, std::memory_order_relaxed);
  number_ = number;
  set_id(id);
  unix_ns_ = 0;
  state_.store(State::kOpen);
}

void BoxSlot::set_id(const StepId& id) {
  global_step_ = id.global_step;
  mode_ = id.mode;
  mode_step_ = id.mode_step;
}

void BoxSlot::hold(std::int64_t unix_ns) {
  unix_ns_ = unix_ns;
  state_.store(State::kHeld);
}

// Who pins looks at the state afterwards, who frees at the pins: one of the two sees the other.
bool BoxSlot::try_free() {
  if (pins_.load() != 0 || fillers_.load() != 0) return false;
  const State before = state_.exchange(State::kFree);
  if (pins_.load() == 0 && fillers_.load() == 0) return true;
  state_.store(before);
  return false;
}

bool BoxSlot::pin() const {
  pins_.fetch_add(1);
  if (state_.load() != State::kFree) return true;
  pins_.fetch_sub(1);
  return false;
}

const BoxItem* BoxSlot::add(const BoxLabel& label, const TensorView& view) {
  const std::uint64_t bytes = view.packed_bytes();
  const std::uint64_t needed = kItemBytes + align_up(bytes, kAlignment);
  asked_[label.rank].fetch_add(needed, std::memory_order_relaxed);
  const std::uint64_t at = used_bytes_.fetch_add(needed);
  if (at + needed > memory_.size()) {
    used_bytes_.fetch_sub(needed);
    count_missing(bytes);
    return nullptr;
  }
  std::byte* const place = memory_.data() + at;
  std::byte* const data = place + kItemBytes;
  if (bytes > 0 && !copy_packed(view, data).ok()) {
    count_missing(bytes);
    return nullptr;
  }
  const std::uint32_t index = claimed_items_.fetch_add(1);
  if (index >= kMaxItems) {
    count_missing(bytes);
    return nullptr;
  }
  const auto* item = new (place) BoxItem{&label, view.dtype, view.shape, {data, bytes}};
  items_[index].store(item, std::memory_order_release);
  return item;
}

void BoxSlot::count_missing(std::uint64_t bytes) {
  missing_count_.fetch_add(1, std::memory_order_relaxed);
  missing_bytes_.fetch_add(bytes, std::memory_order_relaxed);
}

}  // namespace trainwarden::capture
