// The engine over runs that are written while it judges, in memory.
#include "judge/rules/engine.h"

#include <algorithm>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "core/base/log.h"
#include "judge/rules/signals.h"
#include "judge/rules/timeline/clock_schedule.h"
#include "read/trial/run_testing.h"
#include "read/trial/smdebug/smdebug_testing.h"
#include "store/journal/all_events.h"
#include "store/journal/journal_reader.h"
#include "store/storage/faulty_storage.h"

namespace trainwarden::rules {
namespace {

// Answers as a script says.
class ScriptedRule final : public Rule {
 public:
  explicit ScriptedRule(std::function<Verdict(std::int64_t)> script) : script_(std::move(script)) {}
  Verdict evaluate(const StepWindow& window) override { return script_(window.global_step()); }

 private:
  const std::function<Verdict(std::int64_t)> script_;
};

EngineRule scripted(std::string name, std::function<Verdict(std::int64_t)> script) {
  return {{std::move(name), {}}, std::make_unique<ScriptedRule>(std::move(script))};
}

Verdict fire() {
  return {Outcome::kFired, Severity::kWarning, "it is on fire", "water", {}};
}

EngineRule fires_at(std::string name, std::vector<std::int64_t> steps) {
  return scripted(std::move(name), [steps](std::int64_t step) {
    return std::find(steps.begin(), steps.end(), step) != steps.end() ? fire() : Verdict::ok();
  });
}

template <class... Rules>
std::vector<EngineRule> list_of(Rules... rules) {
  std::vector<EngineRule> list;
  (list.push_back(std::move(rules)), ...);
  return list;
}

// A run, its trial and an engine over it that keeps what it reports.
struct Watch {
  Watch(TestRun& run, std::vector<EngineRule> rules, bool keep_going = false, bool journal = false)
      : trial(run.open()), storage(run.storage()) {
    EngineOptions options;
    options.keep_going = keep_going;
    options.journal_storage = journal ? storage.get() : nullptr;
    options.clock = &run.clock();
    engine = std::make_unique<Engine>(*trial, std::move(rules), options,
                                      [this](const VerdictRecord& record) { reported.push_back(record); });
  }
  RuleStatusRecord status(std::size_t rule = 0) const { return engine->statuses().at(rule); }

