#include "ui/views/tensor_slice.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"

namespace trainwarden::views {
namespace {

Status wrong(std::string_view text, const Shape& shape, std::string_view why) {
  return {
      Code::kInvalidArgument,
      fmt::format("slice \"{}\" of a tensor of shape {}: {}; expected is one index or range for each dimension, like "
                  "\"0,:,3:7\"",
                  printable(text), shape.to_string(), why)};
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0;;) {
    const std::size_t end = text.find(separator, start);
    parts.emplace_back(trim(text.substr(start, end == std::string_view::npos ? end : end - start)));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

// One part for each dimension.
Result<std::vector<std::string>> parts_of(std::string_view text, const Shape& shape) {
  const auto rank = static_cast<std::size_t>(shape.rank());
  std::vector<std::string> parts;
  if (!trim(text).empty()) parts = split(text, ',');
  const auto dots = std::find(parts.begin(), parts.end(), "...");
  const std::size_t named = parts.size() - (dots == parts.end() ? 0 : 1);
  if (named > rank) {
    return wrong(text, shape, fmt::format("{} parts for {} dimensions", named, rank));
  }
  const auto at = dots == parts.end() ? parts.end() : parts.erase(dots);
  parts.insert(at, rank - named, ":");
  return parts;
}

// An end of a range, clipped to [lowest, highest] as NumPy does.
std::optional<std::int64_t> bound_of(const std::string& text, std::int64_t size, std::int64_t fallback,
                                     std::int64_t lowest, std::int64_t highest) {
  if (text.empty()) return fallback;
  const auto number = parse_int(text);
  if (!number) return std::nullopt;
  return std::clamp(*number < 0 ? std::max<std::int64_t>(*number, -size - 1) + size : *number, lowest, highest);
}

std::optional<SliceDimension> range_of(const std::string& text, std::int64_t size) {
  const std::vector<std::string> ends = split(text, ':');
  if (ends.size() > 3) return std::nullopt;
  auto step = ends.size() < 3 || ends[2].empty() ? std::optional<std::int64_t>(1) : parse_int(ends[2]);
  if (!step || *step == 0) return std::nullopt;
  const std::int64_t farthest = std::max<std::int64_t>(size, 1);
  step = std::clamp(*step, -farthest, farthest);  // the same elements, and no sum overflows
  const bool back = *step < 0;
  const std::int64_t lowest = back ? -1 : 0;
  const std::int64_t highest = back ? size - 1 : size;
  const auto first = bound_of(ends[0], size, back ? size - 1 : 0, lowest, highest);
  const auto end = bound_of(ends[1], size, back ? -1 : size, lowest, highest);
  if (!first || !end) return std::nullopt;
  SliceDimension dimension{*first, *step, 0, true};
  const std::int64_t length = back ? *first - *end : *end - *first;
  const std::int64_t distance = back ? -*step : *step;
  if (length > 0) dimension.count = (length - 1) / distance + 1;
  return dimension;
}

std::optional<SliceDimension> index_of(const std::string& text, std::int64_t size) {
  const auto number = parse_int(text);
  if (!number || *number < -size || *number >= size) return std::nullopt;
  return SliceDimension{*number < 0 ? *number + size : *number, 1, 1, false};
}

Status take_axes(Slice& slice, std::span<const std::int64_t> axes) {
  std::vector<int> kept;
  for (std::size_t i = 0; i < slice.dimensions.size(); ++i) {
    if (slice.dimensions[i].kept) kept.push_back(static_cast<int>(i));
  }
  slice.axes = kept;
  if (axes.empty()) return {};
  slice.axes.assign(axes.begin(), axes.end());
  std::vector<int> sorted = slice.axes;
  std::sort(sorted.begin(), sorted.end());
  if (sorted == kept) return {};
  return {Code::kInvalidArgument, fmt::format("axes {}: expected the dimensions {} that the slice keeps, each once",
                                              fmt::join(slice.axes, ","), fmt::join(kept, ","))};
}

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(shape.rank()), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    strides[at] = strides[at + 1] * shape[i + 1];
  }
  return strides;
}

// Calls visit(offset) for each element, in the slice's order.
template <class Visit>
void walk(const Shape& shape, const Slice& slice, Visit&& visit) {
  if (slice.element_count() == 0) return;
  const std::vector<std::int64_t> strides = strides_of(shape);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < slice.dimensions.size(); ++i) offset += slice.dimensions[i].first * strides[i];
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> steps;
  for (const int axis : slice.axes) {
    const auto& dimension = slice.dimensions[static_cast<std::size_t>(axis)];
    counts.push_back(dimension.count);
    steps.push_back(dimension.step * strides[static_cast<std::size_t>(axis)]);
  }
  std::vector<std::int64_t> at(counts.size(), 0);
  for (;;) {
    visit(offset);
    std::size_t axis = counts.size();
    while (axis > 0) {
      --axis;
      offset += steps[axis];
      if (++at[axis] < counts[axis]) break;
      offset -= steps[axis] * counts[axis];
      at[axis] = 0;
      if (axis == 0) return;
    }
    if (counts.empty()) return;
  }
}

}  // namespace

