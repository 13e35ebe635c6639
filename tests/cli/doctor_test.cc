// doctor, and the other commands on runs that were damaged.
#include <cmath>
#include <fstream>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

namespace fs = std::filesystem;

class Doctor : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    train("first", {"--steps", "20"});
  }

  fs::path first_segment() const {
    const fs::path journal = run_path("first") / "journal" / "rank-00000";
    for (const auto& entry : fs::directory_iterator(journal)) {
      if (entry.path().extension() == ".tw") return entry.path();
    }
    return journal;
  }

  // Changes one byte of the elements of conv0.weight at step 0.
  void damage_a_payload() const {
    std::string bytes = read_file(first_segment());
    const float element = std::sin(1.0f);  // the second element of the first step
    const std::string pattern(reinterpret_cast<const char*>(&element), sizeof element);
    const std::size_t at = bytes.find(pattern);
    ASSERT_NE(at, std::string::npos);
    std::fstream file(first_segment(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(~bytes[at]));
  }
};

TEST_F(Doctor, AHealthyRunIsFine) {
  const Outcome outcome = cli({"doctor", "first", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.json().at("healthy"), true);
  EXPECT_EQ(outcome.json().at("journals").at(0).at("steps"), 20);
  EXPECT_NE(cli({"doctor", "first"}).out.find("healthy"), std::string::npos);
}

TEST_F(Doctor, ADamagedPayloadIsFoundAndNamed) {
  damage_a_payload();
  const Outcome outcome = cli({"doctor", "first", "--json"});
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_EQ(outcome.json().at("healthy"), false);
  const auto losses = outcome.json().at("journals").at(0).at("losses");
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_NE(losses[0].at("where").get<std::string>().find("seg-"), std::string::npos);
  EXPECT_NE(cli({"doctor", "first"}).out.find("seg-"), std::string::npos);
}

TEST_F(Doctor, OnlyTheDamagedTensorIsLost) {
  damage_a_payload();
  EXPECT_EQ(cli({"value", "first", "conv0.weight", "--step", "0"}).exit_code, 4);
  EXPECT_EQ(cli({"value", "first", "conv0.weight", "--step", "1"}).exit_code, 0);
}

TEST_F(Doctor, ATornTailIsReported) {
  fs::resize_file(first_segment(), fs::file_size(first_segment()) - 1000);
  EXPECT_EQ(cli({"doctor", "first"}).exit_code, 4);
  EXPECT_EQ(cli({"tensors", "first"}).exit_code, 0);
}

TEST_F(Doctor, ABrokenRunFileIsDamageAndIsShownInLs) {
  std::ofstream(run_path("first") / "run.json") << "{\"id\": ";
  EXPECT_EQ(cli({"show", "first"}).exit_code, 4);
  EXPECT_EQ(cli({"doctor", "first"}).exit_code, 4);
  const Outcome list = cli({"ls"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_NE(list.out.find("unreadable"), std::string::npos) << list.out;
}

}  // namespace
}  // namespace trainwarden::testing_cli
