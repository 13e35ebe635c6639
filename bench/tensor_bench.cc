// What statistics cost, against reading the same memory: 256 MiB of float32, one thread.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <hwy/aligned_allocator.h>
#include <hwy/targets.h>

#include "bench.h"
#include "trainwarden/statistics.h"

namespace trainwarden::bench {
namespace {

constexpr std::size_t kFloats = (std::size_t{256} << 20) / sizeof(float);
constexpr int kRounds = 15;
constexpr double kGigabytes = static_cast<double>(kFloats * sizeof(float)) / 1e9;

// The yardstick: a sum of floats in the widest vectors of this CPU, in as many lanes as hide the latency of an
// addition.
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
float plain_sum(const float* values, std::size_t count) {
  constexpr std::size_t kLanes = 128;
  float lanes[kLanes] = {};
  for (std::size_t i = 0; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
  }
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

// Aligned to cache lines, as frameworks align tensors: else each load of the widest vectors would touch two lines, and
// the yardstick would be too short.
class Floats {
 public:
  Floats() : memory_(hwy::AllocateAligned<float>(kFloats)) {}
  float& operator[](std::size_t i) { return memory_[i]; }
  const float* data() const { return memory_.get(); }

 private:
  hwy::AlignedFreeUniquePtr<float[]> memory_;
};

// Normal numbers, repeated from a pool: drawing them all would take longer than the measurement.
Floats normal_floats() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> pool(std::size_t{1} << 20);
  for (float& value : pool) value = normal(random);
  Floats floats;
  for (std::size_t i = 0; i < kFloats; ++i) floats[i] = pool[(i * 7919) % pool.size()];
  return floats;
}

// As gradients are: a tenth of the elements nine orders of magnitude below the others.
Floats wide_floats() {
  std::mt19937 random(2);
  Floats floats = normal_floats();
  for (std::size_t i = 0; i < kFloats; ++i) floats[i] *= random() % 10 == 0 ? 1e-12f : 1e-3f;
  return floats;
}

void compute(const Floats& floats, const StatisticsOptions& options) {
  const auto view = TensorView::of(floats.data(), DType::kFloat32, {static_cast<std::int64_t>(kFloats)});
  keep(compute_statistics(view, options));
}

void use_targets(std::int64_t targets) {
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

void compute_on_avx2(const Floats& floats) {
#if defined(__x86_64__)
  if ((hwy::SupportedTargets() & HWY_AVX2) != 0) use_targets(HWY_AVX2);
#endif
  compute(floats, {});
  use_targets(0);
}

Spread gigabytes_per_second(const Spread& ns) {
  return {kGigabytes / ns.high * 1e9, kGigabytes / ns.median * 1e9, kGigabytes / ns.low * 1e9};
}

Result<std::vector<Figure>> stats_vs_sum() {
  const Floats floats = normal_floats();
  const Floats wide = wide_floats();
  struct Arm {
    std::string suffix;
    std::function<void()> run;
    std::string limit;
  };
  const std::vector<Arm> arms = {
      {".sum", [&] { keep(plain_sum(floats.data(), kFloats)); }, "memory read bandwidth of one thread"},
      {"", [&] { compute(floats, {}); }, "vector arithmetic of the exact sums"},
      {".histogram", [&] { compute(floats, {.histogram = true}); }, "one count in memory for each element"},
      {".hash", [&] { compute(floats, {.hash = true}); }, "64-bit multiplications"},
      {".wide_range", [&] { compute(wide, {}); }, "a second pass over each block for the small elements"},
      {".avx2", [&] { compute_on_avx2(floats); }, "half as many lanes"},
  };
  std::vector<std::function<void()>> runs;
  for (const Arm& arm : arms) runs.push_back(arm.run);
  const PairedRuns measured = run_interleaved(kRounds, runs);

  const std::string name = "tensor.stats_vs_sum";
  std::vector<Figure> figures;
  for (std::size_t i = 1; i < arms.size(); ++i) {
    const Goal goal = i == 1 ? at_least(0.6) : Goal{};
    figures.push_back({name + arms[i].suffix, measured.ratio(0, i), "ratio", goal, arms[i].limit});
  }
  for (std::size_t i = 0; i < arms.size(); ++i) {
    figures.push_back(
        {name + arms[i].suffix + ".speed", gigabytes_per_second(measured.ns(i)), "GB/s", Goal{}, arms[i].limit});
  }
  return figures;
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"tensor.stats_vs_sum", stats_vs_sum}};
}

}  // namespace trainwarden::bench