std::vector<std::int64_t> Slice::shape() const {
  std::vector<std::int64_t> sizes;
  for (const int axis : axes) sizes.push_back(dimensions[static_cast<std::size_t>(axis)].count);
  return sizes;
}

std::int64_t Slice::element_count() const {
  const std::vector<std::int64_t> sizes = shape();
  // A 0 first: the product of the others may be too large for a number.
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

std::string Slice::to_string() const {
  std::vector<std::string> parts;
  for (const SliceDimension& dimension : dimensions) {
    if (!dimension.kept) {
      parts.push_back(std::to_string(dimension.first));
    } else {
      const std::int64_t last = dimension.first + dimension.step * (dimension.count - 1);
      const std::int64_t end = dimension.count == 0 ? dimension.first : last + (dimension.step > 0 ? 1 : -1);
      std::string text = fmt::format("{}:{}", dimension.first, end < 0 ? "" : std::to_string(end));
      if (dimension.step != 1) text += fmt::format(":{}", dimension.step);
      parts.push_back(std::move(text));
    }
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

Result<Slice> parse_slice(std::string_view text, const Shape& shape, std::span<const std::int64_t> axes) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto parts, parts_of(text, shape));
  Slice slice;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t size = shape[static_cast<int>(i)];
    const bool is_range = parts[i].find(':') != std::string::npos;
    const auto dimension = is_range ? range_of(parts[i], size) : index_of(parts[i], size);
    if (!dimension) {
      return wrong(text, shape,
                   fmt::format("\"{}\" is no {} of dimension {}, which has {}", printable(parts[i]),
                               is_range ? "range" : "index", i, size));
    }
    slice.dimensions.push_back(*dimension);
  }
  TRAINWARDEN_RETURN_IF_ERROR(take_axes(slice, axes));
  return slice;
}

std::string gather(const TensorView& packed, const Slice& slice) {
  const std::size_t bytes = item_bytes(packed.dtype);
  std::string out(static_cast<std::size_t>(slice.element_count()) * bytes, '\0');
  char* to = out.data();
  walk(packed.shape, slice, [&](std::int64_t offset) {
    std::memcpy(to, static_cast<const char*>(packed.data) + static_cast<std::size_t>(offset) * bytes, bytes);
    to += bytes;
  });
  return out;
}

std::vector<std::string> gather_strings(const TensorView& packed, const Slice& slice) {
  std::vector<std::string> texts;
  const auto* from = static_cast<const std::string_view*>(packed.data);
  walk(packed.shape, slice, [&](std::int64_t offset) { texts.emplace_back(from[offset]); });
  return texts;
}

std::vector<std::int64_t> offsets_of(const Shape& shape, const Slice& slice) {
  std::vector<std::int64_t> offsets;
  walk(shape, slice, [&](std::int64_t offset) { offsets.push_back(offset); });
  return offsets;
}

}  // namespace trainwarden::views
