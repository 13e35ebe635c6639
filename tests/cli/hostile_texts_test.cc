// A run whose every text would drive the terminal: what every reading command prints of it, and of its own errors.
#include <fstream>

#include "cli_harness.h"
#include "core/base/code_point.h"
#include "data/format/checkpoint_events.h"
#include "data/format/control_record.h"
#include "judge/rules/verdict_record.h"
#include "judge/rules/watch_journal.h"
#include "react/events/delivery_record.h"
#include "react/events/ledger.h"
#include "read/trial/run_testing.h"
#include "store/storage/local_storage.h"

namespace trainwarden::testing_cli {
namespace {

namespace fs = std::filesystem;

// A colour, a title, the one-character form of ESC [, marks of direction, ends of lines, DEL, a byte that is no UTF-8;
// what stands behind the end of a line would pass for a line of ours.
std::string hostile(const std::string& word) {
  return word + "\x1b[31m\x1b]0;title\x07\xc2\x9b" + "2J\xd8\x9c\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\r\nFORGED\x7f\xff";
}

// What of `text` a terminal would obey; empty when nothing.
std::string driving(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    if (point.bytes == 0) return "a byte that is no UTF-8: " + std::to_string(static_cast<unsigned char>(text[0]));
    if (point.value != '\n' && drives_terminal(point.value)) return "U+" + std::to_string(point.value);
    if (text.starts_with("\nFORGED")) return "a line that is not ours";
    text.remove_prefix(point.bytes);
  }
  return "";
}

void expect_tame(const std::vector<std::string>& command, const Outcome& outcome) {
  const std::string typed = testing::PrintToString(command);
  EXPECT_LT(outcome.exit_code, 128) << typed << outcome.err;
  EXPECT_NE(outcome.out.size() + outcome.err.size(), 0u) << typed;
  EXPECT_EQ(driving(outcome.out), "") << typed << " prints " << testing::PrintToString(outcome.out);
  EXPECT_EQ(driving(outcome.err), "") << typed << " says " << testing::PrintToString(outcome.err);
}

class HostileTexts : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    name_ = hostile("run");
    write_tensors();
    write_run_json();
    write_verdicts();
    write_ledger();
  }

  void tame(std::vector<std::string> command) const { expect_tame(command, cli(command)); }
  // With and without --json.
  void tame_both(std::vector<std::string> command) const {
    tame(command);
    command.emplace_back("--json");
    const Outcome outcome = cli(command);
    expect_tame(command, outcome);
    if (!outcome.out.empty()) {
      EXPECT_TRUE(nlohmann::json::accept(outcome.out)) << outcome.out;
    }
  }

  std::string name_;

 private:
  void write_tensors() const {
    TestRun run(1, {Collection{.name = hostile("collection"), .include = {hostile("include")}}});
    for (std::int64_t step = 0; step < 4; ++step) {
      run.add({.step = step,
               .tensors = {kept(hostile("tensor"), {1, 2}, {hostile("collection")}),
                           scalar(hostile("loss"), 0.5f, {"losses"}), summarised(hostile("sum"), {1, 2, 3}),
                           strings(hostile("words"), {hostile("a"), hostile("b")})}});
    }
    run.event(format::encode_checkpoint_event({.state = format::CheckpointState::kSaved,
                                               .key = hostile("key"),
                                               .reason = hostile("reason"),
                                               .requested_by = hostile("who"),
                                               .global_step = 2,
                                               .path = hostile("path")}));
    run.event(format::encode_checkpoint_event(
        {.state = format::CheckpointState::kRefused, .key = "b", .global_step = 3, .error = hostile("error")}));
    run.event(
        nlohmann::json{{"type", "black_box"}, {"path", ""}, {"error", hostile("e")}, {"message", hostile("m")}}.dump(
            -1, ' ', false, nlohmann::json::error_handler_t::replace));
    run.event(nlohmann::json{{"type", hostile("type")}, {"text", hostile("text")}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace));
    run.end();
    run.save_to(run_path(name_));
    std::ofstream(run_path(name_) / "journal" / "rank-00000" / hostile("seg")) << "x";
  }

  void write_run_json() const {
    const auto storage = storage::open_local_storage(run_path(name_));
    auto info = journal::read_run(*storage);
    ASSERT_TRUE(info.ok()) << info.status().message();
    info->host = hostile("host");
    info->code_version = hostile("version");
    info->framework = hostile("framework");
    info->command = {hostile("python"), hostile("--lr")};
    info->labels = {{hostile("label"), hostile("value")}};
    std::ofstream(run_path(name_) / "run.json") << journal::encode_run_info(*info);

    // One whose id is hostile, too; and one that cannot be read, for the sake of why.
    info->id = hostile("id");
    fs::create_directories(runs_ / hostile("other"));
    std::ofstream(runs_ / hostile("other") / "run.json") << journal::encode_run_info(*info);
    fs::create_directories(runs_ / hostile("broken"));
    std::ofstream(runs_ / hostile("broken") / "run.json") << "{\"id\": \"" << hostile("x");
  }

  void write_verdicts() const {
    const auto storage = storage::open_local_storage(run_path(name_));
    const auto info = journal::read_run(*storage);
    const auto journal = rules::open_watch_journal(*storage, system_clock(), *info);
    ASSERT_TRUE(journal.ok()) << journal.status().message();
    rules::VerdictRecord verdict;
    verdict.rule_id = hostile("RuleId");
    verdict.rule = hostile("Rule");
    verdict.parameters = {{hostile("parameter"), hostile("value")}};
    verdict.verdict.outcome = trainwarden::Outcome::kFired;
    verdict.verdict.severity = Severity::kError;
    verdict.verdict.message = hostile("message");
    verdict.verdict.advice = hostile("advice");
    verdict.verdict.evidence = {{.tensor = hostile("tensor"), .quantity = hostile("quantity")}};
    verdict.consequence_of = hostile("cause");
    rules::RuleStatusRecord status;
    status.rule_id = verdict.rule_id;
    status.rule = verdict.rule;
    status.parameters = verdict.parameters;
    status.status = RuleStatus::kIssuesFound;
    status.details = hostile("details");
    using format::FrameKind;
    ASSERT_TRUE(journal->writer->append_event(FrameKind::kVerdict, 0, rules::encode_verdict(verdict)).ok());
    ASSERT_TRUE(journal->writer->append_event(FrameKind::kVerdict, 0, rules::encode_rule_status(status)).ok());
  }

  void write_ledger() const {
    const auto storage = storage::open_local_storage(run_path(name_));
    const auto info = journal::read_run(*storage);
    const auto ledger = events::Ledger::open(*storage, system_clock(), *info);
    ASSERT_TRUE(ledger.ok()) << ledger.status().message();
    events::Event event;
    event.key = hostile("key");
    event.type = events::kAlertType;
    event.subject = hostile("subject");
    event.source = hostile("/trainwarden/host/runs/name");
    event.unix_ns = system_clock().unix_ns();
    event.change = {events::ChangeKind::kAlert, hostile("id"), hostile("from"), hostile("to")};
    event.headline = hostile("headline");
    event.text = hostile("text");
    event.data = {{"TrainingJobStatus", hostile("status")}};
    (*ledger)->append(event);
    events::SubscribedRecord subscribed;
    subscribed.subscription = hostile("subscription");
    subscribed.action = hostile("action");
    subscribed.place = hostile("place");
    subscribed.config = hostile("config");
    (*ledger)->record(subscribed);
    events::DeliveryRecord delivery;
    delivery.subscription = subscribed.subscription;
    delivery.action = subscribed.action;
    delivery.place = subscribed.place;
    delivery.seq = 1;
    delivery.event_id = (*ledger)->event(1).id;
    delivery.key = (*ledger)->event(1).key;
    (*ledger)->record(delivery);
    delivery.state = events::DeliveryState::kDead;
    delivery.answer = hostile("answer");
    delivery.message = hostile("why");
    (*ledger)->record(delivery);
    ASSERT_TRUE((*ledger)->status().ok());
  }
};

