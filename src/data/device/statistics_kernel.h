// The statistics of tensors that lie on a GPU: CUDA C++ that is C++ as well.
//
// NVRTC compiles this text for the GPU at run time; compiled as C++ it runs in tests and in the fake accelerator
// (host_warp.h). It therefore includes next to nothing.
//
// Tensors are cut into parts of kPartElements, one for each warp, which reads its part once, in tiles. Everything that
// is gathered is a whole number or an extreme, so it is added to the tensor's RawStatistics by integer atomics: the
// result has the same bits whatever the order of parts, the number of multiprocessors or the GPU, and they are the bits
// that the CPU computes. How sums of floating-point numbers come to be whole numbers is explained in
// data/tensor/float_kernels.cc: elements of a window of exponents are added to float64 accumulators that never round.
// Each lane adds at most 2^kLaneBits elements to one accumulator, so a window spans 27 - kLaneBits exponents.
#ifndef TRAINWARDEN_DEVICE_STATISTICS_KERNEL_H
#define TRAINWARDEN_DEVICE_STATISTICS_KERNEL_H

#ifndef __CUDACC_RTC__
#include "data/device/kernel_numbers.h"  // NVRTC gets both in one text
#endif

namespace trainwarden::device {

// The numbers of trainwarden::DType that the kernel reads.
constexpr U32 kKernelFloat16 = 9;
constexpr U32 kKernelBFloat16 = 10;
constexpr U32 kKernelFloat32 = 11;

constexpr U32 kLanes = 32;
constexpr U32 kLaneElements = 16;  // of one tile
constexpr U32 kTileElements = kLanes * kLaneElements;
constexpr int kLaneBits = 8;
constexpr U32 kPartElements = kLanes << kLaneBits;

// Sums are kept as FloatSum keeps them: Σ digits[i]·2^(32·i + kLowestSumBit), digits not yet carried.
constexpr int kLowestSumBit = -320;
constexpr U32 kSumDigits = 24;

// One tensor to read.
struct TensorTask {
  const void* data = nullptr;  // its first element, aligned
  U64 count = 0;               // of elements that follow one another, at least 1
  U32 dtype = 0;
  U32 first_part = 0;  // the number of parts of the tasks before
};

// What is gathered of one tensor. All zero says: nothing yet.
struct RawStatistics {
  U64 nan_count;
  U64 positive_inf_count;
  U64 negative_inf_count;
  U64 zero_count;
  U64 sum[kSumDigits];
  U64 abs_sum[kSumDigits];
  U64 square_sum[kSumDigits];
  U32 max_rank;      // rank_of() the largest finite element
  U32 min_rank_not;  // the complement of rank_of() the smallest
  U32 abs_max;       // bits of the largest finite magnitude
  U32 abs_min_not;   // the complement of the bits of the smallest one other than zero
};

constexpr U32 kNoElement = 0x7fffffff;  // stands where a tile has no element; what it is not is found by counting
constexpr U32 kNothing = 0xffffffff;

// Magnitudes that are summed together without rounding: those in [floor, ceiling), as bits.
struct Window {
  U32 floor;
  U32 ceiling;
  int unit;              // elements are multiples of 2^unit
  int square_high_unit;  // squares are split into multiples of this
  int square_low_unit;   // and multiples of this
};

// The widest window whose highest exponent lies `margin` above that of `largest` (the bits of a magnitude, not 0).
TW_KERNEL Window window_for(U32 largest, int margin) {
  // Denormal numbers have the exponent of the smallest normal ones.
  const int exponent = static_cast<int>(larger(largest >> 23, 1u)) - 127;
  const int top = exponent + margin > 127 ? 127 : exponent + margin;
  const int widest = top - (27 - kLaneBits);
  const int bottom = widest < -126 ? -126 : widest;
  Window window;
  window.floor = bottom == -126 ? 1 : static_cast<U32>(bottom + 127) << 23;
  window.ceiling = static_cast<U32>(top + 1 + 127) << 23;
  window.unit = bottom - 23;
  window.square_high_unit = 2 * top + 2 + kLaneBits - 51;
  window.square_low_unit = 2 * window.unit;
  return window;
}

// What an accumulator of multiples of 2^unit starts from: one unit is then its last bit, up to 2^51 units either way.
TW_KERNEL double accumulator_start(int unit) {
  return as_double((static_cast<U64>(unit + 52 + 1023) << 52) | (U64{1} << 51));
}
TW_KERNEL I64 units_moved(double accumulator, int unit) {
  return static_cast<I64>(as_bits(accumulator) - as_bits(accumulator_start(unit)));
}

// What one lane of a warp holds.
struct WarpLane {
  U32 bits[kLaneElements];  // the tile, as float32
  U32 tile_abs_max;         // of its finite elements; 0 when all are zero or there are none
  U32 tile_less_one_min;    // the smallest magnitude less one: zero wraps to the largest number and stays out
  bool tile_is_finite;

