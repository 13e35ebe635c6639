// The environment that a program is started with so that it is watched.
#include "ui/cli/commands/attach.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

class AttachTest : public testing::Test {
 protected:
  AttachTest() { variables_["TRAINWARDEN_PRELOAD_LIBRARY"] = make_file("libtrainwarden_preload.so"); }

  std::string make_file(const std::string& name) const {
    std::ofstream(folder_ / name) << "library";
    return (folder_ / name).string();
  }
  Environment environment() const {
    return [this](const char* name) -> const char* {
      const auto variable = variables_.find(name);
      return variable == variables_.end() ? nullptr : variable->second.c_str();
    };
  }
  AttachPlan plan(const std::string& mode) const { return plan_attach({"/bin/sh", "-c", "true"}, mode, environment()); }

  const TestFolder own_;
  const fs::path folder_ = own_.path();
  std::map<std::string, std::string> variables_;
};

using Variables = std::map<std::string, std::string>;

TEST_F(AttachTest, EveryProgramIsTold) {
  EXPECT_EQ(plan("auto").environment, (Variables{{"TRAINWARDEN_ATTACH", "1"}}));
  EXPECT_EQ(plan("off").environment, (Variables{{"TRAINWARDEN_ATTACH", "0"}}));
}

TEST_F(AttachTest, PreloadGoesBeforeWhatIsPreloadedAlready) {
  const std::string library = variables_["TRAINWARDEN_PRELOAD_LIBRARY"];
  EXPECT_EQ(plan("preload").environment, (Variables{{"TRAINWARDEN_ATTACH", "1"}, {"LD_PRELOAD", library}}));
  variables_["LD_PRELOAD"] = "libfaketime.so";
  EXPECT_EQ(plan("preload").environment.at("LD_PRELOAD"), library + ":libfaketime.so");
  EXPECT_EQ(plan("preload").warning, "");
}

TEST_F(AttachTest, AMissingLibraryIsAWarning) {
  variables_["TRAINWARDEN_PRELOAD_LIBRARY"] = (folder_ / "missing.so").string();
  const AttachPlan missing = plan("preload");
  EXPECT_FALSE(missing.environment.contains("LD_PRELOAD"));
  EXPECT_NE(missing.warning.find("TRAINWARDEN_PRELOAD_LIBRARY=$(./dev preload)"), std::string::npos) << missing.warning;
}

TEST_F(AttachTest, APathThatTheLoaderWouldCutIsAWarning) {
  variables_["TRAINWARDEN_PRELOAD_LIBRARY"] = make_file("with space.so");
  const AttachPlan cut = plan("preload");
  EXPECT_FALSE(cut.environment.contains("LD_PRELOAD"));
  EXPECT_NE(cut.warning.find("space"), std::string::npos) << cut.warning;
}

TEST_F(AttachTest, AMissingRunIsExplained) {
  const auto explain = [&](const std::vector<std::string>& command, const std::string& mode = "auto") {
    return explain_missing_run(command, mode, environment());
  };
  EXPECT_NE(explain({"/bin/sh", "-c", "true"}).find("--attach preload"), std::string::npos);
  EXPECT_NE(explain({"/bin/sh", "-c", "true"}, "off").find("--attach off"), std::string::npos);
  const std::string script = make_file("train.py");
  std::ofstream(script) << "#!/usr/bin/env python3\n";
  fs::permissions(script, fs::perms::owner_all);
  EXPECT_NE(explain({"/usr/bin/env", script}).find("train.py"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::cli
