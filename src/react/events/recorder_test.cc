#include "react/events/recorder.h"

#include <algorithm>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/format/checkpoint_events.h"
#include "data/format/compression.h"
#include "data/format/control_record.h"
#include "data/format/frame.h"
#include "judge/rules/engine.h"
#include "read/trial/run_testing.h"
#include "store/storage/faulty_storage.h"

namespace trainwarden::events {
namespace {

using rules::RuleStatusRecord;
using rules::VerdictRecord;

constexpr std::int64_t kSecond = 1'000'000'000;

RuleStatusRecord status_record(const std::string& id, RuleStatus status, std::int64_t unix_ns,
                               std::string details = "why") {
  return {id, id, {}, status, std::move(details), {}, unix_ns};
}

VerdictRecord fired(const std::string& id, std::int64_t step, std::int64_t unix_ns) {
  VerdictRecord record{.rule_id = id, .rule = id};
  record.place = {step, Mode::kTrain, step};
  record.unix_ns = unix_ns;
  record.verdict = {Outcome::kFired, Severity::kWarning, "They have vanished.", "Take another rate.", {}};
  return record;
}

// An engine's journal, written by hand.
class TestEngine {
 public:
  TestEngine(TestRun& run, const std::string& name) {
    journal::JournalOptions options;
    options.writer = name;
    options.writer_id = *journal::writer_id_of(name);
    auto writer = journal::JournalWriter::open(*run.storage(), run.clock(), run.info(), options);
    EXPECT_TRUE(writer.ok()) << writer.status().to_string();
    writer_ = *std::move(writer);
  }
  void write(const std::string& json) {
    EXPECT_TRUE(writer_->append_event(format::FrameKind::kVerdict, -1, json).ok());
  }
  void seal() { EXPECT_TRUE(writer_->seal().ok()); }

 private:
  std::unique_ptr<journal::JournalWriter> writer_;
};

class RecorderTest : public ::testing::Test {
 protected:
  // Takes the ledger and the run as a program does that starts now.
  void open() {
    close();
    trial_ = run_.open();
    auto ledger = Ledger::open(*run_.storage(), run_.clock(), run_.info());
    ASSERT_TRUE(ledger.ok()) << ledger.status().to_string();
    ledger_ = *std::move(ledger);
    recorder_ = std::make_unique<Recorder>(*trial_, *run_.storage(), *ledger_, run_.clock());
  }
  void close() {
    recorder_.reset();
    ledger_.reset();
    trial_.reset();
  }
  void poll() {
    ASSERT_TRUE(trial_->refresh().ok());
    const Status polled = recorder_->poll();
    ASSERT_TRUE(polled.ok()) << polled.to_string();
  }
  // Some time later, so that the control folder and the engines' lives are looked at.
  void poll_later() {
    run_.clock().advance_ns(kSecond);
    poll();
  }
  // What was recorded, as "subject: from > to".
  std::vector<std::string> changes() const {
    std::vector<std::string> changes;
    for (std::uint64_t seq = 1; seq <= ledger_->last_seq(); ++seq) {
      const Event event = ledger_->event(seq);
      if (event.change.kind == ChangeKind::kAlert) {
        changes.push_back(fmt::format("alert {}", event.key));
      } else {
        changes.push_back(fmt::format("{}: {} > {}", event.subject, event.change.from, event.change.to));
      }
    }
    return changes;
  }
  std::vector<Event> alerts() const {
    std::vector<Event> alerts;
    for (std::uint64_t seq = 1; seq <= ledger_->last_seq(); ++seq) {
      if (const Event event = ledger_->event(seq); event.change.kind == ChangeKind::kAlert) alerts.push_back(event);
    }
    return alerts;
  }
  Event last() const { return ledger_->event(ledger_->last_seq()); }
  void ask_to_stop(const std::string& key, const std::string& reason = "enough") {
    const std::string json = format::encode_stop_request({key, reason, "user", run_.clock().unix_ns()});
    ASSERT_TRUE(run_.storage()->create_folder(format::kControlFolder).ok());
    ASSERT_TRUE(run_.storage()->put_if_absent(format::stop_request_path(key), as_bytes(json)).ok());
  }
  void accept_stop(const std::string& key) {
    run_.event(fmt::format(
        R"({{"type":"stop_accepted","key":"{}","reason":"enough","requested_by":"user","global_step":1}})", key));
  }
  std::int64_t now() { return run_.clock().unix_ns(); }

