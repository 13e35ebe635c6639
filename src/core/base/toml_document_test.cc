#include "core/base/toml_document.h"

#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

namespace trainwarden {
namespace {

namespace fs = std::filesystem;

TEST(ParseToml, GivesTablesAndThePlacesOfTheirKeys) {
  const auto root = parse_toml("a = 1\n\n[b]\nc = \"text\"\n", "some.toml");
  ASSERT_TRUE(root.ok()) << root.status().to_string();
  EXPECT_EQ(root->get("a")->as_integer()->get(), 1);
  EXPECT_EQ(place_in("some.toml", *root->get("b")), "some.toml, line 3");
}

TEST(ParseToml, RefusesWithTheLine) {
  EXPECT_EQ(parse_toml("a = 1\nb = \n", "x.toml").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(parse_toml("a = 1\nb = \n", "x.toml").status().message().rfind("x.toml, line 2: no TOML: ", 0), 0U);
  EXPECT_EQ(parse_toml("\xff", "x.toml").status().message(), "x.toml: expected UTF-8");
  EXPECT_NE(parse_toml("\na\x7f = 1", "x.toml").status().message().find("line 2: no TOML: found the control character"),
            std::string::npos);
}

TEST(ReadTomlText, SaysWhatWasExpectedOfAFileThatIsNotThere) {
  const fs::path folder = fs::path(testing::TempDir()) / ("toml_document-" + std::to_string(getpid()));
  fs::create_directories(folder);
  const Status absent = read_toml_text(folder / "absent.toml", "a TOML file with birds").status();
  EXPECT_EQ(absent.code(), Code::kNotFound);
  EXPECT_NE(absent.message().find("expected a TOML file with birds"), std::string::npos);
  std::ofstream(folder / "large.toml") << std::string((1 << 20) + 1, ' ');
  EXPECT_NE(read_toml_text(folder / "large.toml", "a file").status().message().find("expected at most 1.0 MiB"),
            std::string::npos);
  std::ofstream(folder / "good.toml") << "a = 1";
  EXPECT_EQ(*read_toml_text(folder / "good.toml", "a file"), "a = 1");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace trainwarden
