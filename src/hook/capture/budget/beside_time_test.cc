#include "hook/capture/budget/beside_time.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace trainwarden::capture {
namespace {

constexpr std::int64_t kMillisecondNs = 1'000'000;
constexpr std::int64_t kHour = std::int64_t{3'600'000} * kMillisecondNs;

std::int64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000 * kMillisecondNs + now.tv_nsec;
}

void work_for(std::int64_t ns) {
  for (const std::int64_t end = cpu_ns() + ns; cpu_ns() < end;) {
  }
}

TEST(BesideTime, IsThatOfTheWriterAndOfWhoWatches) {
  std::int64_t writer_ns = 0;
  const BesideTime beside([&] { return writer_ns; }, std::to_string(getpid()).c_str(), 1);
  work_for(20 * kMillisecondNs);
  writer_ns = 1'000 * kMillisecondNs;
  EXPECT_GE(beside.spent_ns(kHour), 1'020 * kMillisecondNs);
}

TEST(BesideTime, WorkersShareWhoWatchesThem) {
  const BesideTime all([] { return 0; }, std::to_string(getpid()).c_str(), 1);
  const BesideTime shared([] { return 0; }, std::to_string(getpid()).c_str(), 4);
  work_for(20 * kMillisecondNs);
  const std::int64_t share = shared.spent_ns(kHour);
  EXPECT_GE(share, 5 * kMillisecondNs);
  EXPECT_LT(2 * share, all.spent_ns(kHour));
}

// Of a training that has used two seconds of CPU in one, a CPU is half of what it has.
TEST(BesideTime, IsAPartOfWhatTheTrainingHas) {
  const BesideTime beside([] { return 10 * kMillisecondNs; }, nullptr, 1);
  work_for(20 * kMillisecondNs);
  EXPECT_LE(beside.spent_ns(10 * kMillisecondNs), 5 * kMillisecondNs);
  EXPECT_EQ(beside.spent_ns(kHour), 10 * kMillisecondNs);
}

TEST(BesideTime, NobodyWatchesUnderANumberThatIsNone) {
  for (const char* watcher : {"", "0", "-1", "x", "12x", "999999999999"}) {
    const BesideTime beside([] { return 7; }, watcher, 1);
    work_for(kMillisecondNs);
    EXPECT_EQ(beside.spent_ns(kHour), 7) << watcher;
  }
}

}  // namespace
}  // namespace trainwarden::capture
