#include "work/job_events/deliverer.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>

#include <fmt/format.h>

#include "react/actions/action_kind.h"
#include "react/delivery/dead_letters.h"
#include "work/job_events/job_event.h"
#include "work/job_events/job_events_testing.h"

namespace trainwarden::job_events {
namespace {

using jobs::JobPhase;
using std::chrono::milliseconds;

class DelivererTest : public JobFolderTest {
 protected:
  static DelivererSurroundings surroundings(const std::function<void()>& meanwhile = {}) {
    DelivererSurroundings around;
    around.kinds = actions::local_action_kinds();
    around.idle = milliseconds(50);
    around.pause = [meanwhile](milliseconds time) {
      if (meanwhile) meanwhile();
      std::this_thread::sleep_for(time / 10);
      return true;
    };
    return around;
  }

  // Until nothing is left.
  Status deliver(const std::function<void()>& meanwhile = {}) const {
    return deliver_job_events(jobs(), system_clock(), surroundings(meanwhile));
  }

  // In a process of its own, which is killed.
  void deliver_and_be_killed(milliseconds after) const {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(deliver().ok() ? 0 : 1);
    std::this_thread::sleep_for(after);
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
  }

  events::LedgerContents ledger() const {
    EventFolder folder(jobs());
    return *events::read_ledger(folder.place().storage(), *folder.info(system_clock()));
  }
};

TEST_F(DelivererTest, DeliversEachTransitionOfAllJobsAndEnds) {
  subscribe("all");
  jobs::JobRecord first = submit("first");
  jobs::JobRecord second = submit("second");
  complete(first);
  bool ended = false;
  ASSERT_TRUE(deliver([&] {
                if (!std::exchange(ended, true)) complete(second);
              }).ok());
  const auto all = delivered();
  EXPECT_EQ(all.size(), 8u);
  for (const jobs::JobRecord& job : {first, second}) {
    for (int seq = 1; seq <= 4; ++seq) {
      const std::string id = fmt::format("{}-{}", job_identity(job.order()), seq);
      ASSERT_EQ(all.count(id), 1u) << id;
      EXPECT_EQ(all.at(id).size(), 1u) << id;
      EXPECT_EQ(all.at(id).front().at("data").at("TrainingJobName"), job.order().name);
    }
  }
  EventFolder folder(jobs());
  EXPECT_TRUE(folder.markers().names()->empty());
  EXPECT_FALSE(folder.has_deliverer(system_clock()));
}

TEST_F(DelivererTest, OnlyWhatAPatternWantsIsDelivered) {
  subscribe("ended", R"({"data": {"change": {"kind": ["job"]}, "TrainingJobStatus": ["Completed", "Failed"]}})");
  jobs::JobRecord job = submit("first");
  auto run = run_ledger("first");
  run->append(alert("LossNotDecreasing", 7));
  run.reset();
  complete(job);
  ASSERT_TRUE(deliver().ok());
  const auto all = delivered();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.begin()->second.front().at("data").at("SecondaryStatus"), "Completed");
  EXPECT_EQ(ledger().events.size(), 5u);
}

TEST_F(DelivererTest, AnAlertOfOneRunStopsItsJobAndNoOther) {
  subscribe("stop-it", "", "stop:rule=VanishingGradient");
  jobs::JobRecord bad = submit("bad");
  jobs::JobRecord good = submit("good");
  move(bad, {JobPhase::kStarting, JobPhase::kTraining});
  move(good, {JobPhase::kStarting, JobPhase::kTraining});
  auto run = run_ledger("bad");
  run->append(alert("VanishingGradient", 7));
  ASSERT_TRUE(deliver([&] {
                if (bad.current()->status != JobPhase::kStopping) return;
                run.reset();
                move(bad, {JobPhase::kStopped});
                move(good, {JobPhase::kCompleted});
              }).ok());
  const auto transitions = *bad.transitions();
  EXPECT_EQ(transitions[3].cause, "subscription");
  EXPECT_EQ(transitions[3].message, "stop-it asks for it: VanishingGradient fired");
  EXPECT_EQ(good.current()->status, JobPhase::kCompleted);
}

TEST_F(DelivererTest, ASubscriptionGetsWhatHappenedSinceItWasMade) {
  subscribe("old", R"({"type": ["none"]})");
  jobs::JobRecord before = submit("before");
  complete(before);
  ASSERT_TRUE(deliver().ok());
  const std::int64_t now = system_clock().unix_ns();
  ASSERT_TRUE(SubscriptionFolder(jobs())
                  .add({"new", R"({"subject": ["job"]})", "file:path=" + delivered_file().string(), now})
                  .ok());
  jobs::JobRecord after = submit("after");
  complete(after);
  ASSERT_TRUE(deliver().ok());
  const auto all = delivered();
  EXPECT_EQ(all.size(), 4u);
  EXPECT_EQ(all.count(job_identity(after.order()) + "-1"), 1u);
}

TEST_F(DelivererTest, ASubscriptionThatComesWhileItWorksIsHeeded) {
  subscribe("old", R"({"type": ["none"]})");
  jobs::JobRecord job = submit("first");
  int looks = 0;
  ASSERT_TRUE(deliver([&] {
                if (++looks == 3) subscribe("late");
                if (!delivered().empty() && job.current()->status == JobPhase::kPending) complete(job);
                ASSERT_LT(looks, 3000);
              }).ok());
  EXPECT_EQ(delivered().size(), 4u);
}

TEST_F(DelivererTest, OneThatCannotBeDeliveredToHoldsNobodyUp) {
  subscribe("all");
  std::ofstream(SubscriptionFolder(jobs()).file_of("broken")) << "{";
  jobs::JobRecord job = submit("first");
  complete(job);
  ASSERT_TRUE(deliver().ok());
  EXPECT_EQ(delivered().size(), 4u);
}

TEST_F(DelivererTest, WhatWasGivenUpIsADeadLetterAndMayBeTriedAnew) {
  const std::filesystem::path flag = folder_.path() / "flag";
  subscribe("ops", R"({"data": {"TrainingJobStatus": ["Completed"]}})",
            fmt::format("exec:command=test -e {}", flag.string()));
  jobs::JobRecord job = submit("first");
  complete(job);
  ASSERT_TRUE(deliver().ok());
  auto letters = delivery::dead_letters(ledger().deliveries, {});
  ASSERT_EQ(letters.size(), 1u);
  std::ofstream(flag.string()) << "now";
  EventFolder folder(jobs());
  {
    auto own = events::Ledger::open(folder.place().storage(), system_clock(), *folder.info(system_clock()));
    ASSERT_TRUE(own.ok());
    delivery::decide(**own, letters, delivery::LetterDecision::kRedrive);
  }
  ASSERT_TRUE(folder.markers().enter("first").ok());
  ASSERT_TRUE(deliver().ok());
  EXPECT_TRUE(delivery::dead_letters(ledger().deliveries, {}).empty());
  EXPECT_EQ(ledger().deliveries.back().state, events::DeliveryState::kDelivered);
}

TEST_F(DelivererTest, AJobThatNeverCameIsForgotten) {
  subscribe("all");
  ASSERT_TRUE(EventFolder(jobs()).markers().enter("ghost").ok());
  FakeClock clock(system_clock().unix_ns() + 61'000'000'000);
  ASSERT_TRUE(deliver_job_events(jobs(), clock, surroundings()).ok());
  EXPECT_TRUE(EventFolder(jobs()).markers().names()->empty());
}

// 200 jobs move on while whoever delivers is killed again and again.
TEST_F(DelivererTest, KilledAtAnyTimeNothingIsLost) {
  constexpr int kJobs = 200;
  subscribe("all", R"({"subject": ["job"]})");
  std::vector<jobs::JobRecord> records;
  for (int i = 0; i < kJobs; ++i) records.push_back(submit(fmt::format("job-{}", i)));
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    for (int i = round * kJobs / 20; i < (round + 1) * kJobs / 20; ++i) complete(records[static_cast<std::size_t>(i)]);
    deliver_and_be_killed(milliseconds(random() % 150));
  }
  ASSERT_TRUE(deliver().ok());
  const auto all = delivered();
  EXPECT_EQ(all.size(), std::size_t{kJobs} * 4);
  std::size_t again = 0;
  for (const jobs::JobRecord& job : records) {
    for (int seq = 1; seq <= 4; ++seq) {
      const auto found = all.find(fmt::format("{}-{}", job_identity(job.order()), seq));
      ASSERT_NE(found, all.end()) << job.order().name << " " << seq;
      again += found->second.size() - 1;
    }
  }
  EXPECT_LE(again, 20u) << "a kill costs one delivery that is made again";
  EXPECT_EQ(ledger().events.size(), std::size_t{kJobs} * 4) << "and no event is recorded twice";
}

}  // namespace
}  // namespace trainwarden::job_events
