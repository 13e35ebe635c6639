#include "react/delivery/wiring.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <test_paths.h>

#include "core/base/folder_testing.h"
#include "react/delivery/alert_pattern.h"
#include "react/delivery/delivery_testing.h"
#include "react/match/matcher.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::delivery {
namespace {

using actions::ActionKind;
using actions::ActionParameters;
using actions::RunContext;
using std::chrono::milliseconds;
using Words = std::vector<std::string>;

class NamedAction final : public actions::Action {
 public:
  NamedAction(std::string name, std::string place) : name_(std::move(name)), place_(std::move(place)) {}
  std::string_view name() const override { return name_; }
  std::string place() const override { return place_; }
  actions::ActionOutcome run(const actions::EventNotice&, std::stop_token) override {
    return actions::ActionOutcome::done();
  }

 private:
  std::string name_;
  std::string place_;
};

// "stop" has grace; "mail" has to (a list), from and password (a secret); "webhook" has url and timeout.
std::vector<ActionKind> kinds() {
  const auto make = [](std::string name, std::string place) -> Result<std::unique_ptr<actions::Action>> {
    return std::unique_ptr<actions::Action>(std::make_unique<NamedAction>(std::move(name), std::move(place)));
  };
  return {
      {"stop",
       "Stops.",
       {{"grace", "30s", ""}},
       [make](ActionParameters& parameters, const RunContext&) {
         return make("stop", std::to_string(parameters.duration("grace", milliseconds(30'000)).count()));
       }},
      {"mail",
       "Mails.",
       {{"to", "", "", true}, {"from", "", ""}, {"password", "", ""}},
       [make](ActionParameters& parameters, const RunContext&) {
         std::string place;
         for (const std::string& to : parameters.list("to")) place += to + ";";
         place += parameters.text("from", "nobody");
         if (const auto password = parameters.secret("password")) place += ";" + password->describe();
         return make("mail", place);
       }},
      {"webhook",
       "Calls.",
       {{"url", "", "", true}, {"timeout", "10s", ""}},
       [make](ActionParameters& parameters, const RunContext&) {
         const auto url = parameters.required_text_or_secret("url");
         parameters.duration("timeout", milliseconds(10'000));
         return make("webhook", url.secret ? url.secret->describe() : url.text);
       }},
  };
}

Result<std::vector<Subscription>> subscriptions_of(std::string_view toml) {
  const auto wiring = parse_wiring(toml, "actions.toml");
  if (!wiring.ok()) return wiring.status();
  return subscribe(*wiring, kinds(), RunContext{});
}

std::string error_of(std::string_view toml) {
  const Status status = subscriptions_of(toml).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.to_string();
  return status.message();
}

Words names_of(const std::vector<Subscription>& subscriptions) {
  Words names;
  for (const Subscription& subscription : subscriptions) names.push_back(subscription.name);
  return names;
}

TEST(WiringFile, RuleToAction) {
  const auto subscriptions = subscriptions_of(R"(
    [[on]]
    rule = ["VanishingGradient", "NaNLoss"]
    do = "stop"
    grace = "5s"
  )");
  ASSERT_TRUE(subscriptions.ok()) << subscriptions.status().to_string();
  ASSERT_EQ(subscriptions->size(), 1);
  const Subscription& stop = subscriptions->front();
  EXPECT_EQ(stop.name, "stop-NaNLoss-VanishingGradient");
  EXPECT_EQ(stop.action->name(), "stop");
  EXPECT_EQ(stop.action->place(), "5000");
  EXPECT_TRUE(stop.config.ends_with("/actions.toml")) << stop.config;
  EXPECT_EQ(stop.format, EventFormat::kCloudEvents);
  EXPECT_EQ(stop.retry.max_attempts, 185);
  EXPECT_FALSE(stop.from_now);
  const auto fires = [&](const std::string& rule) {
    return match::matches(stop.pattern, events::encode_event(alert_of(rule, 1))).value();
  };
  EXPECT_TRUE(fires("VanishingGradient"));
  EXPECT_TRUE(fires("NaNLoss"));
  EXPECT_FALSE(fires("LossNotDecreasing"));
  events::Event change = alert_of("NaNLoss", 1);
  change.type = events::kStateChangeType;
  EXPECT_FALSE(match::matches(stop.pattern, events::encode_event(change)).value());
}

TEST(WiringFile, EventsAsTableAndAsText) {
  const auto subscriptions = subscriptions_of(R"(
    [[on]]
    name = "table"
    event = { data = { TrainingJobStatus = ["Failed", { prefix = "Stop" }], n = [1, 2.5, true] } }
    do = "webhook"
    url = { env = "OPS_URL" }
    [[on]]
    name = "text"
    event = '{"data": {"TrainingJobStatus": [null]}}'
    do = "stop"
  )");
  ASSERT_TRUE(subscriptions.ok()) << subscriptions.status().to_string();
  EXPECT_EQ(subscriptions->at(0).action->place(), "$OPS_URL");
  EXPECT_EQ(
      format::Json::parse(subscriptions->at(0).pattern.text()),
      format::Json::parse(R"({"data": {"TrainingJobStatus": ["Failed", {"prefix": "Stop"}], "n": [1, 2.5, true]}})"));
  EXPECT_EQ(subscriptions->at(1).pattern.text(), R"({"data": {"TrainingJobStatus": [null]}})");
}

TEST(WiringFile, DeliveryOfAll) {
  const auto subscriptions = subscriptions_of(R"(
    [delivery]
    retry = { first_delay = "2s", longest_delay = "1m" }
    cool_down = "1h"
    [mail]
    from = "a@x"
    password = { file = "secret" }
    [[on]]
    do = "mail"
    to = ["b@x", "c@x"]
    format = "eventbridge"
    since = "now"
    retry.max_attempts = 7
    retry.first_delay = "3s"
    cool_down = "0s"
    [[on]]
    do = "stop"
  )");
  ASSERT_TRUE(subscriptions.ok()) << subscriptions.status().to_string();
  const Subscription& mail = subscriptions->at(0);
  EXPECT_EQ(mail.action->place(), "b@x;c@x;a@x;the file secret");
  EXPECT_EQ(mail.format, EventFormat::kEventBridge);
  EXPECT_TRUE(mail.from_now);
  EXPECT_EQ(mail.retry.max_attempts, 7);
  EXPECT_EQ(mail.retry.first_delay, milliseconds(3'000));
  EXPECT_EQ(mail.retry.longest_delay, milliseconds(60'000));
  EXPECT_EQ(mail.cool_down, milliseconds(0));
  EXPECT_TRUE(match::matches(mail.pattern, events::encode_as_eventbridge(alert_of("A", 1))).value());
  EXPECT_FALSE(match::matches(mail.pattern, events::encode_event(alert_of("A", 1))).value());
  EXPECT_EQ(subscriptions->at(1).cool_down, milliseconds(3'600'000));
  EXPECT_EQ(names_of(*subscriptions), (Words{"mail", "stop"}));
}

TEST(WiringFile, SeveralActionsShareATable) {
  const auto subscriptions = subscriptions_of(R"(
    [[on]]
    name = "both"
    rule = "NaNLoss"
    do = ["stop", "mail", "skip-step"]
    grace = "5s"
    to = "b@x"
    cool_down = "1s"
  )");
  ASSERT_TRUE(subscriptions.ok()) << subscriptions.status().to_string();
  EXPECT_EQ(names_of(*subscriptions), (Words{"both-stop", "both-mail"}));
  EXPECT_EQ(subscriptions->at(0).action->place(), "5000");
  EXPECT_EQ(subscriptions->at(1).action->place(), "b@x;nobody");
  EXPECT_EQ(subscriptions->at(0).cool_down, subscriptions->at(1).cool_down);
  EXPECT_NE(
      error_of("[[on]]\ndo = [\"stop\", \"mail\"]\ngrase = \"5s\"\nto = \"b@x\"\n").find("did you mean \"grace\""),
      std::string::npos);
}

TEST(WiringFile, MadeNamesStayTheSameAndDiffer) {
  const auto subscriptions = subscriptions_of(R"(
    [[on]]
    do = "webhook"
    url = "https://a"
    [[on]]
    do = "webhook"
    url = "https://b"
    [[on]]
    rule = "NaNLoss"
    do = "webhook"
    url = "https://a"
  )");
  ASSERT_TRUE(subscriptions.ok()) << subscriptions.status().to_string();
  const Words names = names_of(*subscriptions);
  EXPECT_TRUE(names[0].starts_with("webhook-") && names[1].starts_with("webhook-"));
  EXPECT_NE(names[0], names[1]);
  EXPECT_EQ(names[2], "webhook-NaNLoss");
  EXPECT_NE(error_of("[[on]]\ndo = \"stop\"\n[[on]]\ndo = \"stop\"\n").find("actions.toml, line 1"), std::string::npos);
  EXPECT_NE(error_of("[[on]]\nname = \"a\"\ndo = \"stop\"\n[[on]]\nname = \"a\"\nrule = \"X\"\ndo = \"stop\"\n")
                .find("line 4: the name \"a\" is that of actions.toml, line 1"),
            std::string::npos);
}

TEST(WiringFile, SkipStepIsForTheGuard) {
  const auto wiring = parse_wiring("[[on]]\nrule = [\"A\", \"B\"]\ndo = \"skip-step\"\n[[on]]\ndo = \"stop\"\n", "f");
  ASSERT_TRUE(wiring.ok());
  EXPECT_EQ(skip_step_rules(*wiring), (Words{"A", "B"}));
  EXPECT_EQ(subscribe(*wiring, kinds(), RunContext{})->size(), 1);
  EXPECT_NE(error_of("[[on]]\nevent = '{}'\ndo = \"skip-step\"\n").find("expected rule"), std::string::npos);
  EXPECT_NE(error_of("[[on]]\ndo = \"skip-step\"\ngrace = 1\n").find("unknown parameter \"grace\""), std::string::npos);
}

TEST(WiringFile, ErrorsNameTheLineAndWhatIsMeant) {
  const std::pair<const char*, const char*> cases[] = {
      {"[[on]\n", "actions.toml, line 1: no TOML"},
      {"[\n]", "actions.toml, line 1: no TOML"},
      {"\u00fc = 1", "actions.toml, line 1: no TOML"},
      {"\n[[on]]\ndo = \"stopp\"\n", "actions.toml, line 2: unknown action \"stopp\"; did you mean \"stop\"?"},
      {"[[on]]\ndo = \"stop\"\ngrase = \"1s\"\n", "line 1: stop: unknown parameter \"grase\"; did you mean \"grace\"?"},
      {"[[on]]\ndo = \"stop\"\ncooldown = \"1s\"\n", "did you mean \"cool_down\"?"},
      {"[[on]]\ndo = \"stop\"\nretry = { max_age = \"soon\" }\n", "retry.max_age: expected a time"},
      {"[[on]]\ndo = \"stop\"\nretry = { longest_delay = \"1ms\" }\n", "retry.longest_delay: expected no less"},
      {"[[on]]\ndo = \"stop\"\nretry.max_attempts = 0\n", "retry.max_attempts: expected a whole number from 1"},
      {"[[on]]\ndo = \"stop\"\nformat = \"xml\"\n", "format: expected one of cloudevents, eventbridge"},
      {"[[on]]\ndo = \"stop\"\nsince = \"ever\"\n", "since: expected one of start, now"},
      {"[[on]]\nrule = \"A\"\n", "line 1: [[on]] does nothing"},
      {"[[on]]\ndo = \"stop\"\nrule = \"A\"\nevent = '{}'\n", "expected either rule or event"},
      {"[[on]]\ndo = \"stop\"\nrule = 7\n", "line 3: rule: expected a text or a list of texts"},
      {"[[on]]\ndo = \"stop\"\nrule = []\n", "line 3: rule: expected a text or a list of texts"},
      {"[[on]]\ndo = \"stop\"\nrule = [\"A\", 1]\n", "line 3: rule: expected a list of texts"},
      {"[[on]]\ndo = \" \"\n", "do: expected a name"},
      {"[[on]]\ndo = \"stop\"\nevent = 7\n", "line 3: event: expected a table"},
      {"[[on]]\ndo = \"stop\"\nevent = { a = [inf] }\n", "line 3: event: expected texts"},
      {"[[on]]\ndo = \"stop\"\nevent = { a = [1979-05-27] }\n", "line 3: event: expected texts"},
      {"[[on]]\ndo = \"stop\"\nevent = '{\"a\": 1}'\n", "line 1: event"},
      {"[[on]]\ndo = \"stop\"\nname = 7\n", "line 3: name: expected a text"},
      {"[[on]]\ndo = \"stop\"\ngrace = 12:00:00\n", "line 3: grace: expected a text, a number"},
      {"[on]\ndo = \"stop\"\n", "line 1: expected [[on]]"},
      {"on = [1]\n", "line 1: on: expected tables"},
      {"do = \"stop\"\n", "line 1: expected [[on]] or a table named after an action, found the key \"do\""},
      {"[mial]\nto = \"x\"\n", "line 1, [mial]: expected the name of an action, or delivery; did you mean \"mail\"?"},
      {"[[on]]\ndo = \"mail\"\nto = \"b@x\"\npassword = \"hunter2\"\n", "password: expected where a secret is"},
      {"[[on]]\ndo = \"webhook\"\n", "line 1: webhook: url is missing"},
  };
  for (const auto& [toml, message] : cases) {
    const std::string error = error_of(toml);
    EXPECT_NE(error.find(message), std::string::npos) << toml << " gives: " << error;
    EXPECT_EQ(error.find("hunter2"), std::string::npos) << error;
  }
  EXPECT_EQ(parse_wiring("a = \"\xff\"", "f").status().code(), Code::kInvalidArgument);
  EXPECT_NE(error_of(std::string_view("[[on]]\n[\0]\n", 11)).find("line 2: no TOML: found the control character"),
            std::string::npos);
}

TEST(WiringFile, AsManyAsThereMayBe) {
  std::string toml;
  for (std::size_t i = 0; i < kMaxSubscriptions; ++i) toml += fmt::format("[[on]]\nname = \"n{}\"\ndo = \"stop\"\n", i);
  EXPECT_EQ(subscriptions_of(toml)->size(), kMaxSubscriptions);
  EXPECT_NE(error_of(toml + "[[on]]\nname = \"more\"\ndo = \"stop\"\n").find("at most 64"), std::string::npos);
}

TEST(WiringFile, OnDisk) {
  const TestFolder folder;
  const auto file = folder.path() / "actions.toml";
  EXPECT_EQ(read_wiring_file(file).status().code(), Code::kNotFound);
  EXPECT_EQ(read_wiring_file(folder.path()).status().code(), Code::kInvalidArgument);
  std::ofstream(file) << "[[on]]\ndo = \"mail\"\nto = \"b@x\"\npassword = { file = \"pw\" }\n";
  const auto wiring = read_wiring_file(file);
  ASSERT_TRUE(wiring.ok()) << wiring.status().to_string();
  EXPECT_EQ(wiring->config, file.string());
  // A secret's file lies beside the file that names it.
  EXPECT_EQ(std::get<actions::Secret>(wiring->wires.at(0).parameters.at("password")).describe(),
            "the file " + (folder.path() / "pw").string());
  std::ofstream(file) << std::string(2 << 20, '#');
  EXPECT_EQ(read_wiring_file(file).status().code(), Code::kInvalidArgument);
}

// The example of the document is one that works.
TEST(WiringFile, TheExampleOfTheDocument) {
  std::ifstream document(std::string(TW_SOURCE_DIR) + "/docs/reference/actions.md");
  const std::string text((std::istreambuf_iterator<char>(document)), std::istreambuf_iterator<char>());
  const std::size_t begin = text.find("```toml\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string example = text.substr(begin + 8, text.find("```", begin + 8) - begin - 8);
  const auto wiring = parse_wiring(example, "actions.toml");
  ASSERT_TRUE(wiring.ok()) << wiring.status().to_string();
  EXPECT_EQ(wiring->wires.size(), 6);
  // Those that need no network, with the parameters that they really have.
  Wiring local = *wiring;
  const auto& kinds_here = actions::local_action_kinds();
  const auto is_local = [&](const std::string& name) {
    return std::any_of(kinds_here.begin(), kinds_here.end(), [&](const ActionKind& kind) { return kind.name == name; });
  };
  std::erase_if(local.wires, [&](const Wire& wire) { return !is_local(wire.action); });
  std::erase_if(local.common, [&](const CommonParameters& common) { return common.name == "webhook"; });
  for (Wire& wire : local.wires) wire.parameters.erase("to");  // the mail's
  const auto subscriptions = subscribe(local, kinds_here, RunContext{.name = "r", .path = "/r"});
  ASSERT_TRUE(subscriptions.ok()) << subscriptions.status().to_string();
  EXPECT_EQ(names_of(*subscriptions),
            (Words{"stop-NonFiniteOrigin-VanishingGradient", "save-ExplodingTensor", "file", "handler"}));
}

TEST(WireText, ActionAlone) {
  const auto wire = parse_wire("stop");
  ASSERT_TRUE(wire.ok()) << wire.status().to_string();
  EXPECT_EQ(wire->action, "stop");
  EXPECT_EQ(wire->rules, (Words{"*"}));
  EXPECT_EQ(wire->where, "--on-fire stop");
  EXPECT_TRUE(wire->parameters.empty());
}

TEST(WireText, Parameters) {
  const auto wire =
      parse_wire(R"(mail:to=a@x,to="b,c@x",rule=A; B,name=ops,password=env:PW,key=file:/k,retry.max_age=1h)");
  ASSERT_TRUE(wire.ok()) << wire.status().to_string();
  EXPECT_EQ(wire->name, "ops");
  EXPECT_EQ(wire->rules, (Words{"A", "B"}));
  EXPECT_EQ(std::get<Words>(wire->parameters.at("to")), (Words{"a@x", "b,c@x"}));
  EXPECT_EQ(std::get<actions::Secret>(wire->parameters.at("password")).describe(), "$PW");
  EXPECT_EQ(std::get<actions::Secret>(wire->parameters.at("key")).describe(), "the file /k");
  EXPECT_EQ(std::get<Words>(wire->parameters.at("retry.max_age")), (Words{"1h"}));
}

TEST(WireText, EventsAsTheyAre) {
  const std::string event = R"({"data":{"a,b":["x\"}",{"prefix":"S:"}]}})";
  for (const std::string& text :
       {"stop:event=" + event, "stop:grace=1s,event=" + event, "stop:event=" + event + ",grace=1s",
        "stop:name=\"a,event={\",event=" + event + ",grace=1s"}) {
    const auto wire = parse_wire(text);
    ASSERT_TRUE(wire.ok()) << text << ": " << wire.status().to_string();
    EXPECT_EQ(wire->event, event) << text;
    EXPECT_EQ(wire->action, "stop") << text;
    EXPECT_TRUE(wire->rules.empty());
    if (text.find("grace") != std::string::npos) {
      EXPECT_EQ(std::get<Words>(wire->parameters.at("grace")), (Words{"1s"})) << text;
    }
  }
}

TEST(WireText, FaultsSayNothingThatMayBeASecret) {
  for (const char* text : {"", ":", "stop:", "webhook:https://hooks/hunter2", "webhook:url=\"hunter2",
                           "stop:event={\"hunter2\":", "stop:event={}hunter2", "stop:rule=;", "stop:rule=A,event={}",
                           "mail:password=env:A,password=hunter2", "mail:to=hunter2,to=env:A"}) {
    const Status status = parse_wire(text).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << text;
    EXPECT_EQ(status.message().find("hunter2"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("--on-fire"), std::string::npos) << status.message();
  }
}

TEST(AlertPattern, RulesHoweverTheyAreWritten) {
  const auto fires = [](const Words& rules, const std::string& rule) {
    const auto pattern = match::Pattern::parse(alert_pattern(rules, EventFormat::kCloudEvents));
    EXPECT_TRUE(pattern.ok()) << pattern.status().to_string();
    return match::matches(*pattern, events::encode_event(alert_of(rule, 1))).value();
  };
  EXPECT_TRUE(fires({"*"}, "Anything"));
  EXPECT_TRUE(fires({"A", "*"}, "Anything"));
  EXPECT_TRUE(fires({"vanishing_gradient"}, "VanishingGradient"));
  EXPECT_TRUE(fires({"my_rule"}, "my_rule"));
  EXPECT_TRUE(fires({"nan_loss", "B"}, "NaNLoss"));
  EXPECT_TRUE(fires({"Vanishing*"}, "VanishingGradient"));
  EXPECT_TRUE(fires({"**Gradient"}, "VanishingGradient"));
  EXPECT_FALSE(fires({"Vanishing*"}, "Exploding"));
  EXPECT_FALSE(fires({"Vanishing"}, "VanishingGradient"));
  EXPECT_FALSE(fires({"_"}, "VanishingGradient"));
}

// With the actions that there are: their requests are files.
TEST(Wiring, ASaveBesideAStopIsAskedForBeforeIt) {
  for (const char* names : {R"(["save", "stop"])", R"(["stop"])"}) {
    const auto storage = storage::create_memory_storage();
    RunContext run;
    run.name = "first";
    run.storage = storage.get();
    const auto wiring = parse_wiring(fmt::format("[[on]]\nrule = \"A\"\ndo = {}\n", names), "actions.toml");
    ASSERT_TRUE(wiring.ok()) << wiring.status().to_string();
    auto subscriptions = subscribe(*wiring, actions::local_action_kinds(), run);
    ASSERT_TRUE(subscriptions.ok()) << subscriptions.status().to_string();
    actions::EventNotice notice;
    notice.key = "a-1";
    EXPECT_EQ(subscriptions->back().action->run(notice, {}).kind, actions::ActionOutcome::Kind::kDone);
    EXPECT_TRUE(storage->exists("control/stop-a-1.json"));
    EXPECT_EQ(storage->exists("control/checkpoint-a-1.json"), subscriptions->size() == 2);
  }
}

}  // namespace
}  // namespace trainwarden::delivery