  TestRun run_;
  std::unique_ptr<Trial> trial_;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<Recorder> recorder_;
};

using Changes = std::vector<std::string>;

TEST_F(RecorderTest, FollowsARunToItsEnd) {
  run_.start(0);
  open();
  poll();
  EXPECT_EQ(changes(), (Changes{"run:  > InProgress/Starting"}));
  poll_later();
  run_.add_steps(0, 3);
  poll_later();
  run_.end();
  poll_later();
  poll_later();
  EXPECT_EQ(changes(), (Changes{"run:  > InProgress/Starting", "run: InProgress/Starting > InProgress/Training",
                                "run: InProgress/Training > Completed/Completed"}));
  EXPECT_EQ(last().type, kStateChangeType);
  EXPECT_EQ(last().key, "run-completed-3");
  EXPECT_EQ(last().data.at("TrainingJobStatus"), "Completed");
  EXPECT_EQ(last().data.at("SecondaryStatusTransitions").size(), 3u);
  EXPECT_EQ(last().data.at("LastStep"), 3);
  EXPECT_TRUE(last().data.at("TrainingEndTime").is_string());
}

TEST_F(RecorderTest, RecordsWhatHappenedWhileNobodyDid) {
  run_.add_steps(0, 3);
  TestEngine engine(run_, "watch-0");
  engine.write(encode_rule_status(status_record("A", RuleStatus::kInProgress, now())));
  engine.write(encode_verdict(fired("A", 2, now())));
  engine.write(encode_rule_status(status_record("A", RuleStatus::kIssuesFound, now())));
  run_.end(0, true);
  open();
  poll();
  EXPECT_EQ(changes(), (Changes{"run:  > InProgress/Starting", "run: InProgress/Starting > InProgress/Training",
                                "run: InProgress/Training > Stopped/Stopped", "A:  > InProgress", "alert a-2",
                                "A: InProgress > IssuesFound"}));
}

TEST_F(RecorderTest, AlertsAreToldOnceWithWhatIsWrong) {
  run_.add_steps(0, 3);
  open();
  poll();
  TestEngine engine(run_, "watch-0");
  engine.write(encode_rule_status(status_record("VanishingGradient", RuleStatus::kInProgress, now())));
  engine.write(encode_verdict(fired("VanishingGradient", 120, now())));
  poll();
  const Event alert = last();
  EXPECT_EQ(alert.key, "vanishinggradient-120");
  EXPECT_EQ(alert.type, kAlertType);
  EXPECT_EQ(alert.subject, "VanishingGradient");
  EXPECT_EQ(alert.global_step, 120);
  EXPECT_EQ(alert.headline, "VanishingGradient fired at step 120 (train 120)");
  EXPECT_NE(alert.text.find("They have vanished."), std::string::npos);
  EXPECT_NE(alert.text.find("Take another rate."), std::string::npos);
  EXPECT_EQ(alert.data.at("alert").at("message"), "They have vanished.");
  EXPECT_EQ(alert.data.at("TrainingJobStatus"), "InProgress");
  const auto seq = ledger_->last_seq();
  // An engine that starts again reports it again.
  engine.write(encode_rule_status(status_record("VanishingGradient", RuleStatus::kInProgress, now())));
  engine.write(encode_verdict(fired("VanishingGradient", 120, now() + 5)));
  poll();
  EXPECT_EQ(ledger_->last_seq(), seq);
}

// Fires when the newest sample of a window is above 80.
class Hot final : public TimeRule {
 public:
  std::optional<TimeSchedule> schedule() const override {
    return TimeSchedule{{{"^temperature$"}, {}}, kSecond, kSecond};
  }
  Verdict evaluate_time(const TimeWindow& window) override {
    if (window.series[0].samples.back().value <= 80) return Verdict::ok();
    return {Outcome::kFired, Severity::kWarning, "It is hot.", "Open a window.", {}};
  }
};

// From the sample to the event: written by a journal's writer, read by a trial, judged by a rule over time in the
// engine, whose verdict in its journal becomes an alert in the ledger.
TEST_F(RecorderTest, ASampleThatIsJudgedBecomesAnAlert) {
  open();
  for (const double degrees : {60.0, 90.0, 91.0}) {
    run_.sample({"temperature", "celsius", MetricKind::kGauge, MetricSource::kDevice, "GPU-0"}, {degrees}, kSecond);
    run_.add({.step = static_cast<std::int64_t>(degrees)});
  }
  run_.end();
  const auto trial = run_.open();
  rules::EngineOptions options;
  options.keep_going = true;
  options.journal_storage = run_.storage().get();
  options.clock = &run_.clock();
  std::vector<rules::EngineRule> rules;
  rules.push_back({{"Hot", {}}, std::make_unique<Hot>()});
  rules::Engine engine(*trial, std::move(rules), options);
  ASSERT_TRUE(engine.poll().ok());
  engine.finish();
  poll();
  const std::vector<Event> alerts = this->alerts();
  ASSERT_EQ(alerts.size(), 1u) << "the second is a repeat";
  EXPECT_EQ(alerts[0].headline.substr(0, 32), "Hot fired at 2023-11-14 22:13:22") << alerts[0].headline;
  EXPECT_EQ(alerts[0].key, "hot-t1700000002000");
  EXPECT_EQ(alerts[0].data.at("alert").at("to_unix_ns"), 1'700'000'002'000'000'000);
  EXPECT_NE(alerts[0].text.find("It is hot."), std::string::npos);
}

// Two windows within one step are two alerts, also for a recorder that starts again.
TEST_F(RecorderTest, WindowsOfTimeWithinAStepAreToldApart) {
  TestEngine engine(run_, "watch-0");
  for (const std::int64_t end : {5 * kSecond, 6 * kSecond}) {
    VerdictRecord record = fired("Hot", 3, end);
    record.place.from_unix_ns = end - kSecond;
    record.place.to_unix_ns = end;
    engine.write(rules::encode_verdict(record));
  }
  open();
  poll();
  open();
  poll();
  const std::vector<Event> alerts = this->alerts();
  ASSERT_EQ(alerts.size(), 2u);
  EXPECT_EQ(alerts[0].key, "hot-t5000");
  EXPECT_EQ(alerts[1].key, "hot-t6000");
}

// As with --on-fire skip-step: what can judge inside does so, the others judge beside, each with a journal of its own.
TEST_F(RecorderTest, AVerdictBesideIsAConsequenceOfOneInside) {
  run_.add_steps(0, 3);
  TestEngine beside(run_, "watch-0");
  TestEngine inside(run_, "watch-1");
  beside.write(encode_verdict(fired("LossSpike", 120, now())));
  beside.write(encode_verdict(fired("Hang", 120, now())));
  inside.write(encode_verdict(fired("NonFiniteOrigin", 119, now())));
  open();
  poll();
  const Changes all = changes();
  EXPECT_EQ(std::count(all.begin(), all.end(), "alert nonfiniteorigin-119"), 1);
  EXPECT_EQ(std::count(all.begin(), all.end(), "alert hang-120"), 1) << "nothing explains it";
  EXPECT_EQ(std::count(all.begin(), all.end(), "alert lossspike-120"), 0);
  // Out of reach, and before its cause.
  beside.write(encode_verdict(fired("LossSpike", 119 + 1001, now())));
  beside.write(encode_verdict(fired("LossSpike", 118, now())));
  poll();
  const Changes later = changes();
  EXPECT_EQ(std::count(later.begin(), later.end(), "alert lossspike-1120"), 1);
  EXPECT_EQ(std::count(later.begin(), later.end(), "alert lossspike-118"), 1);
}

TEST_F(RecorderTest, SaysNothingOfWhatIsNoAlarm) {
  run_.add_steps(0, 3);
  TestEngine engine(run_, "watch-0");
  VerdictRecord note = fired("A", 1, now());
  note.verdict.severity = Severity::kInfo;
  engine.write(encode_verdict(note));
  VerdictRecord muted = fired("A", 2, now());
  muted.muted = true;
  engine.write(encode_verdict(muted));
  VerdictRecord consequence = fired("A", 3, now());
  consequence.consequence_of = "B";
  engine.write(encode_verdict(consequence));
  open();
  poll();
  EXPECT_EQ(changes().size(), 2u);  // of the run
}

TEST_F(RecorderTest, StatusesAreInTheWordsOfTheSource) {
  run_.add_steps(0, 3);
  TestEngine engine(run_, "watch-0");
  engine.write(encode_rule_status(status_record("VanishingGradient", RuleStatus::kInProgress, now())));
  engine.write(encode_rule_status(status_record("LossNotDecreasing", RuleStatus::kInProgress, now())));
  engine.write(encode_verdict(fired("VanishingGradient", 500, now())));
  engine.write(encode_rule_status(status_record("VanishingGradient", RuleStatus::kIssuesFound, now())));
  open();
  poll();
  const auto list = last().data.at("DebugRuleEvaluationStatuses");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].at("RuleConfigurationName"), "VanishingGradient");
  EXPECT_EQ(list[0].at("RuleEvaluationStatus"), "IssuesFound");
  EXPECT_EQ(list[0].at("StatusDetails"),
            "RuleEvaluationConditionMet: Evaluation of the rule VanishingGradient at step 500 resulted in the "
            "condition being met\nThey have vanished.\n");
  EXPECT_TRUE(list[0].at("LastModifiedTime").is_number_integer());
  EXPECT_EQ(list[1].at("RuleEvaluationStatus"), "InProgress");
  EXPECT_FALSE(list[1].contains("StatusDetails"));
  EXPECT_EQ(last().change.from, "InProgress");
  EXPECT_EQ(last().global_step, 500);
}

