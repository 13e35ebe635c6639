// WatchPace: how often a run is looked at, so that looking takes no more than its share of a CPU.
#pragma once

#include <chrono>
#include <cstdint>

namespace trainwarden::launch {

class WatchPace {
 public:
  // `budget`: what capture and all beside it may take of the training's time; 0: no limit, and a
  // tenth of a CPU for looking. `least`: between two looks.
  WatchPace(double budget, std::chrono::milliseconds least);

  // How long to wait after a look that took so much CPU time.
  std::chrono::milliseconds after(std::int64_t look_ns) const;

 private:
  const double share_;
  const std::chrono::milliseconds least_;
};

// Of the calling thread, so far.
std::int64_t thread_cpu_ns();
// Has the calling thread, and those that it starts from now on, give way to others.
void give_way();

}  // namespace trainwarden::launch
