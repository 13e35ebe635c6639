// The commands about events: events and its sub-commands.
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include <signal.h>

#include "cli_harness.h"
#include "react/events/ledger.h"
#include "store/journal/run_folder.h"
#include "store/storage/local_storage.h"

namespace trainwarden::testing_cli {
namespace {

using events::ChangeKind;
using events::DeliveryRecord;
using events::DeliveryState;
using events::Ledger;

// The ledger of a run, kept by the test.
class KeptLedger {
 public:
  explicit KeptLedger(const std::filesystem::path& run) : storage_(storage::open_local_storage(run)) {
    auto info = journal::read_run(*storage_);
    EXPECT_TRUE(info.ok()) << info.status().message();
    auto ledger = Ledger::open(*storage_, system_clock(), *info);
    EXPECT_TRUE(ledger.ok()) << ledger.status().message();
    ledger_ = std::move(ledger).value();
  }
  Ledger& operator*() { return *ledger_; }
  Ledger* operator->() { return ledger_.get(); }

  void append(ChangeKind kind, const std::string& subject, const std::string& from, const std::string& to) {
    events::Event event;
    event.key = subject + "-event";
    event.type = kind == ChangeKind::kAlert ? events::kAlertType : events::kStateChangeType;
    event.subject = subject;
    event.source = "/trainwarden/here/runs/first";
    event.unix_ns = system_clock().unix_ns();
    event.change = {kind, subject == "run" ? "" : subject, from, to};
    event.headline = subject + " has changed";
    event.data = {{"TrainingJobStatus", "InProgress"}};
    ledger_->append(event);
  }

  void deliver(const std::string& subscription, std::uint64_t seq, DeliveryState state) {
    DeliveryRecord record;
    record.subscription = subscription;
    record.action = "exec";
    record.place = "handler.py";
    record.seq = seq;
    record.event_id = ledger_->event(seq).id;
    record.key = ledger_->event(seq).key;
    record.unix_ns = system_clock().unix_ns();
    ledger_->record(record);
    record.state = state;
    record.answer = "exit code 1";
    record.unix_ns = system_clock().unix_ns();
    ledger_->record(record);
  }

 private:
  std::unique_ptr<storage::Storage> storage_;
  std::unique_ptr<Ledger> ledger_;
};

class EventsCommands : public CliTest {
 protected:
  // Run "first" with three events; the second was delivered to one subscriber, and is a dead letter at another.
  void prepare() {
    train("first");
    KeptLedger ledger(run_path("first"));
    ledger.append(ChangeKind::kRun, "run", "", "InProgress/Starting");
    ledger.append(ChangeKind::kAlert, "NaNLoss", "", "");
    ledger.append(ChangeKind::kRule, "NaNLoss", "InProgress", "IssuesFound");
    for (const char* name : {"ops", "page"}) {
      events::SubscribedRecord subscribed;
      subscribed.subscription = name;
      subscribed.action = "exec";
      subscribed.place = "handler.py";
      ledger->record(subscribed);
    }
    ledger.deliver("ops", 2, DeliveryState::kDelivered);
    ledger.deliver("page", 2, DeliveryState::kDead);
    EXPECT_TRUE(ledger->status().ok());
  }

  // The numbers of the events that `arguments` choose.
  std::vector<int> chosen(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"events", "first", "--json"});
    const Outcome outcome = cli(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto answer = outcome.json();
    std::vector<int> numbers;
    for (const auto& event : answer.at("events")) numbers.push_back(event.at("seq"));
    return numbers;
  }
  nlohmann::json deliveries(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {"events", "deliveries", "first", "--json"});
    return cli(std::move(arguments)).json().at("deliveries");
  }
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name) << content;
    return (folder_ / name).string();
  }
  bool is_asked() const {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(run_path("first") / "control", none)) {
      if (entry.path().filename().string().starts_with("delivery-")) return true;
    }
    return false;
  }
  // A run in which a rule has fired, of which nobody has heard yet.
  void judge() {
    train("first", {"--vanish-at", "10"});
    EXPECT_EQ(cli({"watch", "first", "--rule", "VanishingGradient"}).exit_code, 3);
  }
  std::size_t lines_of(const std::string& name) const {
    std::istringstream text(read_file(folder_ / name));
    std::size_t count = 0;
    for (std::string line; std::getline(text, line);) ++count;
    return count;
  }
};

