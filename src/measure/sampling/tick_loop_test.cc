#include "measure/sampling/tick_loop.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "measure/machine/reading.h"

namespace trainwarden::sampling {
namespace {

using std::chrono::milliseconds;

// What probes and tests know of each other.
class Meeting {
 public:
  void arrive() {
    const std::lock_guard lock(mutex_);
    ++arrived_;
    changed_.notify_all();
  }
  void await(int times) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= times; });
  }
  int arrived() {
    const std::lock_guard lock(mutex_);
    return arrived_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
};

class CountingProbe final : public machine::Probe {
 public:
  CountingProbe(Meeting& meeting, std::string name, int every)
      : meeting_(meeting), name_(std::move(name)), every_(every) {}
  void read(machine::Reading& reading) override {
    reading.set(reading.id_of({name_, "", MetricKind::kCounter, MetricSource::kHost, ""}), ++count_);
    meeting_.arrive();
  }
  int every() const override { return every_; }

 private:
  Meeting& meeting_;
  const std::string name_;
  const int every_;
  double count_ = 0;
};

// Does not come back before it is let.
class HangingProbe final : public machine::Probe {
 public:
  HangingProbe(Meeting& entered, Meeting& let, Meeting& left) : entered_(entered), let_(let), left_(left) {}
  void read(machine::Reading&) override {
    entered_.arrive();
    let_.await(1);
    left_.arrive();
  }

 private:
  Meeting &entered_, &let_, &left_;
};

TickLoopPlan plan_of(std::function<std::vector<std::unique_ptr<machine::Probe>>()> open,
                     std::chrono::nanoseconds interval = milliseconds(1)) {
  return {"host", 0, std::move(open), interval};
}

// It is read at each tick.
std::vector<std::unique_ptr<machine::Probe>> one_probe(Meeting& read) {
  std::vector<std::unique_ptr<machine::Probe>> probes;
  probes.push_back(std::make_unique<CountingProbe>(read, "read", 1));
  return probes;
}

std::map<std::string, std::size_t> counts_in(const journal::SampleBatch& batch) {
  std::map<std::uint32_t, std::string> names;
  for (const auto& entry : batch.new_metrics) names[entry.id] = entry.metric.name;
  std::map<std::string, std::size_t> counts;
  for (const auto& table : batch.tables) {
    for (const auto& series : table.series) counts[names.at(series.metric)] += series.values.size();
  }
  return counts;
}

TEST(TickLoop, ReadsProbesAtTheirTicks) {
  auto buffer = std::make_shared<SampleBuffer>(1);
  Meeting fast, slow;
  TickLoop loop(plan_of([&] {
                  std::vector<std::unique_ptr<machine::Probe>> probes;
                  probes.push_back(std::make_unique<CountingProbe>(fast, "fast", 1));
                  probes.push_back(std::make_unique<CountingProbe>(slow, "slow", 5));
                  return probes;
                }),
                buffer, system_clock());
  slow.await(TickLoop::kWholeTicks + 2);
  loop.stop();
  const auto counts = counts_in(buffer->drain());
  const std::size_t ticks = counts.at("fast");
  EXPECT_GE(ticks, TickLoop::kWholeTicks + 6) << "the slow one is read at each of the first, then at 20 and 25";
  EXPECT_LE(counts.at("slow"), TickLoop::kWholeTicks + (ticks - TickLoop::kWholeTicks + 4) / 5 + 1)
      << "and once more at the last";
  EXPECT_EQ(counts.at("sampler.lateness"), ticks);
  EXPECT_LE(counts.at("sampler.cpu"), (ticks + 9) / 10 + 1) << "at each tenth tick, and at the last";
  EXPECT_GT(loop.cpu_time().count(), 0);
}

TEST(TickLoop, WhereThereIsNothingToReadItEnds) {
  auto buffer = std::make_shared<SampleBuffer>(1);
  TickLoop loop(plan_of([] { return std::vector<std::unique_ptr<machine::Probe>>(); }), buffer, system_clock());
  loop.stop();
  EXPECT_TRUE(buffer->drain().tables.empty());
}

TEST(TickLoop, RestsUntilItHasAnIntervalAgain) {
  auto buffer = std::make_shared<SampleBuffer>(1);
  Meeting read, read_by_another;
  TickLoop loop(plan_of([&] { return one_probe(read); }), buffer, system_clock());
  read.await(3);
  loop.set_interval(std::nullopt);
  const int before = read.arrived();
  TickLoop another(plan_of([&] { return one_probe(read_by_another); }), std::make_shared<SampleBuffer>(1),
                   system_clock());
  read_by_another.await(100);
  EXPECT_LE(read.arrived(), before + 1) << "one tick may have been on its way, and a hundred would have been due";
  buffer->drain();
  loop.set_interval(milliseconds(2));
  read.await(read.arrived() + 10);
  EXPECT_FALSE(buffer->drain().tables.empty());
  loop.set_interval(std::nullopt);
  loop.stop();
  buffer->drain();
}

TEST(TickLoop, WhatRestsMakesNoLastTick) {
  auto buffer = std::make_shared<SampleBuffer>(1);
  Meeting read;
  // The first tick is made at once, and no other is due before the loop rests.
  TickLoop loop(plan_of([&] { return one_probe(read); }, std::chrono::hours(1)), buffer, system_clock());
  read.await(1);
  loop.set_interval(std::nullopt);
  loop.stop();
  EXPECT_EQ(counts_in(buffer->drain()).at("read"), 1U);
  EXPECT_EQ(read.arrived(), 1);
}

TEST(TickLoop, AProbeThatHangsKeepsNobody) {
  // Never destroyed: the thread may outlive the test, and the program's own statics.
  static Meeting &entered = *new Meeting, &let = *new Meeting, &left = *new Meeting;
  auto buffer = std::make_shared<SampleBuffer>(1);
  {
    TickLoop loop(plan_of([] {
                    std::vector<std::unique_ptr<machine::Probe>> probes;
                    probes.push_back(std::make_unique<HangingProbe>(entered, let, left));
                    return probes;
                  }),
                  buffer, system_clock());
    entered.await(1);
    EXPECT_FALSE(loop.hangs(std::chrono::hours(1)));
    while (!loop.hangs(milliseconds(1))) {
    }
    loop.stop();
  }
  let.arrive();
  left.await(1);
}

}  // namespace
}  // namespace trainwarden::sampling
