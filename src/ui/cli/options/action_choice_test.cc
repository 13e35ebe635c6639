#include "ui/cli/options/action_choice.h"

#include <cstdlib>

#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::cli {
namespace {

class ActionChoiceTest : public ::testing::Test {
 protected:
  ActionChoiceTest() {
    ::unsetenv("TW_TEST_SECRET");
    context_.name = "first";
    context_.path = folder_.path();
    context_.storage = storage_.get();
  }
  ~ActionChoiceTest() override { ::unsetenv("TW_TEST_SECRET"); }

  std::string file(const std::string& toml) {
    const auto path = folder_.path() / "actions.toml";
    std::ofstream(path) << toml;
    return path.string();
  }
  std::string in_folder(const std::string& name) const { return (folder_.path() / name).string(); }

  TestFolder folder_;
  std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
  actions::RunContext context_;
};

TEST_F(ActionChoiceTest, NothingAndReportLeadToNothing) {
  for (const std::vector<std::string>& on_fire : {std::vector<std::string>{}, {"report"}}) {
    const auto wiring = ActionChoice{on_fire, ""}.wiring(SkipStep::kRefused);
    ASSERT_TRUE(wiring.ok()) << wiring.status().message();
    EXPECT_TRUE(wiring->empty());
    EXPECT_EQ(wiring->subscriber(), nullptr);
  }
}

TEST_F(ActionChoiceTest, StopIsForAnyRule) {
  const auto wiring = ActionChoice{{"report", "stop"}, ""}.wiring(SkipStep::kRefused);
  ASSERT_TRUE(wiring.ok()) << wiring.status().message();
  EXPECT_TRUE(wiring->leads_to("stop"));
  EXPECT_FALSE(wiring->leads_to("mail"));
  const auto subscriptions = wiring->subscriber()(context_);
  ASSERT_TRUE(subscriptions.ok()) << subscriptions.status().message();
  ASSERT_EQ(subscriptions->size(), 1u);
  EXPECT_EQ((*subscriptions)[0].action->name(), "stop");
}

TEST_F(ActionChoiceTest, TheFileAndTheCommandLineAreWiredTogether) {
  const std::string toml =
      file("[[on]]\nrule = \"VanishingGradient\"\ndo = \"file\"\npath = \"" + in_folder("a") + "\"\n");
  const auto wiring = ActionChoice{{"stop"}, toml}.wiring(SkipStep::kRefused);
  ASSERT_TRUE(wiring.ok()) << wiring.status().message();
  ASSERT_EQ(wiring->parts.size(), 2u);
  const auto subscriptions = wiring->subscribe(context_);
  ASSERT_TRUE(subscriptions.ok());
  ASSERT_EQ(subscriptions->size(), 2u);
  EXPECT_EQ((*subscriptions)[0].config, toml);
  EXPECT_EQ((*subscriptions)[1].config, "");
}

TEST_F(ActionChoiceTest, TwoOfTheSameNameAreRefused) {
  const std::string toml = file("[[on]]\nname = \"ops\"\nrule = \"*\"\ndo = \"stop\"\n");
  const auto wiring = ActionChoice{{"stop:name=ops"}, toml}.wiring(SkipStep::kRefused);
  ASSERT_FALSE(wiring.ok());
  EXPECT_EQ(wiring.status().code(), Code::kInvalidArgument);
  EXPECT_NE(wiring.status().message().find("\"ops\""), std::string::npos) << wiring.status().message();
}

TEST_F(ActionChoiceTest, AMistakeIsToldBeforeAnythingBegins) {
  const auto unknown = ActionChoice{{"stpo"}, ""}.wiring(SkipStep::kRefused);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.status().code(), Code::kInvalidArgument);
  EXPECT_NE(unknown.status().message().find("stop"), std::string::npos) << unknown.status().message();
  const auto parameter = ActionChoice{{"stop:gracee=3s"}, ""}.wiring(SkipStep::kRefused);
  ASSERT_FALSE(parameter.ok());
  EXPECT_NE(parameter.status().message().find("grace"), std::string::npos) << parameter.status().message();
  EXPECT_EQ((ActionChoice{{}, in_folder("missing.toml")}.wiring(SkipStep::kRefused).status().code()), Code::kNotFound);
}

TEST_F(ActionChoiceTest, SkipStepIsForWhoStartsTheTraining) {
  const ActionChoice choice{{"skip-step:rule=ExplodingTensor"}, ""};
  const auto allowed = choice.wiring(SkipStep::kAllowed);
  ASSERT_TRUE(allowed.ok()) << allowed.status().message();
  EXPECT_EQ(allowed->skip_step_rules(), std::vector<std::string>{"ExplodingTensor"});
  const auto refused = choice.wiring(SkipStep::kRefused);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("run"), std::string::npos);
}

TEST_F(ActionChoiceTest, ASecretThatCannotBeReadIsToldByItsPlace) {
  const ActionChoice choice{{"webhook:url=env:TW_TEST_SECRET"}, ""};
  const auto missing = choice.wiring(SkipStep::kRefused);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), Code::kNotFound);
  EXPECT_NE(missing.status().message().find("TW_TEST_SECRET"), std::string::npos) << missing.status().message();

  ::setenv("TW_TEST_SECRET", "https://hooks.example.com/token-5f3a", 1);
  const auto there = choice.wiring(SkipStep::kRefused);
  ASSERT_TRUE(there.ok()) << there.status().message();
  const auto secrets = secrets_of(*there);
  ASSERT_EQ(secrets.size(), 1u);
  EXPECT_EQ(secrets[0].parameter, "url");
  EXPECT_EQ(secrets[0].place, "$TW_TEST_SECRET");
  EXPECT_TRUE(secrets[0].status.ok());
}

TEST_F(ActionChoiceTest, SecretsOfATableThatActionsHaveInCommonAreFoundToo) {
  const std::string toml = file(
      "[webhook]\nsecret = { env = \"TW_TEST_SECRET\" }\n"
      "[[on]]\nrule = \"*\"\ndo = \"webhook\"\nurl = \"https://hooks.example.com/x\"\n");
  const auto wiring = ActionChoice{{}, toml}.wiring(SkipStep::kRefused);
  ASSERT_FALSE(wiring.ok());
  EXPECT_NE(wiring.status().message().find("secret"), std::string::npos) << wiring.status().message();
}

TEST_F(ActionChoiceTest, EveryActionHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const actions::ActionKind& kind : all_action_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_FALSE(kind.summary.empty()) << kind.name;
    for (const auto& parameter : kind.parameters) EXPECT_FALSE(parameter.description.empty()) << parameter.name;
  }
  for (const char* name : {"stop", "save", "black-box", "exec", "file", "webhook", "slack", "mail"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
}

}  // namespace
}  // namespace trainwarden::cli
