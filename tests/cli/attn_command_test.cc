// The command that looks at attention: attn.
#include <fstream>

#include "cli_harness.h"
#include "ui/views/attention/attention_testing.h"
#include "ui/views/run_on_disk.h"

namespace trainwarden::testing_cli {
namespace {

using namespace views::attention;

TestRun small_bert() {
  TestRun run;
  for (const std::int64_t step : {0, 10}) {
    TestStep saved{.step = step, .mode = Mode::kEval, .mode_step = step / 10};
    for (const char* layer : {"layer.0.", "layer.1."}) {
      saved.tensors.push_back(weights(std::string(layer) + "attn", {2, 3, 4, 4}, static_cast<int>(step)));
    }
    saved.tensors.push_back(
        shaped(strings("tokens", {"[CLS]", "a", "b", "[SEP]", "[CLS]", "c", "\x1b]0;gone\x07", "[SEP]"}), {2, 4}));
    run.add(saved);
  }
  run.end();
  return run;
}

class AttnCommand : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    std::filesystem::copy(views::RunOnDisk(small_bert(), "bert").folder(), run_path("bert"),
                          std::filesystem::copy_options::recursive);
  }
};

TEST_F(AttnCommand, DrawsAHeadWithItsTokens) {
  const Outcome picture = cli({"attn", "bert", "-l", "1", "-H", "2", "--item", "1"});
  EXPECT_EQ(picture.exit_code, 0) << picture.err;
  EXPECT_NE(picture.out.find("layer 1 (layer.1.attn)  head 2  step 10 (eval 1)  item 1 of 2  4 tokens  as captured\n"),
            std::string::npos);
  EXPECT_NE(picture.out.find("[SEP] 3 "), std::string::npos) << picture.out;
  EXPECT_EQ(picture.out.find('\x1b'), std::string::npos) << "a token drives the terminal";
  EXPECT_NE(cli({"attn", "bert", "--color", "always"}).out.find("\x1b[48;2;"), std::string::npos);
}

TEST_F(AttnCommand, GivesTheStoredWeightsAsJson) {
  const auto document =
      cli({"attn", "bert", "-H", "1", "--step", "1", "--mode", "eval", "--first", "2", "--json"}).json();
  EXPECT_EQ(document.at("step"), 10);
  EXPECT_EQ(document.at("mode_step"), 1);
  EXPECT_EQ(document.at("recomputed"), false);
  EXPECT_EQ(document.at("tokens_query"), nlohmann::json({"[CLS]", "a"}));
  const std::vector<float> all = some_weights({2, 3, 4, 4}, 10);
  ASSERT_EQ(document.at("weights").size(), 2U);
  EXPECT_EQ(document.at("weights")[1][0].get<float>(), all[16 + 4]);
}

TEST_F(AttnCommand, ListsWhatAQueryLooksAt) {
  const Outcome list = cli({"attn", "bert", "--query", "b", "--top", "2"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_NE(list.out.find("Query 2 \"b\" looks at\n"), std::string::npos) << list.out;
  const auto document = cli({"attn", "bert", "--query", "2", "--top", "4", "--json"}).json();
  double sum = 0;
  double last = 1;
  for (const auto& key : document.at("top")) {
    EXPECT_LE(key.at("weight").get<double>(), last);
    last = key.at("weight").get<double>();
    sum += last;
  }
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_NE(cli({"attn", "bert", "--query", "absent"}).err.find("there is no token \"absent\""), std::string::npos);
}

TEST_F(AttnCommand, SortsHeadsByTheirNumbers) {
  const Outcome table = cli({"attn", "bert", "--metrics", "--sort", "sink"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("separators"), std::string::npos);
  const auto heads = cli({"attn", "bert", "--metrics", "--sort", "sink", "--step", "0", "--json"}).json().at("heads");
  ASSERT_EQ(heads.size(), 6U);
  double last = 0;
  for (const auto& head : heads) {
    EXPECT_GE(head.at("sink").get<double>(), last);
    last = head.at("sink").get<double>();
    EXPECT_EQ(head.at("drift"), 0.0);  // it is the first step
  }
}

TEST_F(AttnCommand, WritesAFilmOfAHead) {
  const std::filesystem::path file = folder_ / "head.svg";
  const Outcome film = cli({"attn", "bert", "-l", "1", "-H", "2", "--mode", "eval", "--film", file.string()});
  EXPECT_EQ(film.exit_code, 0) << film.err;
  EXPECT_NE(film.out.find("steps 0 to 10, 2 of them"), std::string::npos) << film.out;
  std::ifstream in(file);
  const std::string svg{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(svg.find("bert, layer 1 (layer.1.attn), head 2"), std::string::npos) << svg;
  EXPECT_NE(svg.find("step 10 (eval 1)"), std::string::npos) << svg;
  EXPECT_EQ(cli({"attn", "bert", "--film", file.string(), "--metrics"}).exit_code, 2);
  EXPECT_EQ(cli({"attn", "bert", "--film", (file / "film.svg").string()}).exit_code, 1);
  EXPECT_EQ(cli({"attn", "bert", "-H", "9", "--film", (folder_ / "other.svg").string()}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "other.svg"));
}

TEST_F(AttnCommand, SaysWhatIsNotThere) {
  EXPECT_EQ(cli({"attn", "bert", "-l", "2"}).exit_code, 1);
  EXPECT_NE(cli({"attn", "bert", "--step", "5"}).out.find("Step 5 has no attention"), std::string::npos);
  train("first", {"--steps", "2"});
  const Outcome none = cli({"attn", "first"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("No tensor of this run looks like attention"), std::string::npos) << none.err;
  std::ofstream(run_path("bert") / "attention.toml") << "hedas = 3";
  const Outcome wrong = cli({"attn", "bert"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("line 1: there is no \"hedas\" here; did you mean \"heads\"?"), std::string::npos)
      << wrong.err;
}

}  // namespace
}  // namespace trainwarden::testing_cli