  float min;
  float max;
  U32 abs_max;
  U32 less_one_min;
  U32 nan_count;
  U32 positive_inf_count;
  U32 negative_inf_count;
  U32 zero_count;

  double sum;
  double abs_sum;
  double square_high;
  double square_low;
};

TW_KERNEL void start_part(WarpLane& lane) {
  lane.min = as_float(kInfinityBits);
  lane.max = -lane.min;
  lane.abs_max = 0;
  lane.less_one_min = kNothing;
  lane.nan_count = 0;
  lane.positive_inf_count = 0;
  lane.negative_inf_count = 0;
  lane.zero_count = 0;
}

TW_KERNEL void start_window(WarpLane& lane, const Window& window) {
  lane.sum = accumulator_start(window.unit);
  lane.abs_sum = lane.sum;
  lane.square_high = accumulator_start(window.square_high_unit);
  lane.square_low = accumulator_start(window.square_low_unit);
}

// Every kLanes-th element from `first`, of which `left` elements remain.
template <class Element>
TW_KERNEL void load_elements(WarpLane& lane, const Element* first, U32 left) {
  TW_UNROLL
  for (U32 i = 0; i < kLaneElements; ++i) {
    lane.bits[i] = i * kLanes < left ? float_bits(first[i * kLanes]) : kNoElement;
  }
}

TW_KERNEL void load_tile(WarpLane& lane, const TensorTask& task, U64 first, U32 left) {
  if (task.dtype == kKernelFloat32) {
    load_elements(lane, static_cast<const float*>(task.data) + first, left);
  } else if (task.dtype == kKernelBFloat16) {
    load_elements(lane, static_cast<const BrainElement*>(task.data) + first, left);
  } else if (task.dtype == kKernelFloat16) {
    load_elements(lane, static_cast<const HalfElement*>(task.data) + first, left);
  }
}

TW_KERNEL void scan_tile(WarpLane& lane) {
  lane.tile_abs_max = 0;
  lane.tile_less_one_min = kNothing;
  lane.tile_is_finite = true;
  TW_UNROLL
  for (const U32 bits : lane.bits) {
    const U32 magnitude = bits & kMagnitudeMask;
    if (magnitude < kInfinityBits) {
      lane.min = smaller(lane.min, as_float(bits));
      lane.max = larger(lane.max, as_float(bits));
      lane.zero_count += magnitude == 0 ? 1 : 0;
      lane.tile_abs_max = larger(lane.tile_abs_max, magnitude);
      lane.tile_less_one_min = smaller(lane.tile_less_one_min, magnitude - 1);
    } else {
      lane.tile_is_finite = false;
    }
  }
  lane.abs_max = larger(lane.abs_max, lane.tile_abs_max);
  lane.less_one_min = smaller(lane.less_one_min, lane.tile_less_one_min);
}

// Of the lane's elements, `left` as for load_elements.
TW_KERNEL void count_odd_elements(WarpLane& lane, U32 left) {
  TW_UNROLL
  for (U32 i = 0; i < kLaneElements; ++i) {
    const U32 magnitude = lane.bits[i] & kMagnitudeMask;
    if (i * kLanes >= left || magnitude < kInfinityBits) continue;
    if (magnitude > kInfinityBits) {
      ++lane.nan_count;
    } else if (lane.bits[i] == kInfinityBits) {
      ++lane.positive_inf_count;
    } else {
      ++lane.negative_inf_count;
    }
  }
}

TW_KERNEL void sum_window(WarpLane& lane, const Window& window) {
  TW_UNROLL
  for (const U32 bits : lane.bits) {
    const U32 magnitude = bits & kMagnitudeMask;
    const bool inside = magnitude - window.floor < window.ceiling - window.floor;
    const double x = static_cast<double>(as_float(inside ? bits : 0));
    lane.sum = add(lane.sum, x);
    lane.abs_sum = add(lane.abs_sum, x < 0 ? -x : x);
    const double next = add_square(lane.square_high, x);
    const double rounded = add(next, -lane.square_high);
    lane.square_high = next;
    lane.square_low = add(lane.square_low, add_square(-rounded, x));
  }
}

// The largest magnitude below the floor; 0 when there is none.
TW_KERNEL U32 largest_below(const WarpLane& lane, U32 floor) {
  U32 largest = 0;
  TW_UNROLL
  for (const U32 bits : lane.bits) {
    const U32 magnitude = bits & kMagnitudeMask;
    if (magnitude < floor) largest = larger(largest, magnitude);
  }
  return largest;
}

// Adds units·2^exponent to a sum. |units| < 2^62.
template <class Warp>
TW_KERNEL void add_units(Warp& warp, U64* digits, I64 units, int exponent) {
  const U32 bit = static_cast<U32>(exponent - kLowestSumBit);
  const U32 shift = bit % 32;
  const U64 low = static_cast<U64>(units) << shift;
  const I64 high = shift == 0 ? units >> 63 : units >> (64 - shift);
  warp.add(digits[bit / 32], low & 0xffffffffu);
  warp.add(digits[bit / 32 + 1], low >> 32);
  warp.add(digits[bit / 32 + 2], static_cast<U64>(high));
}

// Moves what the accumulators hold into the tensor's sums.
template <class Warp>
TW_KERNEL void end_window(Warp& warp, const Window& window, RawStatistics& raw) {
  const I64 sum = warp.sum([&](const WarpLane& lane) { return units_moved(lane.sum, window.unit); });
  const I64 abs_sum = warp.sum([&](const WarpLane& lane) { return units_moved(lane.abs_sum, window.unit); });
  const I64 high =
      warp.sum([&](const WarpLane& lane) { return units_moved(lane.square_high, window.square_high_unit); });
  const I64 low = warp.sum([&](const WarpLane& lane) { return units_moved(lane.square_low, window.square_low_unit); });
  add_units(warp, raw.sum, sum, window.unit);
  add_units(warp, raw.abs_sum, abs_sum, window.unit);
  add_units(warp, raw.square_sum, high, window.square_high_unit);
  add_units(warp, raw.square_sum, low, window.square_low_unit);
}

template <class Warp>
TW_KERNEL void end_part(Warp& warp, RawStatistics& raw) {
  warp.add(raw.zero_count, static_cast<U64>(warp.sum([](const WarpLane& lane) { return I64{lane.zero_count}; })));
  if (warp.max(
          [](const WarpLane& lane) { return lane.nan_count + lane.positive_inf_count + lane.negative_inf_count; })) {
    warp.add(raw.nan_count, static_cast<U64>(warp.sum([](const WarpLane& lane) { return I64{lane.nan_count}; })));
    warp.add(raw.positive_inf_count,
             static_cast<U64>(warp.sum([](const WarpLane& lane) { return I64{lane.positive_inf_count}; })));
    warp.add(raw.negative_inf_count,
             static_cast<U64>(warp.sum([](const WarpLane& lane) { return I64{lane.negative_inf_count}; })));
  }
  // A lane without finite elements has min above max.
  warp.raise(raw.max_rank, warp.max([](const WarpLane& lane) { return lane.min <= lane.max ? rank_of(lane.max) : 0; }));
  warp.raise(raw.min_rank_not,
             warp.max([](const WarpLane& lane) { return lane.min <= lane.max ? ~rank_of(lane.min) : 0; }));
  warp.raise(raw.abs_max, warp.max([](const WarpLane& lane) { return lane.abs_max; }));
  warp.raise(raw.abs_min_not,
             warp.max([](const WarpLane& lane) { return lane.abs_max == 0 ? 0 : ~(lane.less_one_min + 1); }));
}

// A window that stays open from tile to tile, as long as no element lies above it.
template <class Warp>
struct OpenWindow {
  Window window;
  bool open;