TEST_F(HostileTexts, ReadingCommandsShowThem) {
  tame_both({"ls"});
  tame({"ls", "--names"});
  for (const char* command : {"show", "describe", "doctor", "tensors", "steps", "rules", "capture"}) {
    tame_both({command, name_});
  }
  for (const char* tensor : {"tensor", "loss", "sum", "words"}) tame_both({"value", name_, hostile(tensor)});
  tame({"plot", name_, hostile("loss")});
  tame({"top", name_, "--once"});
  tame({"top", name_, "--plain"});
  tame_both({"tensors", name_, "--collection", hostile("collection")});
  tame_both({"check", name_, "--rule", "ExplodingTensor"});
  tame({"check", name_, "--rules", "default", "--dry-run"});
}

TEST_F(HostileTexts, SoDoThoseAboutEvents) {
  tame_both({"events", name_});
  tame({"events", name_, "--raw"});
  tame({"events", name_, "--raw", "--format", "eventbridge"});
  tame_both({"events", "deliveries", name_});
  tame_both({"events", "deliveries", name_, "--dead"});
  tame({"events", "deliver", name_});
}

TEST_F(HostileTexts, AndExports) {
  for (const char* format : {"json", "csv", "npz", "safetensors", "tensorboard"}) {
    tame_both({"export", name_, "--to", format, (folder_ / hostile(format)).string(), "--force"});
  }
  tame({"export", name_, "--to", "json", (folder_ / hostile("json")).string()});
}

TEST_F(HostileTexts, ErrorsShowWhatTheyName) {
  for (const char* command : {"show", "describe", "doctor", "tensors", "steps"}) {
    tame_both({command, hostile("nothing")});
    tame_both({command, hostile("broken")});
    tame_both({command, hostile("other")});
    tame({command, name_, hostile("more")});
    tame({command, "--" + hostile("option")});
  }
  tame({hostile("command")});
  tame({"value", name_, hostile("tenso")});
  tame({"value", name_, hostile("tensor"), "--worker", hostile("w")});
  tame({"plot", name_, hostile("none")});
  tame({"tensors", name_, "--collection", hostile("none")});
  tame({"check", name_, "--rule", hostile("NoRule")});
  tame({"rules", hostile("NoRule")});
  tame({"actions", hostile("NoAction")});
  tame({"actions", "--check", hostile("no file")});
  tame({"events", "redrive", name_, "--subscription", hostile("none")});
  tame({"events", "test-pattern", "--pattern", "{\"a\": [\"" + hostile("x"), "--event", "{}"});
  tame({"export", name_, "--to", "json", "/proc/" + hostile("x")});
  tame({"import", hostile("nothing")});
  tame({"stop", hostile("nothing")});
  tame({"save", hostile("nothing")});
  tame({"run", "--name", hostile("a") + "/b", "--", "true"});
  tame({"run", "--label", hostile("x"), "--", "true"});
  tame({"run", "--name", "plain", "--", "/no/such/" + hostile("program")});
}

}  // namespace
}  // namespace trainwarden::testing_cli
