#include "hook/capture/saving/save_calls.h"

#include <cstddef>
#include <vector>

#include "hook/capture/staging/packed_strings.h"

namespace trainwarden::capture {
namespace {

constexpr std::string_view kScalarsCollection = "scalars";

// Why the hook cannot read the tensor's elements; nullptr when it can.
const char* why_unreadable(const TensorView& view) {
  if (view.data == nullptr && view.element_count() > 0) return "it has no memory";
  return nullptr;
}

}  // namespace

void SaveCalls::save_tensor(TensorId id, const TensorView& view) {
  if (TensorEntry* entry = tensors_.find(id)) return save(*entry, view);
  intake_.lose_undeclared(id);
}

void SaveCalls::save_tensor(std::string_view name, const TensorView& view) {
  if (TensorEntry* entry = tensors_.find_or_add(name)) return save(*entry, view);
  intake_.lose_nameless();
}

void SaveCalls::save(TensorEntry& entry, FormBits form, const TensorView& view) {
  const Bill::Timer timer(bill_);
  if (const char* problem = why_unreadable(view)) return intake_.lose_unsupported(entry, problem);
  if (view.dtype == DType::kString) {
    std::vector<std::string_view> strings(static_cast<std::size_t>(view.element_count()));
    const Status status = copy_packed(view, strings.data());
    if (status.ok()) return save(entry, form, view.shape, strings);
    return intake_.lose_unsupported(entry, status.message());
  }
  if (!state_.is_on()) return intake_.lose_off(entry, view.packed_bytes());
  if ((form & kBlackBoxBit) != 0) box_.keep(entry, view);
  if ((form & ~kBlackBoxBit) == 0) return;
  if (view.device.host_readable()) {
    on_host_.keep(entry, form, view);
    return handover_.hand_over_part();
  }
  if (on_device_.keep(entry, form, view)) return;
  TensorView nothing = view;
  nothing.device = Device();
  save(entry, nothing);
}

void SaveCalls::save_strings(std::string_view name, std::span<const std::string_view> strings) {
  TensorEntry* entry = tensors_.find_or_add(name);
  if (entry == nullptr) return intake_.lose_nameless();
  const FormBits form = entry->form_now();
  if (form == 0) return;
  const Bill::Timer timer(bill_);
  save(*entry, form, Shape({static_cast<std::int64_t>(strings.size())}), strings);
}

void SaveCalls::save(TensorEntry& entry, FormBits form, const Shape& shape, std::span<const std::string_view> strings) {
  if ((form & ~kBlackBoxBit) == 0) return;  // which holds no strings
  if (!state_.is_on()) return intake_.lose_off(entry, packed_string_bytes(strings));
  on_host_.keep_strings(entry, form, shape, strings);
}

void SaveCalls::save_scalar(std::string_view name, double value) {
  const Bill::Timer timer(bill_);
  TensorEntry* entry = tensors_.find_or_add(name);
  if (entry == nullptr) return intake_.lose_nameless();
  if (!state_.is_on()) return intake_.lose_off(*entry, sizeof value);
  if (!entry->membership.load(std::memory_order_acquire)->has_scalars()) {
    tensors_.add_to(*entry, {&kScalarsCollection, 1});
  }
  if (box_.is_filling()) box_.keep_scalar(*entry, value);
  intake_.add(*entry, sizeof value, [&] { return intake_.step().add_scalar(*entry, value); });
}

void SaveCalls::save_observation(TensorId id, const TensorView& view) {
  if (TensorEntry* entry = tensors_.find(id)) return save(*entry, kValuesBit, view);
  intake_.lose_undeclared(id);
}

void SaveCalls::save_reductions(TensorId id, std::span<const SavedReduction> reductions) {
  if (TensorEntry* entry = tensors_.find(id)) return save(*entry, reductions);
  intake_.lose_undeclared(id);
}

void SaveCalls::save_reductions(std::string_view name, std::span<const SavedReduction> reductions) {
  if (TensorEntry* entry = tensors_.find_or_add(name)) return save(*entry, reductions);
  intake_.lose_nameless();
}

void SaveCalls::save(TensorEntry& entry, std::span<const SavedReduction> reductions) {
  if ((entry.form_now() & ~kBlackBoxBit) == 0 || reductions.empty()) return;
  const Bill::Timer timer(bill_);
  const std::size_t bytes = reductions.size() * sizeof(double);
  if (!state_.is_on()) return intake_.lose_off(entry, bytes);
  intake_.add(entry, bytes, [&] { return intake_.step().add_reductions(entry, reductions); });
}

void SaveCalls::save_statistics(TensorId id, const GivenStatistics& given) {
  if (TensorEntry* entry = tensors_.find(id)) return save(*entry, given);
  intake_.lose_undeclared(id);
}

void SaveCalls::save_statistics(std::string_view name, const GivenStatistics& given) {
  if (TensorEntry* entry = tensors_.find_or_add(name)) return save(*entry, given);
  intake_.lose_nameless();
}

void SaveCalls::save(TensorEntry& entry, const GivenStatistics& given) {
  if ((entry.form_now() & ~kBlackBoxBit) == 0) return;  // which holds values only
  const Bill::Timer timer(bill_);
  if (!state_.is_on()) return intake_.lose_off(entry, 0);
  Result<Statistics> statistics = approximate_statistics(given);
  if (!statistics.ok()) return intake_.lose_unsupported(entry, statistics.status().message());
  intake_.add_row(entry, {.dtype = given.dtype, .shape = given.shape, .statistics = *std::move(statistics)});
}

void SaveCalls::save_shard(TensorId id, const Shard& shard, int replica) {
  TensorEntry* const entry = tensors_.find(id);
  if (entry == nullptr) return intake_.lose_undeclared(id);
  const FormBits form = entry->form_now();
  if (form == 0 || replica != 0) return;
  const Bill::Timer timer(bill_);
  if (const char* problem = why_unreadable(shard.part)) return intake_.lose_unsupported(*entry, problem);
  if (!state_.is_on()) return intake_.lose_off(*entry, shard.part.packed_bytes());
  shards_.keep(*entry, form, shard);
  handover_.hand_over_part();
}

void SaveCalls::remember(std::string_view name, const TensorView& view) {
  if (!remembers()) return;
  const Bill::Timer timer(bill_);
  TensorEntry* const entry = tensors_.find_or_add(name);
  if (entry == nullptr) return intake_.lose_nameless();
  if (why_unreadable(view) == nullptr && view.dtype != DType::kString) return box_.remember(*entry, view);
  intake_.lose_unsupported(*entry, "the black box holds numbers in memory only");
}

}  // namespace trainwarden::capture