TEST_F(RecorderTest, AStopIsAskedForAndHappens) {
  run_.add_steps(0, 3);
  open();
  poll();
  ask_to_stop("user-1", "no progress");
  poll_later();
  EXPECT_EQ(changes().back(), "run: InProgress/Training > Stopping/Stopping");
  EXPECT_EQ(last().data.at("StopReason").at("RequestedBy"), "user");
  EXPECT_EQ(last().data.at("StopReason").at("Reason"), "no progress");
  EXPECT_FALSE(recorder_->answer_to({format::RequestKind::kStop, "user-1"})->accepted);
  accept_stop("user-1");
  poll();
  EXPECT_TRUE(recorder_->answer_to({format::RequestKind::kStop, "user-1"})->accepted);
  EXPECT_TRUE(recorder_->answer_to({format::RequestKind::kStop, "another"})->accepted);
  EXPECT_FALSE(recorder_->answer_to({format::RequestKind::kStop, "user-1"})->ended);
  run_.end(0, true);
  poll_later();
  EXPECT_EQ(changes().back(), "run: Stopping/Stopping > Stopped/Stopped");
  EXPECT_EQ(last().data.at("StopReason").at("Reason"), "no progress");
  EXPECT_TRUE(recorder_->answer_to({format::RequestKind::kStop, "user-1"})->ended);
}