TEST_F(EventsCommands, ListHasEachEventAndHowItsDeliveriesStand) {
  prepare();
  const auto answer = cli({"events", "first", "--json"}).json();
  EXPECT_EQ(answer.at("run"), "first");
  EXPECT_EQ(answer.at("kept"), false);
  EXPECT_EQ(answer.at("last_seq"), 3);
  const auto& alert = answer.at("events").at(1);
  EXPECT_EQ(alert.at("change").at("kind"), "alert");
  ASSERT_EQ(alert.at("deliveries").size(), 2u);
  EXPECT_EQ(alert.at("deliveries").at(1).at("state"), "dead");
  const Outcome text = cli({"events", "first"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("ops delivered, page dead"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("InProgress -> IssuesFound"), std::string::npos) << text.out;
}

TEST_F(EventsCommands, ARunThatNobodyWatchedHasNoneYet) {
  train("first");
  const Outcome text = cli({"events", "first"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("events deliver first"), std::string::npos) << text.out;
  EXPECT_TRUE(chosen({}).empty());
  EXPECT_FALSE(std::filesystem::exists(run_path("first") / "journal" / "ledger"));
}

TEST_F(EventsCommands, AreChosenBySubjectNumberAndPattern) {
  prepare();
  EXPECT_EQ(chosen({"--subject", "NaNLoss"}), (std::vector<int>{2, 3}));
  EXPECT_EQ(chosen({"--after", "2"}), (std::vector<int>{3}));
  EXPECT_EQ(chosen({"--pattern", R"({"type": [{"suffix": ".alert.v1"}]})"}), (std::vector<int>{2}));
  const std::string pattern = file("pattern.json", R"({"detail": {"change": {"to": ["IssuesFound"]}}})");
  EXPECT_EQ(chosen({"--pattern", pattern, "--format", "eventbridge"}), (std::vector<int>{3}));
  EXPECT_TRUE(chosen({"--pattern", pattern}).empty()) << "a CloudEvent has no detail";
}

TEST_F(EventsCommands, ABadPatternIsWrongUsage) {
  prepare();
  const Outcome bad = cli({"events", "first", "--pattern", R"({"type": "alert"})"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(bad.err.find("type"), std::string::npos) << bad.err;
  EXPECT_EQ(cli({"events", "first", "--pattern", "no-such-file.json"}).exit_code, 1);
}

TEST_F(EventsCommands, RawIsTheEventsThemselves) {
  prepare();
  const Outcome raw = cli({"events", "first", "--raw", "--after", "1"});
  std::istringstream lines(raw.out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const auto alert = nlohmann::json::parse(line);
  EXPECT_EQ(alert.at("specversion"), "1.0");
  EXPECT_EQ(alert.at("data").at("seq"), 2);
  const Outcome bridge = cli({"events", "first", "--raw", "--after", "2", "--format", "eventbridge"});
  EXPECT_EQ(nlohmann::json::parse(bridge.out).at("detail").at("seq"), 3);
}

TEST_F(EventsCommands, DeliveriesAreNarrowed) {
  prepare();
  EXPECT_EQ(deliveries().size(), 2u);
  const auto dead = deliveries({"--dead"});
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_EQ(dead.at(0).at("subscription"), "page");
  EXPECT_EQ(dead.at(0).at("answer"), "exit code 1");
  EXPECT_EQ(deliveries({"--subscription", "ops"}).size(), 1u);
  const Outcome unknown = cli({"events", "deliveries", "first", "--subscription", "opps"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("\"ops\""), std::string::npos) << unknown.err;
}

TEST_F(EventsCommands, ALetterIsRedrivenOrDroppedWithoutAKeeper) {
  prepare();
  const Outcome redriven = cli({"events", "redrive", "first", "--json"});
  EXPECT_EQ(redriven.exit_code, 0) << redriven.err;
  EXPECT_EQ(redriven.json().at("letters").at(0).at("subscription"), "page");
  EXPECT_TRUE(redriven.json().at("request").is_null());
  EXPECT_EQ(deliveries({"--subscription", "page"}).at(0).at("state"), "redriven");

  {
    KeptLedger ledger(run_path("first"));
    ledger.deliver("page", 2, DeliveryState::kDead);
  }
  EXPECT_EQ(cli({"events", "drop", "first", "--event", "3"}).exit_code, 1) << "event 3 is no dead letter";
  EXPECT_EQ(deliveries({"--dead"}).size(), 1u);
  EXPECT_EQ(cli({"events", "drop", "first", "--event", "2"}).exit_code, 0);
  EXPECT_EQ(deliveries({"--subscription", "page"}).at(0).at("state"), "dropped");
  EXPECT_EQ(cli({"events", "drop", "first"}).exit_code, 0) << "there is none any more, and that is what was wanted";
}

TEST_F(EventsCommands, AKeeperThatDoesNotAnswerLeavesTheRequestThere) {
  prepare();
  const KeptLedger ledger(run_path("first"));
  const Outcome outcome = cli({"events", "redrive", "first", "--timeout", "0"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("the request stays"), std::string::npos) << outcome.err;
  EXPECT_TRUE(is_asked());
}

TEST_F(EventsCommands, AKeeperThatEndsWithoutAnAnswerHasNothingToSay) {
  prepare();
  std::optional<KeptLedger> ledger(run_path("first"));
  Background redrive(cli_command({"events", "redrive", "first", "--timeout", "60"}), folder_);
  while (!is_asked()) ASSERT_EQ(kill(redrive.id(), 0), 0);
  ledger.reset();
  EXPECT_EQ(redrive.wait().exit_code, 0);
  EXPECT_EQ(deliveries({"--subscription", "page"}).at(0).at("state"), "redriven");
}

TEST_F(EventsCommands, AKeeperIsAskedToRedrive) {
  judge();
  // `later` keeps the keeper waiting while the dead letter of `never` is redriven.
  Background keeper(
      cli_command({"events", "deliver", "first", "--on-fire", "exec:name=never,command=false", "--on-fire",
                   R"(exec:name=later,command="sh -c 'exit 75'",retry.first_delay=1h,retry.longest_delay=1h)"}),
      folder_);
  while (deliveries({"--dead"}).empty()) ASSERT_EQ(kill(keeper.id(), 0), 0);
  const Outcome redriven = cli({"events", "redrive", "first", "--subscription", "never", "--timeout", "60", "--json"});
  EXPECT_EQ(redriven.exit_code, 0) << redriven.err;
  EXPECT_FALSE(redriven.json().at("request").is_null());
  while (deliveries({"--subscription", "never"}).at(0).at("attempts") < 2) ASSERT_EQ(kill(keeper.id(), 0), 0);
  kill(keeper.id(), SIGINT);
  EXPECT_EQ(keeper.wait().exit_code, 1) << "something waits";
}

TEST_F(EventsCommands, DeliverRecordsWhatWasMissedAndDeliversItOnce) {
  judge();
  std::filesystem::remove_all(run_path("first") / "journal" / "ledger");  // as if nobody had recorded
  const std::string wire = "file:path=" + (folder_ / "alerts.jsonl").string();
  const Outcome first = cli({"events", "deliver", "first", "--on-fire", wire, "--json"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  const auto run = first.json().at("runs").at(0);
  EXPECT_EQ(run.at("delivered"), 1);
  EXPECT_EQ(run.at("waiting"), 0);
  EXPECT_GT(run.at("recorded"), 2);
  const auto event = nlohmann::json::parse(read_file(folder_ / "alerts.jsonl"));
  EXPECT_EQ(event.at("subject"), "VanishingGradient");

  const Outcome again = cli({"events", "deliver", "first", "--on-fire", wire, "--json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.json().at("runs").at(0).at("recorded"), 0);
  EXPECT_EQ(again.json().at("runs").at(0).at("delivered"), 0);
  EXPECT_EQ(cli({"describe", "first", "--json"}).json().at("LastStep"),
            cli({"show", "first", "--json"}).json().at("last_complete_step"));
  EXPECT_EQ(lines_of("alerts.jsonl"), 1u);
}

TEST_F(EventsCommands, DeliverGoesOnWithTheFileThatTheLedgerNames) {
  judge();
  const std::string log = (folder_ / "log.jsonl").string();
  const std::string actions =
      file("actions.toml", "[[on]]\nname = \"log\"\nrule = \"*\"\ndo = \"exec\"\ncommand = \"false\"\n");
  EXPECT_EQ(cli({"events", "deliver", "first", "--actions", actions}).exit_code, 1) << "a dead letter";
  file("actions.toml", "[[on]]\nname = \"log\"\nrule = \"*\"\ndo = \"file\"\npath = \"" + log + "\"\n");
  EXPECT_EQ(cli({"events", "redrive", "first"}).exit_code, 0);
  const Outcome outcome = cli({"events", "deliver", "first"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err << outcome.out;
  EXPECT_EQ(lines_of("log.jsonl"), 1u);
  const auto both = cli({"events", "deliver", "first", "--json", "--on-fire", "file:path=" + log}).json();
  EXPECT_EQ(both.at("runs").at(0).at("subscriptions"), 2) << "--on-fire is beside the file";

  EXPECT_EQ(cli({"events", "redrive", "first"}).exit_code, 0) << "nothing is dead";
  std::filesystem::remove(actions);
  const Outcome gone = cli({"events", "deliver", "first"});
  EXPECT_NE(gone.err.find("actions.toml"), std::string::npos) << gone.err;
}

TEST_F(EventsCommands, DeliverSaysWhatWaitsForSomebodyThatNobodyConfigures) {
  judge();
  EXPECT_EQ(cli({"events", "deliver", "first", "--on-fire", "exec:name=page,command=false"}).exit_code, 1);
  EXPECT_EQ(cli({"events", "redrive", "first"}).exit_code, 0);
  const Outcome outcome = cli({"events", "deliver", "first", "--json"});
  EXPECT_EQ(outcome.exit_code, 1);
  const auto unconfigured = outcome.json().at("runs").at(0).at("unconfigured");
  ASSERT_EQ(unconfigured.size(), 1u);
  EXPECT_EQ(unconfigured.at(0).at("name"), "page");
  EXPECT_EQ(unconfigured.at(0).at("waiting"), 1);
}

TEST_F(EventsCommands, DeliverLeavesOffWhenItsTimeIsOver) {
  judge();
  const Outcome outcome = cli({"events", "deliver", "first", "--for", "1ms", "--json", "--on-fire",
                               R"(exec:command="sh -c 'exit 75'",retry.first_delay=1h,retry.longest_delay=1h)"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_EQ(outcome.json().at("runs").at(0).at("waiting"), 1);
  EXPECT_EQ(cli({"events", "deliver", "first", "--for", "soon"}).exit_code, 2);
}

TEST_F(EventsCommands, DeliverLeavesALedgerToItsKeeperAndGoesOnWithOtherRuns) {
  judge();
  train("second");
  const KeptLedger ledger(run_path("second"));
  const Outcome nothing_of_ours = cli({"events", "deliver", "second", "--json"});
  EXPECT_EQ(nothing_of_ours.exit_code, 1);
  const auto refused = nothing_of_ours.json().at("runs");
  EXPECT_NE(refused.at(0).at("error").get<std::string>().find("--on-fire"), std::string::npos) << refused;

  const Outcome outcome = cli({"events", "deliver", "second", "first", "--once", "--json", "--on-fire",
                               "file:path=" + (folder_ / "a").string()});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
  EXPECT_GT(outcome.json().at("runs").at(0).at("unrecorded"), 0)
      << "the keeper has recorded nothing yet" << outcome.out;
  EXPECT_EQ(outcome.json().at("runs").at(1).at("delivered"), 1) << outcome.out;
}

// A second handler on a running job: the run's own process keeps the ledger meanwhile.
TEST_F(EventsCommands, DeliverFollowsARunBesideItsKeeperAndRemembersWhatItDelivered) {
  train("first");
  auto ledger = std::make_optional<KeptLedger>(run_path("first"));
  ledger->append(ChangeKind::kAlert, "Hang", "", "");
  const std::string log = (folder_ / "seen.jsonl").string();
  const std::vector<std::string> command = {"events", "deliver", "first", "--on-fire", "file:path=" + log};
  Background deliver(cli_command(command), folder_);
  deliver.await_output("event 1 (Hang)");
  const Outcome twice = cli(command);
  EXPECT_EQ(twice.exit_code, 1) << "the same is delivered by one process";
  EXPECT_NE(twice.err.find("another process delivers this"), std::string::npos) << twice.err;
  ledger->append(ChangeKind::kAlert, "Divergence", "", "");
  deliver.await_output("event 2 (Divergence)");
  EXPECT_EQ(kill(deliver.id(), 0), 0) << "the ledger is kept, so more may come";
  ledger->append(ChangeKind::kAlert, "LossSpike", "", "");
  ledger.reset();
  const Outcome outcome = deliver.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream lines(read_file(log));
  std::vector<std::string> ids;
  for (std::string line; std::getline(lines, line);) ids.push_back(nlohmann::json::parse(line).at("id"));
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_TRUE(ids[2].ends_with("-3")) << "events keep their numbers: " << ids[2];

  // The keeper is gone: what was delivered beside it is not delivered again.
  const Outcome later = cli({"events", "deliver", "first", "--json", "--on-fire", "file:path=" + log});
  EXPECT_EQ(later.json().at("runs").at(0).at("delivered"), 0) << later.out;
}

TEST_F(EventsCommands, FollowTellsEventsAsTheyComeAndEndsWithTheLedger) {
  train("first");
  auto ledger = std::make_optional<KeptLedger>(run_path("first"));
  ledger->append(ChangeKind::kRun, "run", "", "InProgress/Starting");
  Background follow(cli_command({"events", "first", "--follow", "--json"}), folder_);
  follow.await_output("InProgress/Starting");
  ledger->append(ChangeKind::kRule, "NaNLoss", "InProgress", "IssuesFound");
  follow.await_output("IssuesFound");
  EXPECT_EQ(kill(follow.id(), 0), 0) << "the ledger is kept, so more may come";
  ledger->append(ChangeKind::kRun, "run", "InProgress/Training", "Completed/Completed");
  ledger.reset();
  const Outcome outcome = follow.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  int seq = 0;
  for (std::string line; std::getline(lines, line);) EXPECT_EQ(nlohmann::json::parse(line).at("seq"), ++seq);
  EXPECT_EQ(seq, 3);
}

TEST_F(EventsCommands, FollowEndsWhenItsReaderGoesAway) {
  prepare();
  const KeptLedger ledger(run_path("first"));
  const Outcome outcome = shell("$TW events first --follow --raw | head -n 1");
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("seq"), 1);
  EXPECT_EQ(outcome.err, "");
}

TEST_F(EventsCommands, WrongUsageSaysWhatIsRight) {
  prepare();
  EXPECT_EQ(cli({"events"}).exit_code, 2);
  EXPECT_EQ(cli({"events", "deliveries"}).exit_code, 2);
  EXPECT_EQ(cli({"events", "first", "--json", "--raw"}).exit_code, 2);
  const Outcome before = cli({"events", "--json", "deliveries", "first"});
  EXPECT_EQ(before.exit_code, 2);
  EXPECT_NE(before.err.find("events deliveries RUN"), std::string::npos) << before.err;
  const Outcome option = cli({"events", "deliveries", "first", "--daed"});
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_NE(option.err.find("`trainwarden events deliveries --help`"), std::string::npos) << option.err;
  EXPECT_EQ(cli({"events", "frist"}).exit_code, 1);
}

}  // namespace
}  // namespace trainwarden::testing_cli
