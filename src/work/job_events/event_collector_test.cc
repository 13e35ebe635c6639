#include "work/job_events/event_collector.h"

#include <filesystem>

#include "work/job_events/job_events_testing.h"

namespace trainwarden::job_events {
namespace {

using jobs::JobPhase;

class EventCollectorTest : public JobFolderTest {
 protected:
  void SetUp() override { open(); }

  void open() {
    collector_.reset();
    ledger_.reset();
    EventFolder folder(jobs());
    const auto info = folder.info(system_clock());
    ASSERT_TRUE(info.ok()) << info.status().to_string();
    places_.push_back(folder.place());
    auto ledger = events::Ledger::open(places_.back().storage(), system_clock(), *info);
    ASSERT_TRUE(ledger.ok()) << ledger.status().to_string();
    ledger_ = *std::move(ledger);
    collector_ = std::make_unique<EventCollector>(storage::Location(jobs()), *ledger_);
  }

  std::vector<std::string> ids() const {
    std::vector<std::string> all;
    for (std::uint64_t seq = 1; seq <= ledger_->last_seq(); ++seq) all.push_back(ledger_->event(seq).id);
    return all;
  }

  std::unique_ptr<events::Ledger> ledger_;
  std::unique_ptr<EventCollector> collector_;
};

TEST_F(EventCollectorTest, TakesEachTransitionOnce) {
  jobs::JobRecord job = submit("first");
  EXPECT_FALSE(*collector_->collect("first"));
  move(job, {JobPhase::kStarting});
  EXPECT_FALSE(*collector_->collect("first"));
  EXPECT_FALSE(*collector_->collect("first"));
  move(job, {JobPhase::kTraining, JobPhase::kCompleted});
  EXPECT_TRUE(*collector_->collect("first"));
  const std::string identity = job_identity(job.order());
  EXPECT_EQ(ids(), (std::vector<std::string>{identity + "-1", identity + "-2", identity + "-3", identity + "-4"}));
}

TEST_F(EventCollectorTest, GoesOnWhereAnotherWasKilled) {
  jobs::JobRecord job = submit("first");
  ASSERT_TRUE(collector_->collect("first").ok());
  move(job, {JobPhase::kStarting, JobPhase::kTraining});
  ASSERT_TRUE(collector_->collect("first").ok());
  open();
  move(job, {JobPhase::kCompleted});
  EXPECT_TRUE(*collector_->collect("first"));
  EXPECT_EQ(ids().size(), 4u);
  open();
  EXPECT_TRUE(*collector_->collect("first"));
  EXPECT_EQ(ids().size(), 4u) << "nothing is taken in twice";
}

TEST_F(EventCollectorTest, TakesWhatHappensInTheRunAsThatOfTheJob) {
  jobs::JobRecord job = submit("first");
  move(job, {JobPhase::kStarting, JobPhase::kTraining});
  auto run = run_ledger("first");
  run->append(alert("VanishingGradient", 3));
  ASSERT_TRUE(collector_->collect("first").ok());
  ASSERT_EQ(ledger_->last_seq(), 4u);
  const events::Event event = ledger_->event(4);
  EXPECT_EQ(event.id, run->event(1).id);
  EXPECT_EQ(event.key, event.id) << "VanishingGradient-3 is no key among many runs";
  EXPECT_EQ(event.own_seq, 1u);
  EXPECT_EQ(event.data.at("TrainingJobName"), "first") << "whatever the run says";
  EXPECT_EQ(event.data.at("RunFolder"), job.order().run);
  move(job, {JobPhase::kCompleted});
  EXPECT_FALSE(*collector_->collect("first")) << "somebody still writes the run's ledger";
  run->append(alert("VanishingGradient", 4));
  run.reset();
  EXPECT_TRUE(*collector_->collect("first"));
  open();
  EXPECT_TRUE(*collector_->collect("first"));
  EXPECT_EQ(ids().size(), 6u);
}

TEST_F(EventCollectorTest, AJobThatIsResumedGoesOn) {
  jobs::JobRecord job = submit("first");
  move(job, {JobPhase::kStarting, JobPhase::kTraining, JobPhase::kFailed});
  EXPECT_TRUE(*collector_->collect("first"));
  move(job, {JobPhase::kRestarting});
  EXPECT_FALSE(*collector_->collect("first"));
  EXPECT_EQ(ids().size(), 5u);
}

TEST_F(EventCollectorTest, AnotherJobOfTheSameNameIsAnotherJob) {
  jobs::JobRecord job = submit("first");
  complete(job);
  EXPECT_TRUE(*collector_->collect("first"));
  std::filesystem::remove_all(jobs() / "first");
  EXPECT_EQ(collector_->collect("first").status().code(), Code::kNotFound);
  jobs::JobRecord again = submit("first");
  EXPECT_FALSE(*collector_->collect("first"));
  ASSERT_EQ(ids().size(), 5u);
  EXPECT_EQ(ids().back(), job_identity(again.order()) + "-1");
}

TEST_F(EventCollectorTest, DamageIsToldAndWhatCameBeforeItIsKept) {
  jobs::JobRecord job = submit("first");
  move(job, {JobPhase::kStarting});
  std::ofstream(jobs() / "first" / "state" / "000003.json") << "{";
  EXPECT_EQ(collector_->collect("first").status().code(), Code::kDataLoss);
  std::filesystem::remove(jobs() / "first" / "state" / "000003.json");
  EXPECT_FALSE(*collector_->collect("first"));
  EXPECT_EQ(ids().size(), 2u);
}

}  // namespace
}  // namespace trainwarden::job_events
