#include "work/launch/watch_pace.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace trainwarden::launch {
namespace {

using std::chrono::milliseconds;

// Of the budget: the rest is for what is captured and for judging it, which comes only with steps that were kept.
constexpr double kLookingShare = 0.1;
// Without a budget: a run of many workers is dear to look at.
constexpr double kOrdinaryShare = 0.1;
// A person who waits for a stop waits no longer than this; what a dear look costs makes kept steps rarer.
constexpr milliseconds kLongest{500};
constexpr int kNiceness = 5;

}  // namespace

WatchPace::WatchPace(double budget, milliseconds least)
    : share_(budget > 0 ? budget * kLookingShare : kOrdinaryShare), least_(least) {}

milliseconds WatchPace::after(std::int64_t look_ns) const {
  const milliseconds paid(static_cast<std::int64_t>(static_cast<double>(look_ns) / share_ / 1e6));
  return std::clamp(paid, std::min(least_, kLongest), kLongest);
}

std::int64_t thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void give_way() {
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness));  // a hint
}

}  // namespace trainwarden::launch
