#include "ui/views/attention/mapping_file.h"

#include <fstream>

#include <gtest/gtest.h>

#include "ui/views/attention/attention_testing.h"
#include "ui/views/run_on_disk.h"

namespace trainwarden::views::attention {
namespace {

namespace fs = std::filesystem;

Result<AttentionMap> map_of(const TestRun& run, std::string_view text) {
  const auto trial = run.open();
  TRAINWARDEN_ASSIGN_OR_RETURN(const MappingFile file, parse_mapping(text, "attention.toml"));
  return map_by_file(*trial, file);
}

AttentionMap good_map_of(const TestRun& run, std::string_view text) {
  auto map = map_of(run, text);
  EXPECT_TRUE(map.ok()) << map.status().to_string();
  return map.ok() ? *std::move(map) : AttentionMap{};
}

std::string error_of(std::string_view text) {
  return parse_mapping(text, "attention.toml").status().message();
}

TestStep step_with(std::vector<TestTensor> tensors) {
  return {.step = 0, .tensors = std::move(tensors)};
}

TEST(MapByFile, TakesNamesWithANumberForTheLayer) {
  TestRun run;
  run.add(step_with({numbers("b10/x", {1, 4, 8}, 1), numbers("b10/y", {1, 4, 4}, 2), numbers("b9/x", {1, 4, 8}, 1),
                     numbers("b9/y", {1, 4, 4}, 2), numbers("b8/x", {1, 4, 8}, 2), numbers("bb/x", {1, 4, 8}, 2),
                     strings("words", {"a", "b", "c", "d"})}));
  const AttentionMap map = good_map_of(run, R"(
    query = "b{layer}/x"
    key = "b{layer}/y"
    tokens = "words"
    heads = 4
    scale = 0.25
    mask = "window"
    window = 2
  )");
  EXPECT_EQ(map.source, MapSource::kFile);
  EXPECT_EQ(map.note, "");
  ASSERT_EQ(map.layers.size(), 2U);  // b8 has no keys
  const LayerMap& layer = map.layers[1];
  EXPECT_EQ(layer.name, "layer 10");
  EXPECT_EQ(layer.query, "b10/x");
  EXPECT_EQ(layer.key, "b10/y");
  EXPECT_EQ(layer.heads, 4);
  EXPECT_EQ(layer.key_value_heads, 2);
  EXPECT_EQ(layer.head_size, 2);
  EXPECT_EQ(layer.scale, 0.25);
  EXPECT_EQ(layer.mask, MaskKind::kWindow);
  EXPECT_EQ(layer.window, 2);
  EXPECT_EQ(map.tokens, "words");
}

TEST(MapByFile, TakesLayersOneByOne) {
  TestRun run;
  run.add(step_with(
      {weights("first", {1, 2, 3, 3}, 1, true), numbers("q", {1, 3, 2, 4}, 1), numbers("k", {1, 5, 2, 4}, 1)}));
  const AttentionMap map = good_map_of(run, R"(
    layout = "BTHD"
    [[layer]]
    name = "cross"
    query = "q"
    key = "k"
    [[layer]]
    attention = "first"
  )");
  ASSERT_EQ(map.layers.size(), 2U);
  EXPECT_EQ(map.layers[0].name, "cross");
  EXPECT_EQ(map.layers[0].heads, 2);
  EXPECT_EQ(map.layers[1].name, "layer 1");
  EXPECT_EQ(map.layers[1].mask, MaskKind::kCausal);  // nobody said, the weights show it
}

TEST(MapByFile, AddsToTheGuessWhatItSays) {
  TestRun run;
  run.add(step_with({numbers("l.0.query", {1, 4, 8}, 1), numbers("l.0.key", {1, 4, 8}, 2)}));
  const AttentionMap map = good_map_of(run, "heads = 2\nmask = \"causal\"");
  EXPECT_EQ(map.source, MapSource::kFile);
  EXPECT_EQ(map.note, "");
  EXPECT_EQ(map.layers.at(0).heads, 2);
  EXPECT_EQ(map.layers.at(0).mask, MaskKind::kCausal);
}

TEST(MapByFile, SaysWhatIsNotThere) {
  TestRun run;
  run.add(step_with({weights("attention0", {1, 1, 3, 3}, 1)}));
  EXPECT_EQ(good_map_of(run, "attention = \"attentoin0\"").note,
            "There is no tensor \"attentoin0\"; did you mean \"attention0\"?");
  EXPECT_EQ(good_map_of(run, "attention = \"weights{layer}\"").note,
            "No tensor that was kept whole is called \"weights{layer}\".");
}

TEST(MapByFile, RefusesWhatTheShapesContradict) {
  TestRun run;
  run.add(step_with({numbers("q", {1, 4, 8}, 1), numbers("k", {1, 4, 8}, 2)}));
  const auto map = map_of(run, "[[layer]]\nname = \"odd\"\nquery = \"q\"\nkey = \"k\"\nheads = 3");
  EXPECT_EQ(map.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(map.status().message(), "attention.toml, line 1: odd: 3 heads do not divide the 8 numbers of a query");
}

TEST(ParseMapping, NamesTheLineAndWhatWasExpected) {
  EXPECT_EQ(error_of("heads = 0"), "attention.toml, line 1: heads: expected a whole number from 1 to 65536");
  EXPECT_EQ(error_of("\nheds = 3"), "attention.toml, line 2: there is no \"heds\" here; did you mean \"heads\"?");
  EXPECT_EQ(error_of("mask = \"triangle\""),
            "attention.toml, line 1: mask: expected one of \"none\", \"causal\", \"window\"");
  EXPECT_EQ(error_of("layout = 3"), "attention.toml, line 1: layout: expected one of \"BHTD\", \"BTHD\", \"BTD\"");
  EXPECT_EQ(error_of("scale = \"big\""),
            "attention.toml, line 1: scale: expected a number (by default 1 / sqrt(head_size))");
  EXPECT_NE(error_of("scale = nan").find("expected a number"), std::string::npos);
  EXPECT_EQ(error_of("tokens = \"\""), "attention.toml, line 1: tokens: expected the name of a tensor, a text");
  EXPECT_NE(error_of("query = \"q\"").find("expected query and key together, found query alone"), std::string::npos);
  EXPECT_NE(error_of("query = \"q{layer}\"\nkey = \"k\"").find("expected {layer} in each"), std::string::npos);
  EXPECT_NE(error_of("[layer]\nheads = 2").find("line 1: expected [[layer]]"), std::string::npos);
  EXPECT_NE(error_of("[[layer]]\nheads = 2").find("expected attention = \"NAME\", or query and key"),
            std::string::npos);
  EXPECT_NE(error_of("attention = \"a\"\n[[layer]]\nattention = \"b\"").find("found both"), std::string::npos);
  EXPECT_NE(error_of("heads = ").find("line 1: no TOML"), std::string::npos);
}

TEST(RunAttentionFile, LiesInTheRunsFolderOrWhereTheUserSays) {
  TestRun run;
  run.add(step_with({numbers("l.0.query", {1, 4, 8}, 1), numbers("l.0.key", {1, 4, 8}, 2)}));
  run.end();
  const RunOnDisk on_disk(run, "mapped");
  const auto open = std::make_shared<OpenRun>("mapped", *Trial::open(on_disk.folder()));
  const RunAttention attention(open, {});
  EXPECT_EQ((*attention.map())->layers.at(0).heads, 0);
  std::ofstream(on_disk.folder() / kMappingFile) << "heads = 2";
  EXPECT_EQ((*attention.map())->layers.at(0).heads, 2);
  std::ofstream(on_disk.folder() / "other.toml") << "heads = 4 # of the user";
  EXPECT_EQ((*RunAttention(open, on_disk.folder() / "other.toml").map())->layers.at(0).heads, 4);
  const auto absent = RunAttention(open, on_disk.folder() / "absent.toml").map();
  EXPECT_EQ(absent.status().code(), Code::kNotFound);
  fs::remove(on_disk.folder() / kMappingFile);
  EXPECT_EQ((*attention.map())->source, MapSource::kGuessed);
}

}  // namespace
}  // namespace trainwarden::views::attention
