#include "ui/cli/reports/action_reference.h"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <test_paths.h>

#include "ui/cli/options/action_choice.h"

namespace trainwarden::cli {
namespace {

TEST(ActionReference, TheDocumentIsWhatTheProgramMakes) {
  std::ifstream file(TW_SOURCE_DIR "/docs/reference/builtin-actions.md");
  const std::string document((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(document == action_reference(all_action_kinds()))
      << "make it anew: trainwarden actions --markdown > docs/reference/builtin-actions.md";
}

TEST(ActionReference, ABarInATextDoesNotEndItsCell) {
  actions::ActionKind kind;
  kind.name = "shout";
  kind.summary = "Shouts.";
  kind.parameters.push_back({"how", "loud|clear", "loud|clear", true});
  const std::string text = action_reference({kind});
  EXPECT_NE(text.find("| `how` | required | loud\\|clear |"), std::string::npos) << text;
}

}  // namespace
}  // namespace trainwarden::cli
