// Fills buckets one after the other.
#include "parallel/bucket_plan.h"

namespace bert {

std::vector<std::vector<std::size_t>> plan_buckets(const std::vector<GradientSize>& sizes,
                                                   const std::vector<std::size_t>& order, std::int64_t first_bytes,
                                                   std::int64_t bucket_bytes) {
  std::vector<std::vector<std::size_t>> buckets;
  std::int64_t bytes = 0;  // of the open bucket, which is the last
  bool open = false;
  for (const std::size_t place : order) {
    if (open && sizes[buckets.back().front()].type != sizes[place].type) open = false;
    if (!open) {
      buckets.emplace_back();
      bytes = 0;
      open = true;
    }
    buckets.back().push_back(place);
    bytes += sizes[place].numbers * static_cast<std::int64_t>(c10::elementSize(sizes[place].type));
    if (bytes >= (buckets.size() == 1 ? first_bytes : bucket_bytes)) open = false;
  }
  return buckets;
}

}  // namespace bert