TEST_F(RecorderTest, TheExitCodeHasTheWordOverTheHook) {
  run_.add_steps(0, 3);
  open();
  recorder_->await_program_end();
  poll();
  run_.end();  // by a handler at exit
  poll_later();
  EXPECT_EQ(changes().back(), "run: InProgress/Starting > InProgress/Training");
  recorder_->program_ended({1, now()});
  poll_later();
  EXPECT_EQ(changes().back(), "run: InProgress/Training > Failed/Failed");
  EXPECT_EQ(last().data.at("FailureReason"), "exit code 1");
}

TEST_F(RecorderTest, AnAcceptedStopHasTheWordOverTheExitCode) {
  run_.add_steps(0, 3);
  open();
  recorder_->await_program_end();
  ask_to_stop("user-1");
  accept_stop("user-1");
  run_.kill();
  poll_later();
  recorder_->program_ended({143, now()});
  poll_later();
  EXPECT_EQ(changes().back(), "run: Stopping/Stopping > Stopped/Stopped");
}

TEST_F(RecorderTest, ARunThatDiedFailed) {
  run_.add_steps(0, 3);
  open();
  poll();
  run_.kill();
  poll_later();
  EXPECT_EQ(changes().back(), "run: InProgress/Training > Failed/Failed");
  EXPECT_NE(last().data.at("FailureReason").get<std::string>().find("died"), std::string::npos);
}

