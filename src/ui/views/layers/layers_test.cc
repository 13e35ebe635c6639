#include "ui/views/layers/layers.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::views {
namespace {

using namespace std::chrono_literals;
constexpr float kLayerNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLayerInf = std::numeric_limits<float>::infinity();

LayerQuestion about(std::string_view quantity) {
  LayerQuestion question;
  question.quantity = *parse_layer_quantity(quantity);
  return question;
}

LayerLook ask(OpenRun& run, const LayerQuestion& question, std::chrono::nanoseconds patience = 1h) {
  auto use = run.use(0ms);
  auto look = look_at_layers(*use, question, patience);
  EXPECT_TRUE(look.ok()) << look.status().to_string();
  return look.ok() ? *std::move(look) : LayerLook();
}

std::vector<double> row_of(const LayerLook& look, std::size_t layer) {
  std::vector<double> row;
  for (std::size_t column = 0; column < look.columns.size(); ++column) {
    row.push_back(look.cells[layer * look.columns.size() + column].max);
  }
  return row;
}

// Of two layers whose names do not sort as the network has them.
void add_gradients(TestRun& run, std::int64_t step, float z, float a, Mode mode = Mode::kTrain) {
  run.add({.step = step,
           .tensors = {summarised("gradient/z", {3 * z, 4 * z}, {"gradients"}),
                       summarised("gradient/a", {a}, {"gradients"})},
           .mode = mode});
}

TEST(Layers, AreInTheOrderOfTheNetworkWithANumberForEachStep) {
  TestRun written;
  for (std::int64_t step = 0; step < 3; ++step) add_gradients(written, 10 * step, static_cast<float>(step + 1), 7);
  OpenRun run("first", written.open());
  const LayerLook look = ask(run, about("norm"));
  EXPECT_EQ(look.layers, (std::vector<std::string>{"gradient/z", "gradient/a"}));
  EXPECT_EQ(row_of(look, 0), (std::vector<double>{5, 10, 15}));
  EXPECT_EQ(row_of(look, 1), (std::vector<double>{7, 7, 7}));
  EXPECT_EQ(look.columns[1].first_step, 10);
  EXPECT_EQ(look.steps, 3U);
  EXPECT_EQ(look.left, 0U);
}

TEST(Layers, AreReadOfAStretchAloneInColumnsOfItsOwn) {
  TestRun written;
  for (std::int64_t step = 0; step < 100; ++step) add_gradients(written, step, static_cast<float>(step), 1);
  OpenRun run("first", written.open());
  LayerQuestion question = about("norm");
  question.columns = 4;
  ASSERT_EQ(ask(run, question).columns.size(), 4U);  // of all steps, which must not stand in for the stretch
  question.stretch = {40, 43};
  const LayerLook look = ask(run, question);
  EXPECT_EQ(row_of(look, 0), (std::vector<double>{200, 205, 210, 215}));
  EXPECT_EQ(look.columns[0].first_step, 40);
  EXPECT_EQ(look.steps, 4U);
  question.stretch = {100, 200};
  EXPECT_EQ(ask(run, question).steps, 0U);
}

TEST(Layers, AreJoinedToAsManyColumnsAsAreAskedFor) {
  TestRun written;
  for (std::int64_t step = 0; step < 10; ++step) add_gradients(written, step, step == 6 ? 9.0F : 1.0F, kLayerInf);
  OpenRun run("first", written.open());
  LayerQuestion question = about("norm");
  question.columns = 3;
  const LayerLook look = ask(run, question);
  ASSERT_EQ(look.columns.size(), 3U);
  EXPECT_EQ(row_of(look, 0), (std::vector<double>{5, 45, 5}));
  EXPECT_EQ(look.cells[1].max_step, 6);
  EXPECT_EQ(look.columns[1].first_step, 4);
  EXPECT_EQ(look.columns[1].last_step, 7);
  EXPECT_EQ(look.columns[2].steps, 2U);
  EXPECT_EQ(look.columns[2].read, 2U);
  EXPECT_TRUE(std::isnan(look.cells[4].max));
  EXPECT_EQ(look.cells[4].inf, 4U);
  EXPECT_EQ(look.cells[4].odd_step, 4);
}

TEST(Layers, AreReadLittleByLittleAndGrowWithTheRun) {
  TestRun written;
  for (std::int64_t step = 0; step < 600; ++step) add_gradients(written, step, 1, 1);
  OpenRun run("first", written.open());
  LayerLook look = ask(run, about("norm"), 0ns);
  EXPECT_EQ(look.left, 599U);
  EXPECT_EQ(look.columns.back().last_step, 599);  // their columns are there before they are read
  add_gradients(written, 600, 2, kLayerNan);
  look = ask(run, about("norm"), 0ns);  // what came last is read first
  EXPECT_EQ(look.left, 599U);
  look = ask(run, about("norm"));
  EXPECT_EQ(look.left, 0U);
  EXPECT_EQ(look.steps, 601U);
  std::uint64_t read = 0;
  for (const LayerColumn& column : look.columns) read += column.read;
  EXPECT_EQ(read, 601U);
  EXPECT_EQ(look.cells.back().nan, 1U);
  EXPECT_EQ(row_of(look, 0).back(), 10);
}

TEST(Layers, ForgetStepsThatAreWrittenAgain) {
  TestRun written;
  for (std::int64_t step = 0; step < 4; ++step) add_gradients(written, step, 1, 1);
  OpenRun run("first", written.open());
  EXPECT_EQ(row_of(ask(run, about("norm")), 0), (std::vector<double>{5, 5, 5, 5}));
  add_gradients(written, 2, 2, 1);
  EXPECT_EQ(row_of(ask(run, about("norm")), 0), (std::vector<double>{5, 5, 10, 5}));
  EXPECT_EQ(row_of(ask(run, about("norm")), 0), (std::vector<double>{5, 5, 10, 5}));
}

TEST(Layers, OfOneMode) {
  TestRun written;
  add_gradients(written, 0, 1, 1);
  add_gradients(written, 1, 2, 1, Mode::kEval);
  OpenRun run("first", written.open());
  LayerQuestion question = about("norm");
  question.mode = Mode::kEval;
  EXPECT_EQ(row_of(ask(run, question), 0), (std::vector<double>{10}));
}

TEST(Layers, TellHowMuchWeightsChange) {
  TestRun written;
  written.add({.step = 0, .tensors = {kept("w", {1, -3}, {"weights"})}});
  written.add({.step = 1, .tensors = {kept("w", {2, -3}, {"weights"})}});
  written.add({.step = 2, .tensors = {kept("w", {2, kLayerNan}, {"weights"})}});
  OpenRun run("first", written.open());
  const LayerLook look = ask(run, about("update_ratio"));
  ASSERT_EQ(look.columns.size(), 3U);
  EXPECT_TRUE(std::isnan(look.cells[0].max));  // nothing before
  EXPECT_EQ(look.cells[0].odd_step, -1);
  EXPECT_NEAR(look.cells[1].max, 0.25, 1e-9);
  EXPECT_EQ(look.cells[2].nan, 1U);
}

TEST(Layers, CountUnitsThatAreDeadByChannels) {
  TestRun written;
  // Two samples of two channels of two places; the second channel is dead.
  written.add({.step = 0, .tensors = {shaped(kept("relu", {0, 1, 0, 0, 0, 0, 0, 0}, {"relu_outputs"}), {2, 2, 2, 1})}});
  written.add({.step = 1, .tensors = {shaped(kept("relu", {0, 1, 0, 0, 0, 0, 2, 0}, {"relu_outputs"}), {2, 4})}});
  OpenRun run("first", written.open());
  EXPECT_EQ(row_of(ask(run, about("dead_share")), 0), (std::vector<double>{0.5, 0.5}));
}

TEST(Layers, SayWhatWasKeptWhereTheNumberIsNot) {
  TestRun written;
  written.add({.step = 0, .tensors = {summarised("w", {1, 0, 0, 3}, {"weights"})}});
  OpenRun run("first", written.open());
  const LayerLook look = ask(run, about("update_ratio"));
  EXPECT_EQ(look.layers, std::vector<std::string>{"w"});
  EXPECT_EQ(look.steps, 0U);
  ASSERT_EQ(look.kept.size(), 1U);
  EXPECT_EQ(look.kept[0].name, "weights");
  EXPECT_TRUE(look.kept[0].has_statistics);
  EXPECT_FALSE(look.kept[0].has_values);
  LayerQuestion question = about("zero_share");
  EXPECT_EQ(ask(run, question).layers.size(), 0U);
  question.collection = "weights";
  EXPECT_EQ(row_of(ask(run, question), 0), (std::vector<double>{0.5}));
}

TEST(Layers, OfAWorkerThatIsNotThere) {
  TestRun written;
  add_gradients(written, 0, 1, 1);
  OpenRun run("first", written.open());
  auto use = run.use(0ms);
  LayerQuestion question = about("norm");
  question.worker = "rank-00007";
  EXPECT_EQ(look_at_layers(*use, question, 1h).status().code(), Code::kNotFound);
  EXPECT_EQ(parse_layer_quantity("norms").status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::views
