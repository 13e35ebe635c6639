#include "hook/capture/saving/tensor_keeper.h"

#include <utility>

#include "hook/capture/staging/packed_strings.h"
#include "trainwarden/statistics.h"

namespace trainwarden::capture {

void TensorKeeper::keep(TensorEntry& entry, FormBits form, const TensorView& view) {
  intake_.keep_in_form(
      form, [&] { return keep_values(entry, form, view); }, [&] { keep_statistics(entry, form, view); },
      [&] { intake_.add_shape(entry, view.dtype, view.shape); });
}

// The statistics of a tensor that is kept whole are left to the writer thread.
bool TensorKeeper::keep_values(TensorEntry& entry, FormBits form, const TensorView& view) {
  auto slot = intake_.claim(entry, view.packed_bytes());
  if (!slot) return false;
  const Status copied = slot->memory().empty() ? Status() : copy_packed(view, slot->memory().data());
  if (!copied.ok()) {
    intake_.lose_unsupported(entry, copied.message());
    return false;
  }
  StagedTensor tensor;
  tensor.dtype = view.dtype;
  tensor.shape = view.shape;
  tensor.statistics = form & kAnyStatisticsBits;
  intake_.add(entry, 0, [&] { return intake_.step().add_tensor(*std::move(slot), entry, std::move(tensor)); });
  return true;
}

void TensorKeeper::keep_statistics(TensorEntry& entry, FormBits form, const TensorView& view) {
  StatisticsOptions options;
  options.histogram = (form & kHistogramBit) != 0;
  options.hash = (form & kHashBit) != 0;
  Result<Statistics> statistics = compute_statistics(view, options);
  if (!statistics.ok()) return intake_.lose_unsupported(entry, statistics.status().message());
  intake_.add_row(entry, {.dtype = view.dtype, .shape = view.shape, .statistics = *std::move(statistics)});
}

void TensorKeeper::keep_strings(TensorEntry& entry, FormBits form, const Shape& shape,
                                std::span<const std::string_view> strings) {
  if ((form & kValuesBit) == 0) return intake_.add_shape(entry, DType::kString, shape);
  auto slot = intake_.claim(entry, packed_string_bytes(strings));
  if (!slot) return;
  pack_strings(strings, slot->memory());
  StagedTensor tensor;
  tensor.dtype = DType::kString;
  tensor.shape = shape;
  intake_.add(entry, 0, [&] { return intake_.step().add_tensor(*std::move(slot), entry, std::move(tensor)); });
}

}  // namespace trainwarden::capture
