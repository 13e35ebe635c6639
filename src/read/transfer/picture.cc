#include "read/transfer/picture.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <png.h>

#include "core/base/dynamic_library.h"
#include "data/tensor/element.h"

namespace trainwarden::transfer {
namespace {

// How the tensor's elements are tiles.
struct Tiling {
  std::int64_t count = 1;
  std::int64_t channels = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

bool is_channel_count(std::int64_t size) {
  return size == 1 || size == 3 || size == 4;
}

std::optional<Tiling> tiling_of(const TensorView& packed) {
  const Shape& shape = packed.shape;
  const int rank = shape.rank();
  if (rank < 2 || rank > 4 || shape.element_count() == 0) return std::nullopt;
  if (packed.dtype == DType::kString || is_complex(packed.dtype)) return std::nullopt;
  Tiling tiling{1, 1, shape[rank - 2], shape[rank - 1]};
  if (tiling.height > kLargestSide || tiling.width > kLargestSide) return std::nullopt;
  if (rank == 4) tiling.count = shape[0];
  if (rank >= 3) {
    const std::int64_t planes = shape[rank - 3];
    (is_channel_count(planes) ? tiling.channels : tiling.count) *= planes;
  }
  tiling.count = std::min<std::int64_t>(tiling.count, kMostTiles);
  return tiling;
}

template <class T>
double to_double(T component) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(component);
  } else {
    return static_cast<double>(to_float(component));
  }
}

// The first `count` elements.
std::vector<double> elements_of(const TensorView& packed, std::int64_t count) {
  std::vector<double> elements(static_cast<std::size_t>(count));
  visit_component(packed.dtype, [&]<class T>(T) {
    const auto* components = static_cast<const T*>(packed.data);
    std::transform(components, components + count, elements.begin(), [](T component) { return to_double(component); });
  });
  return elements;
}

// From numbers to the brightness of a pixel.
class Brightness {
 public:
  Brightness(DType dtype, const std::vector<double>& elements) {
    if (dtype == DType::kUInt8) return;
    low_ = 0;
    high_ = 1;
    if (dtype == DType::kBool) return;
    bool any = false;
    for (const double element : elements) {
      if (!std::isfinite(element)) continue;
      low_ = any ? std::min(low_, element) : element;
      high_ = any ? std::max(high_, element) : element;
      any = true;
    }
  }

  std::uint8_t of(double element) const {
    if (std::isnan(element) || high_ <= low_) return 0;
    constexpr double kWhite = 255;
    return static_cast<std::uint8_t>(std::lround(kWhite * (std::clamp(element, low_, high_) - low_) / (high_ - low_)));
  }

 private:
  double low_ = 0;
  double high_ = 255;
};

Picture empty_grid(const Tiling& tiling, int columns) {
  const int rows = static_cast<int>((tiling.count + columns - 1) / columns);
  Picture picture;
  picture.channels = static_cast<int>(tiling.channels);
  picture.width = columns * (static_cast<int>(tiling.width) + 1) - 1;
  picture.height = rows * (static_cast<int>(tiling.height) + 1) - 1;
  picture.pixels.resize(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) *
                        static_cast<std::size_t>(picture.channels));
  return picture;
}

void paint_tile(Picture& picture, const Tiling& tiling, int columns, std::int64_t tile, const double* elements,
                const Brightness& brightness) {
  const std::int64_t left = tile % columns * (tiling.width + 1);
  const std::int64_t top = tile / columns * (tiling.height + 1);
  for (std::int64_t channel = 0; channel < tiling.channels; ++channel) {
    for (std::int64_t y = 0; y < tiling.height; ++y) {
      for (std::int64_t x = 0; x < tiling.width; ++x) {
        const std::int64_t at = ((top + y) * picture.width + left + x) * tiling.channels + channel;
        picture.pixels[static_cast<std::size_t>(at)] = brightness.of(*elements++);
      }
    }
  }
}

std::uint32_t png_format(int channels) {
  return channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
}

// libpng, loaded when a picture is first written: no training needs it.
struct PngLibrary {
  decltype(&::png_image_write_to_memory) write;
};

Result<PngLibrary> load_png() {
  constexpr std::array kNames = {"libpng16.so.16"};
  auto library = DynamicLibrary::load(kNames);
  PngLibrary png{};
  if (library.ok()) library->find("png_image_write_to_memory", png.write);
  if (png.write != nullptr) return png;
  return Status(Code::kUnavailable, fmt::format("pictures need libpng 1.6, which is not installed ({}); install the "
                                                "package libpng16-16",
                                                library.ok() ? library->missing() : library.status().message()));
}

}  // namespace

std::optional<Picture> picture_of(const TensorView& packed) {
  const std::optional<Tiling> tiling = tiling_of(packed);
  if (!tiling) return std::nullopt;
  const std::int64_t tile_elements = tiling->channels * tiling->height * tiling->width;
  const std::vector<double> elements = elements_of(packed, tiling->count * tile_elements);
  const Brightness brightness(packed.dtype, elements);
  const int columns = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(tiling->count))));
  Picture picture = empty_grid(*tiling, columns);
  for (std::int64_t tile = 0; tile < tiling->count; ++tile) {
    paint_tile(picture, *tiling, columns, tile, elements.data() + tile * tile_elements, brightness);
  }
  return picture;
}

Result<std::string> encode_png(const Picture& picture) {
  static const Result<PngLibrary> png = load_png();
  if (!png.ok()) return png.status();
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = png_format(picture.channels);
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = bytes.size();
  if (png->write(&image, bytes.data(), &size, 0, picture.pixels.data(), 0, nullptr) == 0) {
    return Status(Code::kInternal, fmt::format("a PNG could not be written: {}", image.message));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace trainwarden::transfer