TEST_F(RecorderTest, ARunThatDiedGoesOn) {
  run_.add_steps(0, 3);
  open();
  recorder_->await_program_end();
  poll();
  run_.kill();
  poll_later();
  EXPECT_EQ(changes().back(), "run: InProgress/Training > InProgress/Interrupted");
  run_.clock().advance_ns(kSecond);
  run_.start(0);
  poll_later();
  EXPECT_EQ(changes().back(), "run: InProgress/Interrupted > InProgress/Restarting");
  run_.clock().advance_ns(kSecond);
  run_.add_steps(4, 5);
  poll_later();
  EXPECT_EQ(changes().back(), "run: InProgress/Restarting > InProgress/Training");
  EXPECT_EQ(last().data.at("Attempts"), 2);
  run_.kill();
  recorder_->program_ended({137, now()});
  poll_later();
  EXPECT_EQ(last().data.at("FailureReason"), "signal 9 (Killed)");
}

// It failed before this recorder began, and went on and ended while nobody recorded.
TEST_F(RecorderTest, FindsOutThatARunWentOn) {
  run_.add_steps(0, 3);
  run_.kill();
  open();
  poll();
  EXPECT_EQ(changes().back(), "run: InProgress/Training > Failed/Failed");
  close();
  run_.clock().advance_ns(kSecond);
  run_.add_steps(4, 5);
  run_.end();
  open();
  poll();
  const Changes all = changes();
  EXPECT_EQ(Changes(all.end() - 3, all.end()),
            (Changes{"run: Failed/Failed > InProgress/Restarting", "run: InProgress/Restarting > InProgress/Training",
                     "run: InProgress/Training > Completed/Completed"}));
}

TEST_F(RecorderTest, RulesOfAnEngineThatIsGoneAreStopped) {
  run_.add_steps(0, 3);
  open();
  {
    TestEngine engine(run_, "watch-0");
    engine.write(encode_rule_status(status_record("A", RuleStatus::kInProgress, now())));
    poll_later();
    EXPECT_EQ(changes().back(), "A:  > InProgress");
  }
  poll_later();
  EXPECT_EQ(changes().back(), "A: InProgress > Stopped");
  EXPECT_EQ(last().data.at("DebugRuleEvaluationStatuses")[0].at("StatusDetails"),
            "the program that judged it is gone\n");
  TestEngine again(run_, "watch-0");
  again.write(encode_rule_status(status_record("A", RuleStatus::kInProgress, now())));
  poll();
  EXPECT_EQ(changes().back(), "A: Stopped > InProgress");
}

// Its last words come before it is taken for gone.
TEST_F(RecorderTest, TakesInTheLastWordsOfAnEngine) {
  run_.add_steps(0, 3);
  open();
  poll();
  {
    TestEngine engine(run_, "watch-0");
    engine.write(encode_rule_status(status_record("A", RuleStatus::kInProgress, now())));
    poll();
    engine.write(encode_rule_status(status_record("A", RuleStatus::kNoIssuesFound, now())));
    engine.seal();
  }
  poll_later();
  EXPECT_EQ(changes().back(), "A: InProgress > NoIssuesFound");
}

TEST_F(RecorderTest, SeesNewJournalsAndSegmentsAtOnce) {
  run_.add_steps(0, 3);
  open();
  poll();
  for (int i = 0; i < 4; ++i) {
    TestEngine engine(run_, fmt::format("watch-{}", i / 2));
    const std::string id = fmt::format("R{}", i);
    engine.write(encode_rule_status(status_record(id, RuleStatus::kInProgress, now())));
    poll();
    EXPECT_EQ(changes().back(), fmt::format("{}:  > InProgress", id));
    engine.seal();
    poll();
    engine.write(encode_rule_status(status_record(id, RuleStatus::kNoIssuesFound, now())));
    poll();
    EXPECT_EQ(changes().back(), fmt::format("{}: InProgress > NoIssuesFound", id));
  }
}

TEST_F(RecorderTest, TakesWhatCouldNotBeWritten) {
  run_.add_steps(0, 3);
  open();
  TestEngine engine(run_, "watch-0");
  engine.write(encode_rule_status(status_record("A", RuleStatus::kInProgress, now())));
  recorder_->take_unwritten(encode_verdict(fired("A", 2, now())));
  recorder_->take_unwritten(encode_rule_status(status_record("A", RuleStatus::kNoIssuesFound, now())));
  poll();
  const Changes all = changes();
  EXPECT_EQ(Changes(all.end() - 3, all.end()),
            (Changes{"A:  > InProgress", "alert a-2", "A: InProgress > NoIssuesFound"}));
}

