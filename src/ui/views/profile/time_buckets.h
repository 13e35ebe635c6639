// TimeBuckets: a number over time in so many stretches of the same length, which double their length as time goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainwarden::views {

class TimeBuckets {
 public:
  // `most`: stretches; 2 at least.
  TimeBuckets(std::int64_t from_unix_ns, std::size_t most) : from_unix_ns_(from_unix_ns), most_(most) {}

  // Adds a value with its weight, at a time, or spread over a stretch of it. What lies before the beginning is left
  // out, and so is what is more than ten years behind it.
  void add(std::int64_t unix_ns, double value, double weight = 1);
  void spread(std::int64_t from_unix_ns, std::int64_t to_unix_ns, double value);

  // The weighted means in `count` stretches of the same length; NaN where there is nothing. The value of a stretch of
  // ours goes into each of the wanted ones that it touches, by the length in common.
  std::vector<double> means(std::int64_t from_unix_ns, std::int64_t to_unix_ns, std::size_t count) const;
  std::int64_t length_ns() const { return length_ns_; }

 private:
  struct Bucket {
    float sum = 0;
    float weight = 0;
  };
  bool make_room(std::int64_t unix_ns);
  void add_to(std::size_t bucket, double value, double weight);

  const std::int64_t from_unix_ns_;
  const std::size_t most_;
  std::int64_t length_ns_ = 100'000'000;
  std::vector<Bucket> buckets_;
};

}  // namespace trainwarden::views
