#include "read/upkeep/weight.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"
#include "store/journal/golden_run.h"

namespace trainwarden::upkeep {
namespace {

const Weight* find(const std::vector<Weight>& list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Weight& each) { return each.name == name; });
  return found == list.end() ? nullptr : &*found;
}

std::uint64_t sum(const std::vector<Weight>& list) {
  return std::accumulate(list.begin(), list.end(), std::uint64_t{0},
                         [](std::uint64_t all, const Weight& each) { return all + each.bytes; });
}

RunWeight weighed(const storage::Location& run) {
  auto weight = weigh(run, 2);
  EXPECT_TRUE(weight.ok()) << weight.status().to_string();
  return weight.value_or({});
}

TestRun small_run(bool sealed) {
  TestRun run(2);
  for (int worker = 0; worker < 2; ++worker) {
    for (int step = 0; step < 4; ++step) {
      TestStep batch{.step = step, .worker = worker};
      batch.tensors.push_back(kept("heavy", std::vector<float>(1000, 1.0f), {"weights"}));
      if (step % 2 == 0) batch.tensors.push_back(kept("light", {1, 2}, {"weights", "few"}));
      batch.tensors.push_back(summarised("seen", {1, 2, 3}));
      batch.tensors.push_back(scalar("loss", 0.5f, {"losses"}));
      run.add(batch);
    }
    if (sealed) run.end(worker);
  }
  return run;
}

TEST(Weight, TensorsWeighWhatIsStoredOfThemSealedOrNot) {
  for (const bool sealed : {true, false}) {
    const TestRun run = small_run(sealed);
    const RunWeight weight = weighed(storage::Location(run.storage()));
    ASSERT_EQ(weight.tensors.size(), 4u);
    EXPECT_EQ(weight.tensors[0].name, "heavy");
    EXPECT_EQ(weight.tensors[0].bytes, 2u * 4 * 4000);
    EXPECT_EQ(weight.tensors[0].records, 8u);
    EXPECT_EQ(weight.tensors[0].steps, 4u);
    const Weight* light = find(weight.tensors, "light");
    ASSERT_NE(light, nullptr);
    EXPECT_EQ(light->bytes, 2u * 2 * 8);
    EXPECT_EQ(light->steps, 2u);
    const Weight* seen = find(weight.tensors, "seen");
    ASSERT_NE(seen, nullptr);
    EXPECT_GT(seen->bytes, 8u * 100);
    ASSERT_NE(find(weight.tensors, "loss"), nullptr);
  }
}

TEST(Weight, CollectionsWeighTheirTensorsTogether) {
  const TestRun run = small_run(true);
  const RunWeight weight = weighed(storage::Location(run.storage()));
  const Weight* weights = find(weight.collections, "weights");
  const Weight* few = find(weight.collections, "few");
  ASSERT_NE(weights, nullptr);
  ASSERT_NE(few, nullptr);
  EXPECT_EQ(weights->bytes, find(weight.tensors, "heavy")->bytes + find(weight.tensors, "light")->bytes);
  EXPECT_EQ(few->bytes, find(weight.tensors, "light")->bytes);
}

TEST(Weight, PlacesAreAllThereIsAndKindsAllThatLiesInJournals) {
  const auto storage = std::shared_ptr<storage::MemoryStorage>(journal::load_golden_run());
  ASSERT_TRUE(storage->create_folder("blackbox/step-000001-rank-00000").ok());
  storage->set_content("blackbox/step-000001-rank-00000/run.json", std::string(500, ' '));
  const RunWeight weight = weighed(storage::Location(storage));
  std::uint64_t files = 0;
  std::uint64_t segments = 0;
  for (const std::string& file : journal::golden_files()) {
    const std::uint64_t bytes = storage->content(file).size();
    files += bytes;
    if (file.ends_with(".tw")) segments += bytes;
  }
  EXPECT_EQ(weight.bytes, files + 500);
  EXPECT_EQ(sum(weight.places), weight.bytes);
  EXPECT_EQ(sum(weight.journals), segments);
  EXPECT_EQ(sum(weight.kinds), segments);
  EXPECT_EQ(find(weight.kinds, "damaged"), nullptr);
  ASSERT_NE(find(weight.places, "blackbox"), nullptr);
  EXPECT_EQ(find(weight.places, "blackbox")->bytes, 500u);
}

// By the index, and by walking: the one that is sealed knows no flags of its frames.
TEST(Weight, RowsOfCompressedFramesAreFound) {
  const auto rows_of = [](journal::Golden golden) {
    const auto storage = std::shared_ptr<storage::MemoryStorage>(journal::load_golden_run(golden));
    std::map<std::string, std::uint64_t> records;
    for (const Weight& tensor : weighed(storage::Location(storage)).tensors) records[tensor.name] = tensor.records;
    return records;
  };
  const auto records = rows_of(journal::Golden::kCompressed);
  EXPECT_FALSE(records.empty());
  EXPECT_EQ(records, rows_of(journal::Golden::kFirst));
}

TEST(Weight, DamageWeighsWhatItTakes) {
  const auto storage = std::shared_ptr<storage::MemoryStorage>(journal::load_golden_run());
  const std::string path = "journal/rank-00000/seg-00000001.tw";
  std::string content = storage->content(path);
  for (std::size_t i = 0; i < 64; ++i) content[i] = 0;
  storage->set_content(path, content);
  const RunWeight weight = weighed(storage::Location(storage));
  const Weight* damaged = find(weight.kinds, "damaged");
  ASSERT_NE(damaged, nullptr);
  EXPECT_GE(damaged->bytes, 64u);
  EXPECT_EQ(sum(weight.kinds), sum(weight.journals));
}

TEST(Weight, WhatIsNoRunIsNotFound) {
  const std::shared_ptr<storage::MemoryStorage> empty = storage::create_memory_storage();
  EXPECT_EQ(weigh(storage::Location(empty)).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace trainwarden::upkeep