TEST_F(RecorderTest, TellsOfCheckpointsAndDumps) {
  run_.add_steps(0, 3);
  open();
  poll();
  const format::RequestId save{format::RequestKind::kCheckpoint, "k"};
  const format::RequestId dump{format::RequestKind::kBlackBox, "k"};
  EXPECT_FALSE(recorder_->answer_to(save)->accepted);
  format::CheckpointEvent event{.state = format::CheckpointState::kAccepted, .key = "k"};
  run_.event(format::encode_checkpoint_event(event));
  poll();
  EXPECT_TRUE(recorder_->answer_to(save)->accepted);
  EXPECT_FALSE(recorder_->answer_to(save)->done);
  EXPECT_FALSE(recorder_->answer_to({format::RequestKind::kStop, "k"})->accepted);
  event.state = format::CheckpointState::kSaved;
  event.path = "checkpoints/k.pt";
  run_.event(format::encode_checkpoint_event(event));
  run_.event(R"({"type":"black_box","path":"","error":"no space","key":"k"})");
  poll();
  EXPECT_TRUE(recorder_->answer_to(save)->done);
  EXPECT_EQ(recorder_->answer_to(save)->detail, "checkpoints/k.pt");
  EXPECT_FALSE(recorder_->answer_to(dump)->done);
  EXPECT_EQ(recorder_->answer_to(dump)->refused, "no space");
  EXPECT_EQ(recorder_->answer_to({format::RequestKind::kCapture, "k"}).status().code(), Code::kInvalidArgument);
  event = {.state = format::CheckpointState::kRefused, .key = "other", .error = "nothing to save"};
  run_.event(format::encode_checkpoint_event(event));
  poll();
  EXPECT_EQ(recorder_->answer_to({format::RequestKind::kCheckpoint, "other"})->refused, "nothing to save");
}

TEST_F(RecorderTest, IsTheOnlyOne) {
  run_.add_steps(0, 1);
  open();
  EXPECT_EQ(Ledger::open(*run_.storage(), run_.clock(), run_.info()).status().code(), Code::kAlreadyExists);
}

// Where the payload begins of the first frame whose content has these words.
std::size_t payload_with(std::string_view segment, std::string_view words) {
  for (std::size_t at = 0; at + format::kFrameHeaderBytes <= segment.size();) {
    const auto header = format::decode_frame_header(as_bytes(segment.substr(at, format::kFrameHeaderBytes)));
    if (!header.ok()) break;
    const std::size_t begin = at + format::kFrameHeaderBytes;
    const ByteSpan payload = as_bytes(segment.substr(begin, header->payload_bytes));
    std::vector<std::byte> content(payload.begin(), payload.end());
    if (format::is_compressed(*header) && !format::decompress_payload(payload, content).ok()) break;
    if (as_text(content).find(words) != std::string_view::npos) return begin;
    at += header->frame_bytes();
  }
  return std::string::npos;
}

// A damaged ledger: an alert that was in it is recorded again under its key, and no status goes back.
TEST_F(RecorderTest, TellsADamagedAlertAgain) {
  run_.add_steps(0, 3);
  {
    TestEngine engine(run_, "watch-0");
    engine.write(encode_rule_status(status_record("A", RuleStatus::kInProgress, now())));
    engine.write(encode_verdict(fired("A", 2, now())));
    engine.write(encode_rule_status(status_record("A", RuleStatus::kIssuesFound, now())));
    open();
    poll();
    close();
  }
  const std::string path = "journal/ledger/seg-00000000.tw";
  std::string content = run_.storage()->content(path);
  const std::size_t place = payload_with(content, "A fired at step 2");
  ASSERT_NE(place, std::string::npos);
  content[place] ^= 1;
  run_.storage()->set_content(path, content);
  open();
  poll();
  EXPECT_EQ(changes().back(), "alert a-2");
  EXPECT_EQ(last().data.at("DebugRuleEvaluationStatuses")[0].at("RuleEvaluationStatus"), "IssuesFound");
  EXPECT_EQ(ledger_->lost_events(), 1u);
}

