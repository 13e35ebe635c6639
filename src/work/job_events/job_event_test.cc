#include "work/job_events/job_event.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "work/sagemaker/job_description.h"

namespace trainwarden::job_events {
namespace {

using jobs::JobPhase;

constexpr std::int64_t kSubmitted = 1'700'000'000'000'000'000;
constexpr std::int64_t kMillisecond = 1'000'000;

jobs::JobOrder order_of(const std::string& spec = "") {
  jobs::JobOrder order;
  order.name = "Bert-7";
  order.submitted_unix_ns = kSubmitted;
  order.host = "node7";
  order.run = "/runs/Bert-7";
  order.max_run_seconds = 3600;
  order.spec = spec;
  return order;
}

std::vector<jobs::Transition> story() {
  return {{1, kSubmitted, JobPhase::kPending, "submit", "submitted"},
          {2, kSubmitted + 5 * kMillisecond, JobPhase::kStarting, "agent", "its agent has begun"},
          {3, kSubmitted + 9 * kMillisecond, JobPhase::kTraining, "agent", "the program runs"},
          {4, kSubmitted + 12 * kMillisecond, JobPhase::kStopping, "user", "asked by anna"},
          {5, kSubmitted + 15 * kMillisecond, JobPhase::kStopped, "program", "exit code 0"}};
}

TEST(JobEventTest, IsNamedByTheJobAndTheNumber) {
  const events::Event event = JobEventMaker(order_of()).event(story(), 2);
  EXPECT_EQ(event.id, fmt::format("bert-7-{:x}-3", kSubmitted));
  EXPECT_EQ(event.key, event.id);
  EXPECT_EQ(event.seq, 3u);
  EXPECT_EQ(event.source, "/trainwarden/node7/jobs/Bert-7");
  EXPECT_EQ(event.subject, "job");
  EXPECT_EQ(event.change.from, "InProgress/Starting");
  EXPECT_EQ(event.change.to, "InProgress/Training");
  jobs::JobOrder later = order_of();
  later.submitted_unix_ns += 1;
  EXPECT_NE(JobEventMaker(later).event(story(), 2).id, event.id) << "another job of the same name";
}

TEST(JobEventTest, IsTheSameWhoeverMakesItAndWhateverCameLater) {
  const std::vector<jobs::Transition> all = story();
  for (std::size_t place = 0; place < all.size(); ++place) {
    const std::vector<jobs::Transition> so_far(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    EXPECT_EQ(encode_event(JobEventMaker(order_of()).event(all, place)),
              encode_event(JobEventMaker(order_of()).event(so_far, place)));
  }
}

TEST(JobEventTest, HasTheWholeJobAsItStoodThen) {
  const std::string spec =
      "entry_point = 'train.py'\nmax_run = 3600\n[hyperparameters]\nlr = 0.1\napi_key = "
      "'sk-1234567890abcdef'\n[inputs]\ntrain = '/data'\n"
      "[tags]\nteam = 'vision'\n";
  const format::OrderedJson data = JobEventMaker(order_of(spec)).event(story(), 2).data;
  EXPECT_EQ(data.at("TrainingJobName"), "Bert-7");
  EXPECT_EQ(data.at("TrainingJobStatus"), "InProgress");
  EXPECT_EQ(data.at("SecondaryStatus"), "Training");
  EXPECT_EQ(data.at("CreationTime"), "1700000000000") << "milliseconds, as text";
  EXPECT_EQ(data.at("TrainingStartTime"), "1700000000005") << "when it starts";
  EXPECT_FALSE(data.contains("TrainingEndTime"));
  EXPECT_EQ(data.at("HyperParameters").at("lr"), "0.1");
  EXPECT_EQ(data.at("HyperParameters").at("api_key"), "****");
  EXPECT_EQ(data.at("InputDataConfig").at(0).at("ChannelName"), "train");
  EXPECT_EQ(data.at("Tags").at("team"), "vision");
  EXPECT_EQ(data.at("StoppingCondition").at("MaxRuntimeInSeconds"), 3600);
  const auto& transitions = data.at("SecondaryStatusTransitions");
  ASSERT_EQ(transitions.size(), 3u);
  EXPECT_EQ(transitions.at(0).at("EndTime"), 1'700'000'000'005);
  EXPECT_FALSE(transitions.at(2).contains("EndTime"));
  EXPECT_EQ(transitions.at(2).at("StatusMessage"), "the program runs");
}

TEST(JobEventTest, SaysWhoStoppedItAndWhyItFailed) {
  const events::Event stopped = JobEventMaker(order_of()).event(story(), 4);
  EXPECT_EQ(stopped.data.at("StopReason").at("RequestedBy"), "user");
  EXPECT_EQ(stopped.data.at("StopReason").at("Reason"), "asked by anna");
  EXPECT_EQ(stopped.data.at("TrainingEndTime"), "1700000000015");
  std::vector<jobs::Transition> failed = story();
  failed.resize(3);
  failed.push_back({4, kSubmitted, JobPhase::kFailed, "program", "AlgorithmError: exit code 3"});
  const events::Event event = JobEventMaker(order_of()).event(failed, 3);
  EXPECT_EQ(event.data.at("FailureReason"), "AlgorithmError: exit code 3");
  EXPECT_EQ(event.headline, "Job Bert-7 failed: AlgorithmError: exit code 3");
  EXPECT_FALSE(event.data.contains("StopReason"));
}

TEST(JobEventTest, KeepsItsOwnNumberInALedgerOfManyJobs) {
  events::Event event = JobEventMaker(order_of()).event(story(), 2);
  event.seq = 41;  // as a ledger gives it
  const auto read = events::decode_event(encode_event(event));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->seq, 41u);
  EXPECT_EQ(read->own_seq, 3u);
  EXPECT_EQ(read->data.at("seq"), 3);
  EXPECT_EQ(read->change.kind, events::ChangeKind::kJob);
  const auto envelope = nlohmann::json::parse(encode_as_eventbridge(event));
  EXPECT_EQ(envelope.at("detail-type"), "SageMaker Training Job State Change");
  EXPECT_EQ(envelope.at("detail").at("seq"), 3);
  EXPECT_EQ(envelope.at("resources").at(0), sagemaker::training_job_arn("local", "Bert-7"));
}

}  // namespace
}  // namespace trainwarden::job_events
