#include "hook/guard/live_window.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "hook/capture/staging/packed_strings.h"
#include "trainwarden/reduction.h"
#include "trainwarden/statistics.h"

namespace trainwarden::guard {
namespace {

// A few kinds of steps take turns in a training: most of them, every tenth, every hundredth; and within each two looks.
constexpr std::size_t kLayouts = 8;
constexpr std::size_t kReductionsOfOne = std::size_t{2} * kReductionCount;

struct OwnedValue {
  std::vector<std::byte> bytes;
  std::vector<std::string> strings;
  std::vector<std::string_view> views;
};

SharedTensorValue copy_of(const capture::StagedTensor& tensor) {
  auto owned = std::make_shared<OwnedValue>();
  const void* data = nullptr;
  if (tensor.dtype == DType::kString) {
    owned->strings = capture::unpack_strings(tensor.data, static_cast<std::size_t>(tensor.shape.element_count()));
    owned->views.assign(owned->strings.begin(), owned->strings.end());
    data = owned->views.data();
  } else {
    owned->bytes.assign(tensor.data.begin(), tensor.data.end());
    data = owned->bytes.data();
  }
  return {TensorView::of(data, tensor.dtype, tensor.shape), std::move(owned), false};
}

std::vector<double> elements_of(const capture::StagedTensor& tensor) {
  TensorValue value;
  value.dtype = tensor.dtype;
  value.shape = tensor.shape;
  value.data.assign(tensor.data.begin(), tensor.data.end());
  return value.to_doubles();
}

Status not_kept(const LiveTensor& tensor, std::string_view wanted) {
  return Status(Code::kOutOfRange, fmt::format("of \"{}\" this step does not hold {}", printable(tensor.name), wanted));
}

}  // namespace

LiveLayout& LiveMemory::layout_of(const capture::OpenStep& step, const RowMark& from) {
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    if (!layouts_[i].fits(step, from)) continue;
    if (i > 0)
      std::rotate(layouts_.begin(), layouts_.begin() + static_cast<std::ptrdiff_t>(i),
                  layouts_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return layouts_.front();
  }
  if (layouts_.size() >= kLayouts) layouts_.pop_back();
  layouts_.emplace_front(step, from);
  return layouts_.front();
}

LiveWindow::LiveWindow(const capture::OpenStep& step, const RowMark& from, LiveMemory& memory)
    : step_(step), from_(from), memory_(memory), layout_(memory.layout_of(step, from)) {
  const std::size_t slots = layout_.tensors().size() * kReductionsOfOne;
  if (memory_.reductions_.size() < slots) memory_.reductions_.resize(slots);
  memory_.has_reduction_.assign(slots, 0);
}

Result<std::span<const TensorSpot>> LiveWindow::select(const TensorSelection& selection) const {
  return layout_.select(selection, step_, memory_.book_, memory_.worker_, memory_.shown_worker_);
}

// By its handle when the spot is ours, else by its name.
Result<std::uint32_t> LiveWindow::find(const TensorSpot& spot) const {
  const auto tensors = layout_.tensors();
  if (spot.handle < tensors.size() && tensors[spot.handle].name == spot.tensor) return spot.handle;
  const auto found =
      std::lower_bound(tensors.begin(), tensors.end(), spot.tensor,
                       [](const LiveTensor& tensor, const std::string& name) { return tensor.name < name; });
  if (found == tensors.end() || found->name != spot.tensor || spot.worker != memory_.worker_) {
    return Status(Code::kOutOfRange, fmt::format("this step does not hold \"{}\"", printable(spot.tensor)));
  }
  return static_cast<std::uint32_t>(found - tensors.begin());
}

const capture::StagedTensor* LiveWindow::value_of(const LiveTensor& tensor) const {
  return tensor.value == kNoRow ? nullptr : &step_.tensors()[from_.tensors + tensor.value];
}

const journal::StatisticsRow* LiveWindow::row_of(const LiveTensor& tensor) const {
  return tensor.statistics == kNoRow ? nullptr : &step_.statistics()[from_.statistics + tensor.statistics];
}

std::optional<double> LiveWindow::scalar_of(const LiveTensor& tensor) const {
  if (tensor.scalar == kNoRow) return std::nullopt;
  return step_.scalars()[from_.scalars + tensor.scalar].value;
}

// The rows of one tensor lie together, unless it was saved again under another name.
std::span<const journal::ReductionRow> LiveWindow::reductions_of(const LiveTensor& tensor) const {
  if (tensor.reductions == kNoRow) return {};
  return step_.reductions().subspan(from_.reductions + tensor.reductions, tensor.reduction_count);
}

Result<const Statistics*> LiveWindow::statistics(const TensorSpot& spot) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint32_t place, find(spot));
  return statistics_at(place);
}

Result<const Statistics*> LiveWindow::statistics_at(std::uint32_t place) const {
  const LiveTensor& tensor = layout_.tensors()[place];
  const journal::StatisticsRow* const row = row_of(tensor);
  if (row != nullptr && !row->shape_only) return &row->statistics;
  if (computed_.empty()) computed_.resize(layout_.tensors().size());
  auto& computed = computed_[place];
  if (!computed) computed = compute(tensor);
  if (!computed->ok()) return computed->status();
  return &**computed;
}