// Everything that may happen to a run, cut off after any frame of any journal, and the recorder killed after any poll:
// the events that come out in the end are those of a recorder that was there all the time, each once.
TEST_F(RecorderTest, MayBeKilledAfterAnyEntry) {
  const auto story = [&](const std::function<void()>& after_each) {
    TestEngine first(run_, "watch-0");
    TestEngine second(run_, "watch-1");
    const std::vector<std::function<void()>> beats = {
        [&] { run_.add_steps(0, 1); },
        [&] { first.write(encode_rule_status(status_record("A", RuleStatus::kInProgress, now()))); },
        [&] { second.write(encode_rule_status(status_record("A", RuleStatus::kInProgress, now()))); },
        [&] { second.write(encode_rule_status(status_record("B", RuleStatus::kInProgress, now()))); },
        [&] { first.write(encode_verdict(fired("A", 1, now()))); },
        [&] { first.write(encode_rule_status(status_record("A", RuleStatus::kIssuesFound, now()))); },
        [&] { second.write(encode_verdict(fired("A", 1, now()))); },
        [&] { second.write(encode_rule_status(status_record("A", RuleStatus::kIssuesFound, now()))); },
        [&] { ask_to_stop("a-1"); },
        [&] { accept_stop("a-1"); },
        [&] { second.write(encode_rule_status(status_record("B", RuleStatus::kStopping, now()))); },
        [&] { second.write(encode_rule_status(status_record("B", RuleStatus::kStopped, now()))); },
        [&] { second.write(encode_rule_status(status_record("B", RuleStatus::kInProgress, now()))); },
        [&] { second.write(encode_rule_status(status_record("B", RuleStatus::kNoIssuesFound, now()))); },
        [&] { run_.end(0, true); },
    };
    for (const auto& beat : beats) {
      beat();
      run_.clock().advance_ns(kSecond);
      after_each();
    }
  };
  open();
  story([&] { poll(); });
  const Changes expected = changes();
  close();
  EXPECT_EQ(expected.size(), 12u) << ::testing::PrintToString(expected);

  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    close();
    run_ = TestRun();
    open();
    story([&] {
      const auto dice = random() % 4;
      if (dice == 0) return;  // it sleeps
      poll();
      if (dice == 1) open();  // it is killed, and another one starts
      // Killed between an event and the note of how far it had read.
      if (dice == 2) {
        const auto contents = read_ledger(*run_.storage(), run_.info());
        close();
        const auto files = run_.storage()->list("journal/ledger");
        for (const std::string& file : *files) {
          if (!file.ends_with(".tw")) continue;
          std::string content = run_.storage()->content("journal/ledger/" + file);
          for (std::size_t at = content.find("\"intake\""); at != std::string::npos; at = content.find("\"intake\"")) {
            content.replace(at, 8, "\"INTAKE\"");
          }
          run_.storage()->set_content("journal/ledger/" + file, content);
        }
        open();
      }
    });
    open();
    poll();
    Changes all = changes();
    std::sort(all.begin(), all.end());
    Changes once = expected;
    std::sort(once.begin(), once.end());
    // Only their order may differ, between journals.
    EXPECT_EQ(all, once) << round;
  }
}

// The n-th call to the storage fails, of the ledger's too: what is recorded is recorded once, and what was not is
// recorded by the next recorder.
TEST_F(RecorderTest, GoesOnAfterFaults) {
  run_.add_steps(0, 3);
  TestEngine engine(run_, "watch-0");
  engine.write(encode_rule_status(status_record("A", RuleStatus::kInProgress, now())));
  engine.write(encode_verdict(fired("A", 2, now())));
  engine.write(encode_rule_status(status_record("A", RuleStatus::kIssuesFound, now())));
  const Changes expected = {"run:  > InProgress/Starting", "run: InProgress/Starting > InProgress/Training",
                            "A:  > InProgress", "alert a-2", "A: InProgress > IssuesFound"};
  for (std::int64_t n = 0; n < 60; ++n) {
    const auto faulty = storage::create_faulty_storage(*run_.storage());
    const auto trial = run_.open();
    const auto ledger = Ledger::in_memory(run_.clock(), run_.info());
    Recorder recorder(*trial, *faulty, *ledger, run_.clock());
    faulty->set_plan({.fail_call = n, .code = Code::kUnavailable});
    for (int i = 0; i < 3; ++i) {
      (void)recorder.poll();
      run_.clock().advance_ns(2 * kSecond);
    }
    EXPECT_EQ(ledger->last_seq(), expected.size()) << n;
  }
}

}  // namespace
}  // namespace trainwarden::events
