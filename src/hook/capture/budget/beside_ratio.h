// BesideRatio: how much is spent beside the training for each nanosecond that capture takes inside it.
//
// What is spent beside comes late and in lumps, so nobody knows for which step it was. Taken together it is known.
#pragma once

#include <algorithm>

namespace trainwarden::capture {

class BesideRatio {
 public:
  // Of a step that kept something, with what was spent beside since the one before; that may be less than nothing, as
  // what is spent there anyway is only known on the average.
  void add(double inside_ns, double beside_ns) {
    inside_ns_ += inside_ns;
    beside_ns_ += beside_ns;
    if (++count_ < kForgotten) return;
    inside_ns_ /= 2;
    beside_ns_ /= 2;
    count_ /= 2;
  }
  double ratio() const { return inside_ns_ > 0 ? std::max(beside_ns_, 0.0) / inside_ns_ : 0; }

 private:
  static constexpr int kForgotten = 1024;  // steps, of which the older half then counts half as much

  double inside_ns_ = 0;
  double beside_ns_ = 0;
  int count_ = 0;
};

}  // namespace trainwarden::capture
