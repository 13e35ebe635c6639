#include "ui/cli/reports/attention_view.h"

#include <limits>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

using namespace views::attention;

constexpr Terminal kPipe{.interactive = false, .unicode = false, .colors = ColorDepth::kNone, .columns = 80};
constexpr Terminal k256{.interactive = true, .unicode = true, .colors = ColorDepth::k256, .columns = 80};

HeadLook two_tokens() {
  HeadLook look;
  look.layer = 3;
  look.place = {40, Mode::kEval, 4, true};
  look.item = 1;
  look.items = 2;
  look.query_length = look.key_length = look.keys = 2;
  look.heads = {5};
  look.key_heads = {2};
  look.queries = {0, 1};
  look.weights = {1, 0, 0.25F, 0.75F};
  look.query_labels.texts = look.key_labels.texts = {"[CLS]", "a\x1b[2Jb"};
  return look;
}

TEST(AttentionView, DescribesWhatIsShown) {
  LayerMap layer{.name = "encoder\x07"};
  layer.heads = 6;
  layer.key_value_heads = 3;
  HeadLook look = two_tokens();
  EXPECT_EQ(describe_head(look, layer, 40),
            "layer 3 (encoder\\x07)  head 5 (keys of head 2)  step 40 (eval 4)  item 1 of 2  2 tokens  as captured\n");
  look.recomputed = true;
  look.query_labels.note = "no tokens of this step";
  const std::string text = describe_head(look, layer, 42);
  EXPECT_NE(text.find("made of queries and keys\n"), std::string::npos);
  EXPECT_NE(text.find("Step 42 has no attention; this is the newest before it.\n"), std::string::npos);
  EXPECT_NE(text.find("Tokens: no tokens of this step.\n"), std::string::npos);
}

TEST(AttentionView, DrawsARowForEachQueryAndLetsNoTokenDriveTheTerminal) {
  EXPECT_EQ(render_head(two_tokens(), kPipe),
            "            0 1\n"
            "    [CLS] 0 @@..\n"
            "a\\x1B[2Jb 1 ~~%%\n"
            ". is 0, @ is 1\n");
  const std::string colored = render_head(two_tokens(), k256);
  EXPECT_NE(colored.find("\x1b[48;5;231m  \x1b[0m"), std::string::npos);
  EXPECT_EQ(colored.find("\x1b[2J"), std::string::npos);
}

TEST(AttentionView, ShrinksWhatDoesNotFit) {
  HeadLook look = two_tokens();
  look.queries.clear();
  look.weights.clear();
  look.keys = 100;
  for (std::int64_t query = 0; query < 100; ++query) {
    look.queries.push_back(query);
    for (int key = 0; key < 100; ++key) look.weights.push_back(0.01F);
  }
  EXPECT_NE(render_head(look, kPipe).find("each cell is the mean of"), std::string::npos);
}

TEST(AttentionView, ListsTheHeaviestKeys) {
  HeadLook look = two_tokens();
  look.queries = {1};
  look.weights = {0.25F, 0.75F};
  EXPECT_EQ(heaviest_keys(look, 5), (std::vector<std::int64_t>{1, 0}));
  const std::string text = render_query(look, 1, kPipe);
  EXPECT_NE(text.find("Query 1 \"a\\x1B[2Jb\" looks at\n"), std::string::npos) << text;
  EXPECT_NE(text.find("0.7500  ######################\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 2 keys, with 75.0 % of the weight.\n"), std::string::npos) << text;
  look.weights = {0.25F, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_EQ(heaviest_keys(look, 1), std::vector<std::int64_t>{1});
}

TEST(AttentionView, TakesAQueryByNumberOrByText) {
  const TokenLabels labels{{"the", "cat", "the"}, {}};
  EXPECT_EQ(choose_query("2", labels, 3)->query, 2);
  EXPECT_EQ(choose_query("cat", labels, 3)->query, 1);
  EXPECT_EQ(choose_query("the", labels, 3)->note, "\"the\" is there 2 times, at 0, 2; this is the first.");
  EXPECT_EQ(choose_query("3", labels, 3).status().code(), Code::kOutOfRange);
  EXPECT_EQ(choose_query("cats", labels, 3).status().message(), "there is no token \"cats\"; did you mean \"cat\"?");
  EXPECT_NE(choose_query("cat", {{}, "no tokens of this step"}, 3).status().message().find("no tokens of this step"),
            std::string::npos);
}

TEST(AttentionView, SortsHeadsAndLeavesOutThoseThatAreNotThere) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  AttentionMap map;
  map.layers.resize(2);
  map.layers[0].heads = 2;
  map.layers[1].heads = 1;
  Survey survey{2, 2, {}, {}};
  for (const float entropy : {2.0F, nan, 1.0F, 0.0F}) {
    HeadMetrics metrics{};
    metrics[0] = entropy;
    survey.metrics.push_back(metrics);
  }
  const auto heads = list_heads(survey, map, {}, 0);
  ASSERT_EQ(heads.size(), 3U);
  EXPECT_EQ(heads[0].layer, 1);
  EXPECT_EQ(heads[1].head, 0);
  EXPECT_EQ(heads[2].head, 1);  // NaN is last
  EXPECT_EQ(list_heads(survey, map, 1, 0).size(), 1U);
  const std::string table = render_heads(heads);
  EXPECT_NE(table.find("layer  head  entropy  distance"), std::string::npos);
  EXPECT_EQ(table.find("nan_rows"), std::string::npos);  // none has any
}

}  // namespace
}  // namespace trainwarden::cli