  std::unique_ptr<Trial> trial;
  std::shared_ptr<storage::MemoryStorage> storage;
  std::vector<VerdictRecord> reported;
  std::unique_ptr<Engine> engine;
};

std::vector<journal::EventEntry> journal_events(const TestRun& run, std::string_view journal) {
  auto reader = journal::JournalReader::open(*run.storage(), run.info(), journal, {});
  EXPECT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_TRUE((*reader)->refresh().ok());
  return journal::all_events(**reader);
}

TEST(Engine, JudgesARecordedRun) {
  TestRun run;
  run.add_steps(0, 9);
  run.end();
  Watch watch(run, list_of(fires_at("A", {4, 6}), fires_at("B", {})));
  ASSERT_TRUE(watch.engine->poll().ok());
  watch.engine->finish();
  ASSERT_EQ(watch.reported.size(), 1u);  // A is judged no more after 4
  EXPECT_EQ(watch.reported[0].place.global_step, 4);
  EXPECT_EQ(watch.reported[0].rule_id, "A");
  EXPECT_EQ(watch.status(0).status, RuleStatus::kIssuesFound);
  EXPECT_EQ(watch.status(0).details, "fired at step 4: it is on fire");
  EXPECT_EQ(watch.status(1).status, RuleStatus::kNoIssuesFound);
  EXPECT_EQ(watch.status(1).details, "judged 10 steps, nothing found");
  EXPECT_FALSE(run.storage()->exists("journal/watch-0"));
}

TEST(Engine, FollowsAGrowingRun) {
  TestRun run;
  run.add_steps(0, 2);
  Watch watch(run, list_of(fires_at("A", {5})));
  ASSERT_TRUE(watch.engine->poll().ok());
  EXPECT_EQ(watch.engine->last_judged_step(), 2);
  EXPECT_EQ(watch.status().status, RuleStatus::kInProgress);
  EXPECT_FALSE(watch.engine->all_decided());
  run.add_steps(3, 6);
  ASSERT_TRUE(watch.engine->poll().ok());
  EXPECT_EQ(watch.reported.size(), 1u);
  EXPECT_TRUE(watch.engine->all_decided());
  EXPECT_FALSE(watch.engine->run_ended());
  run.end();
  ASSERT_TRUE(watch.engine->poll().ok());
  EXPECT_TRUE(watch.engine->run_ended());
}

TEST(Engine, RunsUntilTheRunEnds) {
  TestRun run;
  run.start(0);
  Watch watch(run, list_of(fires_at("A", {19}), fires_at("B", {})));
  std::thread training([&] {
    run.add_steps(0, 19);
    run.end();
  });
  const Status status = watch.engine->run_until_end({});
  training.join();
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(watch.status(0).status, RuleStatus::kIssuesFound);
  EXPECT_EQ(watch.status(1).status, RuleStatus::kNoIssuesFound);
  EXPECT_EQ(watch.status(1).outcomes[static_cast<std::size_t>(Outcome::kOk)], 20u);
}

TEST(Engine, StopsWhenAsked) {
  TestRun run;
  run.add_steps(0, 3);
  std::stop_source stop;
  Watch watch(run, list_of(scripted("A", [&](std::int64_t step) {
                if (step == 1) stop.request_stop();
                return Verdict::ok();
              })));
  EXPECT_TRUE(watch.engine->run_until_end(stop.get_token()).ok());
  EXPECT_EQ(watch.engine->last_judged_step(), 1);
  EXPECT_EQ(watch.status().status, RuleStatus::kStopped);
}

TEST(Engine, ARuleThatThrowsIsParkedAndTheOthersGoOn) {
  TestRun run;
  run.add_steps(0, 4);
  run.end();
  int calls = 0;
  Watch watch(run, list_of(scripted("A",
                                    [&](std::int64_t) -> Verdict {
                                      ++calls;
                                      throw std::runtime_error("out of ideas");
                                    }),
                           scripted("B", [](std::int64_t) -> Verdict { throw 7; }), fires_at("C", {3})));
  ASSERT_TRUE(watch.engine->poll().ok());
  watch.engine->finish();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(watch.status(0).status, RuleStatus::kError);
  EXPECT_NE(watch.status(0).details.find("out of ideas"), std::string::npos) << watch.status(0).details;
  EXPECT_EQ(watch.status(1).status, RuleStatus::kError);
  EXPECT_EQ(watch.status(2).status, RuleStatus::kIssuesFound);
  ASSERT_EQ(watch.reported.size(), 3u);
  EXPECT_EQ(watch.reported[0].verdict.outcome, Outcome::kError);
}

TEST(Engine, NothingCapturedIsNotApplicable) {
  TestRun run;
  run.add_steps(0, 4);
  run.end();
  Watch watch(run, list_of(scripted("A", [](auto) { return Verdict::not_applicable("no gradient"); }),
                           scripted("B", [](auto) { return Verdict::insufficient_data("too few steps"); })));
  ASSERT_TRUE(watch.engine->poll().ok());
  EXPECT_EQ(watch.status(0).status, RuleStatus::kInProgress);
  watch.engine->finish();
  EXPECT_EQ(watch.status(0).status, RuleStatus::kNotApplicable);
  EXPECT_NE(watch.status(0).details.find("in its 5 steps: no gradient"), std::string::npos) << watch.status(0).details;
  EXPECT_EQ(watch.status(1).status, RuleStatus::kNotApplicable);
  EXPECT_NE(watch.status(1).details.find("never enough"), std::string::npos) << watch.status(1).details;
}

TEST(Engine, ARunWithoutStepsIsNotApplicable) {
  TestRun run;
  run.end();
  Watch watch(run, list_of(fires_at("A", {})));
  EXPECT_TRUE(watch.engine->run_until_end({}).ok());
  EXPECT_EQ(watch.status().status, RuleStatus::kNotApplicable);
}

TEST(Engine, WaitsForSlowWorkers) {
  TestRun run(2);
  run.add_steps(0, 5, 0);
  run.add_steps(0, 2, 1);
  Watch watch(run, list_of(fires_at("A", {})));
  ASSERT_TRUE(watch.engine->poll().ok());
  EXPECT_EQ(watch.engine->last_judged_step(), 2);
  run.kill(1);
  ASSERT_TRUE(watch.engine->poll().ok());
  EXPECT_EQ(watch.engine->last_judged_step(), 5);
}

TEST(Engine, SeveralRulesOfAKindHaveNamesOfTheirOwn) {
  TestRun run;
  Watch watch(run, list_of(fires_at("A", {}), fires_at("B", {}), fires_at("A", {})));
  EXPECT_EQ(watch.status(0).rule_id, "A");
  EXPECT_EQ(watch.status(1).rule_id, "B");
  EXPECT_EQ(watch.status(2).rule_id, "A-2");
  EXPECT_EQ(watch.status(2).rule, "A");
}

TEST(EngineJournal, HoldsVerdictsAndStatusChanges) {
  TestRun run;
  run.add_steps(0, 4);
  run.end();
  {
    Watch watch(run, list_of(fires_at("A", {3})), false, true);
    EXPECT_EQ(watch.engine->journal_name(), "watch-0");
    ASSERT_TRUE(watch.engine->poll().ok());
    EXPECT_TRUE(watch.engine->journal_status().ok());
  }
  const auto events = journal_events(run, "watch-0");
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ((*decode_rule_status(events[0].json))->status, RuleStatus::kInProgress);
  EXPECT_EQ((*decode_verdict(events[1].json))->place.global_step, 3);
  EXPECT_EQ(events[1].step, 3);
  EXPECT_EQ((*decode_rule_status(events[2].json))->status, RuleStatus::kIssuesFound);
  EXPECT_EQ(run.open()->workers(), (std::vector<std::string>{"rank-00000"}));
}

TEST(EngineJournal, WhatIsWrittenNowhereIsHandedOn) {
  TestRun run;
  run.add_steps(0, 4);
  run.end();
  const auto trial = run.open();
  std::vector<std::string> records;
  EngineOptions options;
  options.on_unwritten = [&](const std::string& json) { records.push_back(json); };
  Engine engine(*trial, list_of(fires_at("A", {3})), options);
  ASSERT_TRUE(engine.poll().ok());
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ((*decode_rule_status(records[0]))->status, RuleStatus::kInProgress);
  EXPECT_EQ((*decode_verdict(records[1]))->place.global_step, 3);
  EXPECT_EQ((*decode_rule_status(records[2]))->status, RuleStatus::kIssuesFound);
}

TEST(EngineJournal, RepeatsAreFolded) {
  TestRun run;
  run.add_steps(0, 9);
  run.end();
  {
    Watch watch(run, list_of(fires_at("A", {1, 2, 3, 6})), true, true);
    ASSERT_TRUE(watch.engine->poll().ok());
    EXPECT_EQ(watch.reported.size(), 2u);
    EXPECT_EQ(watch.reported.back().place.global_step, 6);
    EXPECT_FALSE(watch.engine->all_decided());
  }
  std::vector<RepeatsRecord> repeats;
  std::size_t verdicts = 0;
  for (const journal::EventEntry& event : journal_events(run, "watch-0")) {
    if (const auto record = *decode_repeats(event.json)) repeats.push_back(*record);
    if (decode_verdict(event.json)->has_value()) ++verdicts;
  }
  EXPECT_EQ(verdicts, 2u);
  ASSERT_EQ(repeats.size(), 1u);
  EXPECT_EQ(repeats[0].first_step, 1);
  EXPECT_EQ(repeats[0].last_step, 3);
  EXPECT_EQ(repeats[0].count, 2u);
}

TEST(EngineJournal, ASecondEngineTakesTheNextJournalAndALaterOneTheFirst) {
  TestRun run;
  run.add_steps(0, 1);
  {
    Watch first(run, list_of(fires_at("A", {})), false, true);
    Watch second(run, list_of(fires_at("A", {})), false, true);
    EXPECT_EQ(first.engine->journal_name(), "watch-0");
    EXPECT_EQ(second.engine->journal_name(), "watch-1");
  }
  Watch third(run, list_of(fires_at("A", {1})), false, true);
  EXPECT_EQ(third.engine->journal_name(), "watch-0");
  ASSERT_TRUE(third.engine->poll().ok());
  EXPECT_EQ(third.reported.size(), 1u);  // judged again from the first step on
}

TEST(EngineJournal, AFullDiskDoesNotKeepItFromJudging) {
  TestRun run;
  run.add_steps(0, 4);
  run.end();
  set_log_sink([](LogLevel, std::string_view) {});
  const auto faulty = storage::create_faulty_storage(*run.storage());
  faulty->set_plan({.fail_call = 0, .fail_all_after = true});
  const auto trial = run.open();
  Engine engine(*trial, list_of(fires_at("A", {3})), {.journal_storage = faulty.get()});
  ASSERT_TRUE(engine.poll().ok());
  engine.finish();
  set_log_sink({});
  EXPECT_EQ(engine.statuses()[0].status, RuleStatus::kIssuesFound);
  EXPECT_EQ(engine.journal_status().code(), Code::kResourceExhausted);
}

TEST(EngineJournal, NothingIsWrittenIntoAFolderOfAnotherRecorder) {
  SmdebugTestRun run;
  run.add_steps(0, 4);
  run.end();
  const auto trial = run.open();
  const auto storage = run.storage();
  Engine engine(*trial, list_of(fires_at("A", {2})), {.journal_storage = storage.get()});
  EXPECT_EQ(engine.journal_status().code(), Code::kFailedPrecondition);
  ASSERT_TRUE(engine.poll().ok());
  engine.finish();
  EXPECT_EQ(engine.statuses().at(0).status, RuleStatus::kIssuesFound);
  EXPECT_EQ(engine.journal_name(), "");
  EXPECT_FALSE(storage->exists("journal"));
}

TEST(EngineRules, ADamagedRunIsStillJudged) {
  TestRun run;
  for (std::int64_t step = 0; step < 5; ++step)
    run.add({.step = step, .tensors = {kept("gradient/w", {7, 7}, {"gradients"})}});
  run.end();
  const std::string path = "journal/rank-00000/" + run.storage()->list("journal/rank-00000")->front();
  std::string content = run.storage()->content(path);
  const std::string values(reinterpret_cast<const char*>(std::vector<float>{7, 7}.data()), 8);
  content[content.find(values)] ^= 1;  // step 0
  run.storage()->set_content(path, content);

  const auto specs = std::vector<RuleSpec>{{"VanishingGradient", {{"threshold", "10"}}}, {"ExplodingTensor", {}}};
  auto rules = create_engine_rules(specs);
  ASSERT_TRUE(rules.ok());
  Watch watch(run, *std::move(rules));
  ASSERT_TRUE(watch.engine->poll().ok());
  watch.engine->finish();
  ASSERT_EQ(watch.reported.size(), 1u);
  EXPECT_EQ(watch.reported[0].place.global_step, 1);
  EXPECT_EQ(watch.status(0).outcomes[static_cast<std::size_t>(Outcome::kInsufficientData)], 1u);
  EXPECT_EQ(watch.status(1).status, RuleStatus::kNoIssuesFound);
  EXPECT_FALSE(watch.trial->losses().empty());
}

TEST(EngineRules, ABadSpecIsAnError) {
  const auto specs = std::vector<RuleSpec>{{"VanishingGradient", {{"threshold", "x"}}}};
  EXPECT_EQ(create_engine_rules(specs).status().code(), Code::kInvalidArgument);
}

Verdict note() {
  return {Outcome::kFired, Severity::kInfo, "worth a look", "", {}};
}

TEST(Engine, ANoteIsNoIssueAndDoesNotEndTheJudging) {
  TestRun run;
  run.add_steps(0, 5);
  run.end();
  Watch watch(run, list_of(scripted("Noter", [](std::int64_t step) { return step < 2 ? note() : Verdict::ok(); })));
  ASSERT_TRUE(watch.engine->poll().ok());
  watch.engine->finish();
  ASSERT_EQ(watch.reported.size(), 1U) << "the second note repeats the first";
  EXPECT_FALSE(watch.reported[0].alarms());
  EXPECT_EQ(watch.engine->statuses()[0].status, RuleStatus::kNoIssuesFound);
  EXPECT_EQ(watch.engine->statuses()[0].details, "judged 6 steps: 2 worth a note, no issue");
}

TEST(Engine, AGraverVerdictIsToldAfterANote) {
  TestRun run;
  run.add_steps(0, 3);
  run.end();
  Watch watch(run, list_of(scripted("Noter", [](std::int64_t step) { return step < 2 ? note() : fire(); })));
  ASSERT_TRUE(watch.engine->poll().ok());
  watch.engine->finish();
  ASSERT_EQ(watch.reported.size(), 2U);
  EXPECT_TRUE(watch.reported[1].alarms());
  EXPECT_EQ(watch.reported[1].place.global_step, 2);
}

TEST(Engine, ARootCauseExplainsItsConsequences) {
  TestRun run;
  run.add_steps(0, 5);
  run.end();
  // The consequence stands first in the list, and fires at the same step.
  std::vector<EngineRule> rules = list_of(fires_at("Spike", {3}), fires_at("Nan", {3}), fires_at("Other", {3}));
  rules[1].consequences = {"Spike"};
  Watch watch(run, std::move(rules));
  ASSERT_TRUE(watch.engine->poll().ok());
  watch.engine->finish();
  ASSERT_EQ(watch.reported.size(), 3U);
  EXPECT_EQ(watch.reported[0].consequence_of, "Nan");
  EXPECT_FALSE(watch.reported[0].alarms());
  EXPECT_TRUE(watch.reported[1].alarms());
  EXPECT_TRUE(watch.reported[2].alarms());
  EXPECT_EQ(watch.engine->statuses()[0].status, RuleStatus::kIssuesFound);
  EXPECT_NE(watch.engine->statuses()[0].details.find("It follows from Nan"), std::string::npos);
}

TEST(Engine, RulesBeginAgainWhereTheProcessTrainsAnotherModel) {
  const auto losses_of = [](bool is_noted) {
    TestRun run;
    for (std::int64_t step = 0; step < 140; ++step) {
      const float level = (step < 70 ? 0.5F : 4.0F) + 0.01F * static_cast<float>(step % 3);
      std::vector<TestTensor> tensors = {scalar("loss", level, {"losses"})};
      if (is_noted && step == 70) tensors.push_back(kept_doubles(std::string(signals::kTraining), {1}, {"signals"}));
      run.add({.step = step, .tensors = std::move(tensors), .mode = Mode::kTrain});
    }
    run.end();
    const std::vector<RuleSpec> specs = {{"LossSpike", {}}};
    Watch watch(run, *create_engine_rules(specs));
    EXPECT_TRUE(watch.engine->poll().ok());
    watch.engine->finish();
    return watch.engine->statuses()[0].status;
  };
  EXPECT_EQ(losses_of(false), RuleStatus::kIssuesFound);
  EXPECT_EQ(losses_of(true), RuleStatus::kNoIssuesFound);
}

// A symptom beside the rule Diagnosis, in a training that is examined from step 1 on, or not at all.
std::vector<VerdictRecord> symptoms_of(const char* other_rule, bool is_examined) {
  TestRun run;
  run.add_steps(0, 1);
  run.add({.step = 1, .tensors = {scalar(is_examined ? "trainwarden/examination/numbers" : "loss", 1, {"signals"})}});
  run.add_steps(2, 4);
  run.end();
  std::vector<EngineRule> rules = list_of(fires_at("Dead", {3}), fires_at(other_rule, {}));
  rules[0].is_symptom = true;
  Watch watch(run, std::move(rules));
  EXPECT_TRUE(watch.engine->poll().ok());
  watch.engine->finish();
  return watch.reported;
}

TEST(Engine, ASymptomIsANoteWhereTheDiagnosisWeighsIt) {
  const auto weighed = symptoms_of("Diagnosis", true);
  ASSERT_EQ(weighed.size(), 1U);
  EXPECT_EQ(weighed[0].verdict.severity, Severity::kInfo);
  EXPECT_TRUE(weighed[0].weighed);
  EXPECT_FALSE(weighed[0].alarms());
  for (const auto& alone : {symptoms_of("Diagnosis", false), symptoms_of("Other", true)}) {
    ASSERT_EQ(alone.size(), 1U);
    EXPECT_FALSE(alone[0].weighed);
    EXPECT_TRUE(alone[0].alarms());
  }
}

// Finds nothing step by step, and something in the whole.
class ConcludingRule final : public Rule {
 public:
  explicit ConcludingRule(bool throws) : throws_(throws) {}
  Verdict evaluate(const StepWindow&) override { return Verdict::ok(); }
  Verdict conclude() override {
    if (throws_) throw std::runtime_error("it does not add up");
    return fire();
  }

