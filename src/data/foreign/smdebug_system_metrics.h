// What SageMaker sampled of a machine: one JSON object a line, one line a value.
//
//   {"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":4.76,"NodeId":"algo-1","Timestamp":1591160699.457}
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace trainwarden::foreign {

struct SmdebugSample {
  std::string_view type;       // "cpu", "gpu", "i/o", "memory", "network"
  std::string_view name;       // "cpu0", "gpu3", "MemoryUsedPercent"
  std::string_view dimension;  // "CPUUtilization"; may be empty
  std::string_view node;       // "algo-1"
  double value = 0;            // finite
  std::int64_t unix_ns = 0;
};

struct SmdebugSampleCount {
  std::uint64_t read = 0;
  std::uint64_t damaged = 0;  // lines that are not as they must be, and were left out
};

// In the order of the file. The texts of a sample live as long as the call of `take`. Files that are an array, as the
// first versions wrote them, are read too.
SmdebugSampleCount read_smdebug_samples(std::string_view text, const std::function<void(const SmdebugSample&)>& take);

// With its line feed.
std::string smdebug_sample_line(const SmdebugSample& sample);

}  // namespace trainwarden::foreign