Result<Statistics> LiveWindow::compute(const LiveTensor& tensor) const {
  if (const capture::StagedTensor* const value = value_of(tensor)) {
    StatisticsOptions options;
    options.histogram = (value->statistics & capture::kHistogramBit) != 0;
    options.hash = (value->statistics & capture::kHashBit) != 0;
    if (value->dtype == DType::kString) return Status(Code::kInvalidArgument, "strings have no statistics");
    return compute_statistics(TensorView::of(value->data.data(), value->dtype, value->shape), options);
  }
  if (const auto scalar = scalar_of(tensor)) {
    return compute_statistics(TensorView::of(&*scalar, DType::kFloat64, Shape()));
  }
  return not_kept(tensor, "a form that has statistics");
}

Result<double> LiveWindow::reduction(const TensorSpot& spot, Reduction reduction, bool abs) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint32_t place, find(spot));
  const std::size_t slot = place * kReductionsOfOne + static_cast<std::size_t>(reduction) * 2 + (abs ? 1 : 0);
  if (memory_.has_reduction_[slot] != 0) return memory_.reductions_[slot];
  TRAINWARDEN_ASSIGN_OR_RETURN(const double value, work_out(place, reduction, abs));
  memory_.has_reduction_[slot] = 1;
  memory_.reductions_[slot] = value;
  return value;
}

// A single one that was saved, else from statistics, value or scalar.
Result<double> LiveWindow::work_out(std::uint32_t place, Reduction reduction, bool abs) const {
  const LiveTensor& tensor = layout_.tensors()[place];
  for (const journal::ReductionRow& row : reductions_of(tensor)) {
    if (row.id == tensor.id && row.reduction == reduction && row.abs == abs) return row.value;
  }
  if (!in_statistics(reduction)) return product_of(tensor, abs);
  TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* statistics, statistics_at(place));
  return statistics->reduction(reduction, abs);
}

Result<double> LiveWindow::product_of(const LiveTensor& tensor, bool abs) const {
  std::vector<double> elements;
  if (const capture::StagedTensor* const value = value_of(tensor)) {
    if (value->dtype == DType::kString) return not_kept(tensor, "a product (strings have none)");
    elements = elements_of(*value);
  } else if (const auto scalar = scalar_of(tensor)) {
    elements = {*scalar};
  } else {
    return not_kept(tensor, "its product");
  }
  double product = 1;
  for (const double element : elements) product *= abs ? std::fabs(element) : element;
  return product;
}

Result<std::vector<SavedReduction>> LiveWindow::saved_reductions(const TensorSpot& spot) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint32_t place, find(spot));
  const LiveTensor& tensor = layout_.tensors()[place];
  std::vector<SavedReduction> saved;
  for (const journal::ReductionRow& row : reductions_of(tensor)) {
    if (row.id == tensor.id) saved.push_back({row.reduction, row.abs, row.value});
  }
  if (!saved.empty()) return saved;
  const journal::StatisticsRow* const row = row_of(tensor);
  if (row == nullptr || row->shape_only) return not_kept(tensor, "a reduction");
  for (int i = 0; i < kStatisticsReductionCount; ++i) {
    const auto reduction = static_cast<Reduction>(i);
    for (const bool abs : {false, true}) saved.push_back({reduction, abs, row->statistics.reduction(reduction, abs)});
  }
  return saved;
}

Result<SharedTensorValue> LiveWindow::value(const TensorSpot& spot) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint32_t place, find(spot));
  const LiveTensor& tensor = layout_.tensors()[place];
  const capture::StagedTensor* const value = value_of(tensor);
  if (value == nullptr) return not_kept(tensor, "its value");
  return copy_of(*value);
}

Result<double> LiveWindow::scalar(const TensorSpot& spot) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint32_t place, find(spot));
  const LiveTensor& tensor = layout_.tensors()[place];
  if (const auto scalar = scalar_of(tensor)) return *scalar;
  const capture::StagedTensor* const value = value_of(tensor);
  if (value == nullptr) return not_kept(tensor, "a scalar");
  if (value->dtype == DType::kString || value->shape.element_count() != 1) {
    return Status(Code::kInvalidArgument,
                  fmt::format("\"{}\" is no number: it is {} of shape {}", printable(tensor.name), name(value->dtype),
                              value->shape.to_string()));
  }
  return elements_of(*value).at(0);
}

Result<Shape> LiveWindow::shape(const TensorSpot& spot) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint32_t place, find(spot));
  const LiveTensor& tensor = layout_.tensors()[place];
  if (const journal::StatisticsRow* const row = row_of(tensor)) return row->shape;
  if (const capture::StagedTensor* const value = value_of(tensor)) return value->shape;
  if (tensor.scalar != kNoRow) return Shape();
  return not_kept(tensor, "its shape");
}

Result<DType> LiveWindow::dtype(const TensorSpot& spot) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint32_t place, find(spot));
  const LiveTensor& tensor = layout_.tensors()[place];
  if (const journal::StatisticsRow* const row = row_of(tensor)) return row->dtype;
  if (const capture::StagedTensor* const value = value_of(tensor)) return value->dtype;
  if (tensor.scalar != kNoRow) return DType::kFloat64;
  return not_kept(tensor, "its dtype");
}

}  // namespace trainwarden::guard
