// The numbers of a tensor at a step, from whatever was kept of it, and remembered.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/statistics.h"
#include "trainwarden/status.h"
#include "ui/views/shelf.h"
#include "ui/views/tensor_sighting.h"

namespace trainwarden::views {

// Counts of elements, and numbers over the finite ones. Their order is that of kNumberNames.
enum class Number : std::uint8_t {
  kCount,
  kNan,
  kPositiveInf,
  kNegativeInf,
  kZero,
  kMin,
  kMax,
  kMean,
  kStd,
  kAbsMin,
  kAbsMax,
  kAbsMean,
  kL1,
  kL2,
};
inline constexpr std::array<std::string_view, 14> kNumberNames = {
    "count", "nan", "positive_inf", "negative_inf", "zero",     "min", "max",
    "mean",  "std", "abs_min",      "abs_max",      "abs_mean", "l1",  "l2"};

struct TensorNumbers {
  std::array<double, kNumberNames.size()> numbers;  // NaN: not known
  // What they were read from: kStatistics, kValue or kScalar (computed from it), or kReductions, which hold numbers
  // over all elements, also NaN and infinite ones.
  journal::RecordForm form = journal::RecordForm::kValue;
  std::string worker;
  bool has_histogram = false;
  Histogram histogram;
  std::optional<std::uint64_t> hash;

  double operator[](Number number) const { return numbers[static_cast<std::size_t>(number)]; }
};

// How many elements a question may still have read to compute what was not saved; others wait meanwhile.
struct ComputeBudget {
  std::int64_t elements = 1 << 26;
  bool touched = false;
};

// With a histogram, when it was kept or can be computed. Null when that would go over the budget (the first
// never does): ask again, what was computed is remembered. kOutOfRange when nothing with numbers was kept at this step.
Result<std::shared_ptr<const TensorNumbers>> tensor_numbers(OpenRun::Use& use, std::string_view tensor,
                                                            std::int64_t step, std::string_view worker,
                                                            ComputeBudget& budget);

struct NumbersOverSteps {
  std::vector<std::int64_t> steps;                            // rising
  std::vector<std::shared_ptr<const TensorNumbers>> numbers;  // of each step
  std::size_t pending = 0;                                    // steps that were left out for now: ask again
  std::size_t damaged = 0;                                    // steps that cannot be read
};
// The newest first when the budget does not suffice.
NumbersOverSteps numbers_over_steps(OpenRun::Use& use, std::string_view tensor, std::span<const std::int64_t> steps,
                                    std::string_view worker, ComputeBudget& budget);

// Those of `presence` in [from, to] and of the mode with numbers: with values, statistics, scalars or reductions.
std::vector<std::int64_t> steps_with_numbers(const TensorPresence& presence, std::int64_t from, std::int64_t to,
                                             std::optional<Mode> mode);
// The same of `steps` (rising), whatever was kept.
std::vector<std::int64_t> steps_within(const TensorPresence& presence, std::span<const std::int64_t> steps,
                                       std::int64_t from, std::int64_t to, std::optional<Mode> mode);

}  // namespace trainwarden::views
