#include "ui/views/tensor_pictures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "data/tensor/element.h"
#include "ui/views/nearest_step.h"
#include "ui/views/tensor_sighting.h"
#include "ui/views/tensor_slice.h"

namespace trainwarden::views {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
double number_of(T component) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(component);
  } else {
    return static_cast<double>(to_float(component));
  }
}

// The elements at `offsets`; complex ones by magnitude.
std::vector<double> elements_at(const TensorView& packed, std::span<const std::int64_t> offsets) {
  std::vector<double> elements(offsets.size());
  visit_component(packed.dtype, [&]<class T>(T) {
    const auto* from = static_cast<const T*>(packed.data);
    const bool complex = is_complex(packed.dtype);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const std::int64_t at = offsets[i];
      elements[i] = complex ? std::hypot(number_of(from[2 * at]), number_of(from[2 * at + 1])) : number_of(from[at]);
    }
  });
  return elements;
}

struct Grid {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

// Of one block of elements: NaN when any is.
double pooled(std::span<const double> plane, const Grid& full, std::int64_t top, std::int64_t left, std::int64_t factor,
              Pooling pooling) {
  const std::int64_t bottom = std::min(top + factor, full.height);
  const std::int64_t right = std::min(left + factor, full.width);
  double sum = 0;
  double farthest = 0;
  for (std::int64_t y = top; y < bottom; ++y) {
    for (std::int64_t x = left; x < right; ++x) {
      const double element = plane[static_cast<std::size_t>(y * full.width + x)];
      if (std::isnan(element)) return kNan;
      sum += element;
      if (std::fabs(element) > std::fabs(farthest)) farthest = element;
    }
  }
  if (pooling == Pooling::kMax) return farthest;
  return sum / static_cast<double>((bottom - top) * (right - left));
}

std::vector<double> pool(std::span<const double> plane, const Grid& full, std::int64_t factor, Pooling pooling) {
  std::vector<double> pixels;
  for (std::int64_t top = 0; top < full.height; top += factor) {
    for (std::int64_t left = 0; left < full.width; left += factor) {
      pixels.push_back(pooled(plane, full, top, left, factor, pooling));
    }
  }
  return pixels;
}

std::pair<double, double> finite_range(std::span<const double> pixels) {
  std::pair<double, double> range{kNan, kNan};
  for (const double pixel : pixels) {
    if (!std::isfinite(pixel)) continue;
    range.first = std::fmin(range.first, pixel);
    range.second = std::fmax(range.second, pixel);
  }
  return range;
}

std::uint8_t level_of(double pixel, double low, double high) {
  if (std::isnan(pixel)) return 0;
  if (std::isinf(pixel)) return pixel > 0 ? 255 : 1;
  if (high == low) return 128;
  return static_cast<std::uint8_t>(1 + std::lround(254 * ((pixel - low) / (high - low))));
}

// The shape of all pictures of an answer.
struct Plan {
  Shape shape;  // of the tensor
  Slice slice;
  Grid full;
  std::int64_t rows = 1;
  std::int64_t factor = 1;
  std::vector<std::int64_t> offsets;
};

Result<Plan> plan_of(const TensorView& view, const PictureChoice& choice) {
  if (view.dtype == DType::kString) {
    return Status(Code::kInvalidArgument, "a tensor of texts has no picture; its value is the texts");
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(Slice slice, parse_slice(choice.slice, view.shape, choice.axes));
  const std::vector<std::int64_t> sizes = slice.shape();
  if (sizes.size() < 2 || sizes.size() > 3) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("slice \"{}\" keeps {} dimensions; a picture has two (height, width), a strip three (rows, "
                    "height, width): give the others an index",
                    slice.to_string(), sizes.size()));
  }
  Plan plan;
  plan.full = {sizes[sizes.size() - 2], sizes[sizes.size() - 1]};
  plan.rows = sizes.size() == 3 ? sizes[0] : 1;
  const std::int64_t longest = std::max(plan.full.height, plan.full.width);
  plan.factor = std::max<std::int64_t>((longest + choice.size - 1) / choice.size, 1);
  if (slice.element_count() == 0) return Status(Code::kInvalidArgument, "the slice has no elements");
  if (slice.element_count() > kMostPixels) {
    return Status(Code::kResourceExhausted,
                  fmt::format("slice \"{}\" has {} elements; pictures are made of at most {}: "
                              "ask for fewer rows",
                              slice.to_string(), slice.element_count(), kMostPixels));
  }
  plan.shape = view.shape;
  plan.offsets = offsets_of(view.shape, slice);
  plan.slice = std::move(slice);
  return plan;
}

// One step's pictures: rows one after another.
struct Drawn {
  std::int64_t step = 0;
  std::vector<std::uint8_t> pixels;
  std::vector<double> low, high, nans, infs;
};

