#include <set>

#include <gtest/gtest.h>

#include "react/actions/action_kind.h"
#include "react/actions/action_testing.h"

namespace trainwarden::actions {
namespace {

TEST(LocalActionKinds, HaveNamesAndDescriptions) {
  std::vector<std::string> names;
  for (const ActionKind& kind : local_action_kinds()) {
    names.push_back(kind.name);
    EXPECT_TRUE(kind.summary.ends_with(".")) << kind.name;
    std::set<std::string> parameters;
    for (const ActionParameterDescription& parameter : kind.parameters) {
      EXPECT_TRUE(parameters.insert(parameter.name).second) << parameter.name;
      EXPECT_TRUE(parameter.description.ends_with(".")) << parameter.name;
      EXPECT_TRUE(parameter.required || parameter.name == "folder" || !parameter.default_value.empty())
          << parameter.name;
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"stop", "save", "black-box", "profile", "exec", "file"}));
}

// Each default that is described is one that the action takes, and each parameter is known to it.
TEST(LocalActionKinds, TakeTheirOwnDefaults) {
  for (const ActionKind& kind : local_action_kinds()) {
    std::map<std::string, std::vector<std::string>> values;
    for (const ActionParameterDescription& parameter : kind.parameters) {
      values[parameter.name] = {parameter.required ? "/tmp/x" : parameter.default_value};
    }
    const auto action = create_action(kind.name, values);
    ASSERT_TRUE(action.ok()) << kind.name << ": " << action.status().message();
    EXPECT_EQ((*action)->name(), kind.name);
    EXPECT_EQ(create_action(kind.name, {{"no_such", {"x"}}}).status().code(), Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace trainwarden::actions