  TW_KERNEL void move_to(Warp& warp, const Window& next, RawStatistics& raw) {
    end(warp, raw);
    window = next;
    open = true;
    warp.each([&](WarpLane& lane, U32) { start_window(lane, window); });
  }
  TW_KERNEL void end(Warp& warp, RawStatistics& raw) {
    if (open) end_window(warp, window, raw);
    open = false;
  }
};

// Sums the tile that the lanes hold: `largest` and `smallest` are magnitudes other than zero.
template <class Warp>
TW_KERNEL void sum_tile(Warp& warp, OpenWindow<Warp>& current, U32 largest, U32 smallest, RawStatistics& raw) {
  // The next tiles are likely to reach a little higher.
  if (!current.open || largest >= current.window.ceiling) current.move_to(warp, window_for(largest, 1), raw);
  warp.each([&](WarpLane& lane, U32) { sum_window(lane, current.window); });
  while (smallest < current.window.floor) {
    const U32 floor = current.window.floor;
    const U32 below = warp.max([&](const WarpLane& lane) { return largest_below(lane, floor); });
    // No margin: nothing that has been summed may be in it.
    current.move_to(warp, window_for(below, 0), raw);
    warp.each([&](WarpLane& lane, U32) { sum_window(lane, current.window); });
  }
}

template <class Warp>
TW_KERNEL void summarize_part(Warp& warp, const TensorTask& task, U32 part, RawStatistics& raw) {
  const U64 first = static_cast<U64>(part - task.first_part) * kPartElements;
  const U32 count = static_cast<U32>(task.count - first < kPartElements ? task.count - first : kPartElements);
  OpenWindow<Warp> current;
  current.open = false;
  warp.each([](WarpLane& lane, U32) { start_part(lane); });
  for (U32 at = 0; at < count; at += kTileElements) {
    const auto left = [&](U32 index) { return count - at > index ? count - at - index : 0; };
    warp.each([&](WarpLane& lane, U32 index) {
      load_tile(lane, task, first + at + index, left(index));
      scan_tile(lane);
    });
    if (warp.max([](const WarpLane& lane) { return lane.tile_is_finite ? 0u : 1u; })) {
      warp.each([&](WarpLane& lane, U32 index) { count_odd_elements(lane, left(index)); });
    }
    const U32 largest = warp.max([](const WarpLane& lane) { return lane.tile_abs_max; });
    if (largest == 0) continue;
    const U32 smallest = ~warp.max([](const WarpLane& lane) { return ~lane.tile_less_one_min; }) + 1;
    sum_tile(warp, current, largest, smallest, raw);
  }
  current.end(warp, raw);
  end_part(warp, raw);
}

// The task that the part belongs to: the last that begins at or before it.
TW_KERNEL U32 find_task(const TensorTask* tasks, U32 task_count, U32 part) {
  U32 low = 0;
  U32 high = task_count;
  while (high - low > 1) {
    const U32 middle = (low + high) / 2;
    if (tasks[middle].first_part <= part) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

#ifdef __CUDACC_RTC__

// A lane that works together with the 31 others of its warp.
struct GpuWarp {
  WarpLane lane;
  U32 index;

  template <class Function>
  TW_KERNEL void each(Function function) {
    function(lane, index);
  }
  template <class Function>
  TW_KERNEL U32 max(Function function) {
    U32 value = function(lane);
    TW_UNROLL
    for (U32 distance = kLanes / 2; distance > 0; distance /= 2) {
      value = larger(value, __shfl_xor_sync(kNothing, value, distance));
    }
    return value;
  }
  template <class Function>
  TW_KERNEL I64 sum(Function function) {
    I64 value = function(lane);
    TW_UNROLL
    for (U32 distance = kLanes / 2; distance > 0; distance /= 2) {
      value += __shfl_xor_sync(kNothing, value, distance);
    }
    return value;
  }
  TW_KERNEL void add(U64& to, U64 value) {
    if (index == 0 && value != 0) atomicAdd(&to, value);
  }
  TW_KERNEL void raise(U32& to, U32 value) {
    if (index == 0 && value != 0) atomicMax(&to, value);
  }
};

// One warp for each part. Blocks are of whole warps.
extern "C" __global__ void __launch_bounds__(256)
    trainwarden_statistics(const TensorTask* tasks, U32 task_count, U32 part_count, RawStatistics* raw) {
  const U32 part = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
  if (part >= part_count) return;
  const U32 task = find_task(tasks, task_count, part);
  GpuWarp warp;
  warp.index = threadIdx.x % kLanes;
  summarize_part(warp, tasks[task], part, raw[task]);
}

#endif

}  // namespace trainwarden::device

#endif  // TRAINWARDEN_DEVICE_STATISTICS_KERNEL_H