Drawn draw(const TensorView& view, const Plan& plan, std::int64_t step, Pooling pooling) {
  Drawn drawn{step, {}, {}, {}, {}, {}};
  const std::vector<double> elements = elements_at(view, plan.offsets);
  const auto plane_elements = static_cast<std::size_t>(plan.full.height * plan.full.width);
  for (std::int64_t row = 0; row < plan.rows; ++row) {
    const std::span plane = std::span(elements).subspan(static_cast<std::size_t>(row) * plane_elements, plane_elements);
    const std::vector<double> pixels = pool(plane, plan.full, plan.factor, pooling);
    const auto [low, high] = finite_range(pixels);
    for (const double pixel : pixels) drawn.pixels.push_back(level_of(pixel, low, high));
    drawn.low.push_back(low);
    drawn.high.push_back(high);
    drawn.nans.push_back(
        static_cast<double>(std::count_if(plane.begin(), plane.end(), [](double x) { return std::isnan(x); })));
    drawn.infs.push_back(
        static_cast<double>(std::count_if(plane.begin(), plane.end(), [](double x) { return std::isinf(x); })));
  }
  return drawn;
}

// From step after step to row after row.
void assemble(Pictures& pictures, const std::vector<Drawn>& drawn) {
  const auto pixels = static_cast<std::size_t>(pictures.height * pictures.width);
  for (std::size_t row = 0; row < static_cast<std::size_t>(pictures.rows); ++row) {
    for (const Drawn& of_step : drawn) {
      const auto first = of_step.pixels.begin() + static_cast<std::ptrdiff_t>(row * pixels);
      pictures.pixels.insert(pictures.pixels.end(), first, first + static_cast<std::ptrdiff_t>(pixels));
      pictures.low.push_back(of_step.low[row]);
      pictures.high.push_back(of_step.high[row]);
      pictures.nans.push_back(of_step.nans[row]);
      pictures.infs.push_back(of_step.infs[row]);
    }
  }
}

void leave_out(Pictures& pictures, std::int64_t step, std::string why) {
  if (pictures.left_out.empty()) pictures.why_left_out = std::move(why);
  pictures.left_out.push_back(step);
}

Status describe(Pictures& pictures, const Plan& plan, std::size_t steps) {
  pictures.rows = plan.rows;
  pictures.full_height = plan.full.height;
  pictures.full_width = plan.full.width;
  pictures.height = (plan.full.height + plan.factor - 1) / plan.factor;
  pictures.width = (plan.full.width + plan.factor - 1) / plan.factor;
  pictures.slice = plan.slice.to_string();
  const auto all = pictures.rows * pictures.height * pictures.width * static_cast<std::int64_t>(steps);
  if (all <= kMostPixels) return {};
  return {Code::kResourceExhausted,
          fmt::format("{} rows of {} steps at {} x {} are {} pixels; at most {}: ask for fewer "
                      "rows or steps, or a smaller size",
                      pictures.rows, steps, pictures.height, pictures.width, all, kMostPixels)};
}

// Each once, in the order of the first that stands for it.
std::vector<std::int64_t> steps_to_draw(const TensorPresence& presence, std::span<const std::int64_t> asked,
                                        std::vector<InsteadOf>& instead) {
  std::vector<std::int64_t> steps;
  for (const std::int64_t step : asked) {
    const std::int64_t shown = nearest_step(presence.steps_in(journal::RecordForm::kValue), step).value_or(step);
    if (shown != step) instead.push_back({step, shown});
    if (std::find(steps.begin(), steps.end(), shown) == steps.end()) steps.push_back(shown);
  }
  return steps;
}

}  // namespace

Result<Pictures> tensor_pictures(OpenRun::Use& use, std::string_view tensor, const PictureChoice& choice) {
  Pictures pictures;
  std::optional<Plan> plan;
  std::vector<Drawn> drawn;
  Status first_failure;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto presence, tensor_presence(use, tensor));
  for (const std::int64_t step : steps_to_draw(*presence, choice.steps, pictures.instead)) {
    const auto value = use.trial().shared_value(tensor, step, Mode::kGlobal, choice.worker);
    if (!value.ok()) {
      if (first_failure.ok()) first_failure = value.status();
      leave_out(pictures, step, value.status().message());
      continue;
    }
    if (!plan) {
      TRAINWARDEN_ASSIGN_OR_RETURN(plan, plan_of(value->view, choice));
      TRAINWARDEN_RETURN_IF_ERROR(describe(pictures, *plan, choice.steps.size()));
    }
    if (!(value->view.shape == plan->shape)) {
      leave_out(pictures, step,
                fmt::format("step {} has the shape {}, not {}", step, value->view.shape.to_string(),
                            plan->shape.to_string()));
      continue;
    }
    drawn.push_back(draw(value->view, *plan, step, choice.pooling));
    pictures.steps.push_back(step);
  }
  if (!plan) return first_failure.ok() ? Status(Code::kInvalidArgument, "no step was asked for") : first_failure;
  assemble(pictures, drawn);
  return pictures;
}

}  // namespace trainwarden::views
