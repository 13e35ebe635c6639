#include "ui/views/attention/token_labels.h"

#include <gtest/gtest.h>

#include "ui/views/attention/attention_testing.h"

namespace trainwarden::views::attention {
namespace {

using Texts = std::vector<std::string>;

TokenLabels labels(const TestRun& run, std::int64_t step, std::int64_t item, std::int64_t items, std::int64_t length) {
  const auto trial = run.open();
  return read_labels(*trial, "tokens", step, item, items, length);
}

TEST(ReadLabels, TakesTheRowOfTheItem) {
  TestRun run;
  run.add({.step = 0, .tensors = {tokens("tokens", {2, 3})}});
  EXPECT_EQ(labels(run, 0, 1, 2, 3).texts, (Texts{"t3", "t4", "t5"}));
  EXPECT_EQ(labels(run, 0, 1, 2, 3).note, "");
}

TEST(ReadLabels, TakesAFlatListWhenItIsOneItemOrAllItemsAreFull) {
  TestRun run;
  run.add({.step = 0, .tensors = {tokens("tokens", {6})}});
  EXPECT_EQ(labels(run, 0, 0, 1, 6).texts.size(), 6U);
  EXPECT_EQ(labels(run, 0, 1, 2, 3).texts, (Texts{"t3", "t4", "t5"}));
}

// Fault 6 of the seeds: the tokens of all items in one list, and every step labelled with those of step 0.
TEST(ReadLabels, RefusesWordsThatMayBeThoseOfAnother) {
  TestRun run;
  run.add({.step = 0, .tensors = {tokens("tokens", {5})}});
  run.add({.step = 1, .tensors = {tokens("other", {2, 3})}});
  const TokenLabels ragged = labels(run, 0, 0, 2, 3);
  EXPECT_TRUE(ragged.texts.empty());
  EXPECT_NE(ragged.note.find("has 5 tokens in one row for a batch of 2 with 3 each"), std::string::npos);
  const TokenLabels other_step = labels(run, 1, 0, 2, 3);
  EXPECT_TRUE(other_step.texts.empty());
  EXPECT_NE(other_step.note.find("no tokens of this step"), std::string::npos);
  const TokenLabels other_length = labels(run, 0, 0, 1, 6);
  EXPECT_TRUE(other_length.texts.empty());
}

TEST(ReadLabels, CutsAFlatListWhereOffsetsSay) {
  for (const auto& [name, numbers] : {std::pair("tokens_offsets", std::vector<std::int64_t>{0, 2}),
                                      std::pair("tokens.offsets", std::vector<std::int64_t>{0, 2, 5}),
                                      std::pair("tokens_lengths", std::vector<std::int64_t>{2, 3})}) {
    TestRun run;
    run.add({.step = 0, .tensors = {tokens("tokens", {5}), kept_integers(name, numbers)}});
    EXPECT_EQ(labels(run, 0, 1, 2, 3).texts, (Texts{"t2", "t3", "t4"})) << name;
    const TokenLabels padded = labels(run, 0, 0, 2, 3);
    EXPECT_EQ(padded.texts, (Texts{"t0", "t1", ""})) << name;
    EXPECT_EQ(padded.note, "item 0 has 2 tokens; the last 1 of 3 places are padding");
    EXPECT_TRUE(labels(run, 0, 1, 2, 2).texts.empty()) << name;  // more tokens than places
    EXPECT_TRUE(labels(run, 0, 1, 5, 3).texts.empty()) << name;  // another batch
  }
}

TEST(ReadLabels, DistrustsOffsetsThatLeaveTheList) {
  for (const auto& numbers :
       {std::vector<std::int64_t>{0, 9}, std::vector<std::int64_t>{-1, 2}, std::vector<std::int64_t>{4, 2}}) {
    TestRun run;
    run.add({.step = 0, .tensors = {tokens("tokens", {5}), kept_integers("tokens_offsets", numbers)}});
    const TokenLabels first = labels(run, 0, 0, 2, 3);
    const TokenLabels second = labels(run, 0, 1, 2, 3);
    EXPECT_TRUE(first.texts.empty() || second.texts.empty());
  }
}

TEST(ReadLabels, RefusesWhatIsNoText) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("tokens", {1, 2, 3})}});
  EXPECT_NE(labels(run, 0, 0, 1, 3).note.find("no strings"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::views::attention
