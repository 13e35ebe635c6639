// An array of jobs: the same job once for each combination of values of some hyper-parameters.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"
#include "work/document/document.h"
#include "work/document/mistakes.h"

namespace trainwarden::jobs {

inline constexpr std::size_t kMaxArrayJobs = 1000;

struct ArrayAxis {
  std::string name;  // of a hyper-parameter
  std::vector<document::DocumentValue> values;
};

// "lr=0.1,0.01", and whole numbers as "seed=1..5", which has both ends. A comma within brackets parts nothing:
// "layers=[64,32],[128]" has two values. kInvalidArgument, also for a range that goes down or has fractions.
Result<ArrayAxis> parse_axis(std::string_view text);

// A table with a list of values for each hyper-parameter, or a range as a text: seed = "1..5".
std::vector<ArrayAxis> read_axes(const document::DocumentValue& table, document::Mistakes& mistakes);

// The values of each job, by hyper-parameter; those of the last axis change first. kInvalidArgument when a
// hyper-parameter has two axes or a value twice, or there are more than kMaxArrayJobs.
using ArrayPoint = std::map<std::string, document::DocumentValue>;
Result<std::vector<ArrayPoint>> points_of(const std::vector<ArrayAxis>& axes);

std::string name_in_array(std::string_view array, std::size_t index);  // "sweep-0"

}  // namespace trainwarden::jobs
