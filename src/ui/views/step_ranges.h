// Step ranges: rising steps as [first, stride, count] after [first, stride, count]. A million steps at regular
// distances are one range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace trainwarden::views {

struct StridedSteps {
  std::int64_t first = 0;
  std::int64_t stride = 1;
  std::int64_t count = 0;
  friend bool operator==(const StridedSteps&, const StridedSteps&) = default;
};

class StepFolder {
 public:
  void add(std::int64_t step);
  const std::vector<StridedSteps>& ranges() const { return ranges_; }

 private:
  std::vector<StridedSteps> ranges_;
};

std::vector<StridedSteps> fold_steps(std::span<const std::int64_t> steps);

}  // namespace trainwarden::views