 private:
  const bool throws_;
};

TEST(Engine, WhatOnlyTheWholeRunShowsIsAVerdictOnItsLastStep) {
  TestRun run;
  run.add_steps(0, 5);
  std::vector<EngineRule> rules = list_of(fires_at("Quiet", {}));
  rules.push_back({{"Whole", {}}, std::make_unique<ConcludingRule>(false)});
  rules.push_back({{"Broken", {}}, std::make_unique<ConcludingRule>(true)});
  Watch watch(run, std::move(rules));
  ASSERT_TRUE(watch.engine->poll().ok());
  EXPECT_TRUE(watch.reported.empty()) << "the run goes on";
  run.end();
  ASSERT_TRUE(watch.engine->poll().ok());
  watch.engine->finish();
  ASSERT_EQ(watch.reported.size(), 2U);
  EXPECT_EQ(watch.reported[0].rule, "Whole");
  EXPECT_EQ(watch.reported[0].place.global_step, 5);
  EXPECT_EQ(watch.reported[1].verdict.outcome, Outcome::kError);
  const auto statuses = watch.engine->statuses();
  EXPECT_EQ(statuses[0].status, RuleStatus::kNoIssuesFound);
  EXPECT_EQ(statuses[1].status, RuleStatus::kIssuesFound);
  EXPECT_EQ(statuses[2].status, RuleStatus::kError);
}

TEST(Engine, NothingIsConcludedOfARunThatGoesOn) {
  TestRun run;
  run.add_steps(0, 5);
  std::vector<EngineRule> rules;
  rules.push_back({{"Whole", {}}, std::make_unique<ConcludingRule>(false)});
  Watch watch(run, std::move(rules));
  ASSERT_TRUE(watch.engine->poll().ok());
  watch.engine->finish();
  EXPECT_TRUE(watch.reported.empty());
  EXPECT_EQ(watch.engine->statuses()[0].status, RuleStatus::kStopped);
}

TEST(Engine, WhoGivesASymptomParametersIsAlarmedByIt) {
  const std::vector<RuleSpec> specs = {
      {"DeadRelu", {}}, {"DeadRelu", {{"threshold_inactivity", "2"}}}, {"LossSpike", {}}};
  const auto rules = create_engine_rules(specs);
  ASSERT_TRUE(rules.ok());
  EXPECT_TRUE((*rules)[0].is_symptom);
  EXPECT_FALSE((*rules)[1].is_symptom);
  EXPECT_FALSE((*rules)[2].is_symptom);
}

TEST(Engine, WhatFiredBeforeItsCauseIsNoConsequence) {
  TestRun run;
  run.add_steps(0, 5);
  run.end();
  std::vector<EngineRule> rules = list_of(fires_at("Spike", {1}), fires_at("Nan", {3}));
  rules[1].consequences = {"Spike"};
  Watch watch(run, std::move(rules));
  ASSERT_TRUE(watch.engine->poll().ok());
  watch.engine->finish();
  EXPECT_EQ(watch.reported.at(0).consequence_of, "");
}

TEST(Engine, AMutedVerdictIsWrittenDownAndAlarmsNobody) {
  TestRun run;
  run.add_steps(0, 1);
  run.end();
  const auto trial = run.open();
  std::vector<VerdictRecord> reported;
  EngineOptions options{.clock = &run.clock(), .mute = {"Spike:a"}};
  const auto with_evidence = [](std::string tensor) {
    Verdict verdict = fire();
    verdict.evidence = {{std::move(tensor), "", "l2", 1, 0, 0}};
    return verdict;
  };
  Engine engine(*trial,
                list_of(scripted("Spike", [&](std::int64_t) { return with_evidence("a"); }),
                        scripted("Other", [&](std::int64_t) { return with_evidence("a"); })),
                options, [&](const VerdictRecord& record) { reported.push_back(record); });
  ASSERT_TRUE(engine.poll().ok());
  ASSERT_EQ(reported.size(), 2U);
  EXPECT_TRUE(reported[0].muted);
  EXPECT_FALSE(reported[0].alarms());
  EXPECT_TRUE(engine.first_fired().at(0).muted);
  EXPECT_FALSE(reported[1].muted);
}

// Fires when nothing came for ten seconds.
class SilenceRule final : public Rule {
 public:
  Verdict evaluate(const StepWindow&) override { return Verdict::ok(); }
  std::optional<TimeSchedule> schedule() const override { return by_the_clock(); }
  Verdict evaluate_time(const TimeWindow& window) override {
    return window.to_unix_ns - window.last_step_unix_ns < 10'000'000'000 ? Verdict::ok() : fire();
  }
};

TEST(Engine, SilenceIsJudgedWhileTheRunLives) {
  TestRun run;
  run.add_steps(0, 1);
  Watch watch(run, [] {
    std::vector<EngineRule> rules;
    rules.push_back({{"Stalled", {}}, std::make_unique<SilenceRule>()});
    return rules;
  }());
  run.clock().advance_ns(1'000'000'000);
  ASSERT_TRUE(watch.engine->poll().ok());
  EXPECT_TRUE(watch.reported.empty());
  run.clock().advance_ns(10'000'000'000);
  ASSERT_TRUE(watch.engine->poll().ok());
  ASSERT_EQ(watch.reported.size(), 1U);
  EXPECT_EQ(watch.reported[0].place.global_step, 1);
  EXPECT_FALSE(watch.reported[0].place.is_time()) << "its place is the step that nothing came after";
  EXPECT_EQ(watch.status().windows, OutcomeCounts{}) << "how often the clock asked is of no interest";
}

TEST(Engine, ARunThatHasEndedIsNotSilent) {
  TestRun run;
  run.add_steps(0, 1);
  run.end();
  std::vector<EngineRule> rules;
  rules.push_back({{"Stalled", {}}, std::make_unique<SilenceRule>()});
  Watch watch(run, std::move(rules));
  run.clock().advance_ns(100'000'000'000);
  ASSERT_TRUE(watch.engine->poll().ok());
  EXPECT_TRUE(watch.reported.empty());
}

}  // namespace
}  // namespace trainwarden::rules
