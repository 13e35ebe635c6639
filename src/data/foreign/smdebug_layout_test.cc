#include "data/foreign/smdebug_layout.h"

#include <gtest/gtest.h>

namespace trainwarden::foreign {
namespace {

constexpr std::string_view kDevice = "/job:worker/replica:0/task:0/device:GPU:0";
constexpr std::string_view kDeviceInNames = "_job-worker_replica-0_task-0_device-GPU-0";

TEST(SmdebugLayoutTest, FilesOfAStep) {
  EXPECT_EQ(smdebug_index_file(1000, "worker_0"), "index/000000001/000000001000_worker_0.json");
  EXPECT_EQ(smdebug_index_file(999, "algo-1"), "index/000000000/000000000999_algo-1.json");
  EXPECT_EQ(smdebug_index_folder(1999), "index/000000001");
  EXPECT_EQ(smdebug_event_file(7, "worker_0"), "events/000000000007/000000000007_worker_0.tfevents");
  EXPECT_EQ(smdebug_event_file(0, kDevice),
            "events/000000000000/000000000000_" + std::string(kDeviceInNames) + ".tfevents");
  EXPECT_EQ(smdebug_manifest_file("worker_3"), "collections/000000000/worker_3_collections.json");
}

TEST(SmdebugLayoutTest, StepsOfMoreThan12DigitsKeepThem) {
  EXPECT_EQ(smdebug_index_file(1'234'567'890'123, "w"), "index/1234567890/1234567890123_w.json");
  const auto name = parse_smdebug_index_name("1234567890123_w.json");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->step, 1'234'567'890'123);
}

TEST(SmdebugLayoutTest, ModesHaveTheNamesOfModeKeys) {
  EXPECT_EQ(smdebug_mode_name(Mode::kTrain), "TRAIN");
  EXPECT_EQ(smdebug_mode_name(Mode::kEval), "EVAL");
  EXPECT_EQ(smdebug_mode_name(Mode::kPredict), "PREDICT");
  EXPECT_EQ(smdebug_mode_name(Mode::kGlobal), "GLOBAL");
}

TEST(SmdebugLayoutTest, IndexNamesAreParsed) {
  const auto name = parse_smdebug_index_name("000000001000_worker_0.json");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->step, 1000);
  EXPECT_EQ(name->worker, "worker_0");
  const auto csv = parse_smdebug_index_name("000000000001__job-worker.csv");
  ASSERT_TRUE(csv);
  EXPECT_EQ(csv->worker, "_job-worker");
  EXPECT_EQ(parse_smdebug_index_name("3_a.b.json")->worker, "a.b");
}

TEST(SmdebugLayoutTest, OtherNamesAreNotIndexes) {
  for (const char* name :
       {"", ".json", "000000001000_worker_0.json.tmp", "000000001000_worker_0.tfevents", "000000001000.json",
        "000000001000_.json", "_worker_0.json", "-1_worker_0.json", "+1_worker_0.json", " 1_worker_0.json",
        "1x_worker_0.json", "9223372036854775808_worker_0.json", "99999999999999999999999_worker_0.json"}) {
    EXPECT_FALSE(parse_smdebug_index_name(name)) << name;
  }
  EXPECT_TRUE(parse_smdebug_index_name("9223372036854775807_worker_0.json"));
}

TEST(SmdebugLayoutTest, IndexFoldersAreNumbers) {
  EXPECT_EQ(number_of_index_folder("000000001"), 1);
  EXPECT_EQ(number_of_index_folder("1234567890"), 1234567890);
  for (const char* name : {"", "-1", "a", "000000001.tmp", "99999999999999999999"}) {
    EXPECT_FALSE(number_of_index_folder(name)) << name;
  }
}

TEST(SmdebugLayoutTest, ManifestsNameTheirWorker) {
  EXPECT_EQ(worker_of_manifest("worker_0_collections.json"), "worker_0");
  EXPECT_EQ(worker_of_manifest("worker_0_collections.ts"), "worker_0");
  EXPECT_EQ(worker_of_manifest(std::string(kDeviceInNames) + "_collections.json"), kDevice);
  for (const char* name : {"worker_0_collections.json.tmp", "_collections.json", "collections.json", "worker_0.json"}) {
    EXPECT_FALSE(worker_of_manifest(name)) << name;
  }
}

TEST(SmdebugLayoutTest, WorkersThereAndBack) {
  EXPECT_EQ(serialise_worker(kDevice), kDeviceInNames);
  EXPECT_EQ(deserialise_worker(kDeviceInNames), kDevice);
  for (const char* plain : {"worker_0", "algo-1", ""}) {
    EXPECT_EQ(serialise_worker(plain), plain);
    EXPECT_EQ(deserialise_worker(plain), plain);
  }
}

TEST(SmdebugLayoutTest, ReductionTagsThereAndBack) {
  EXPECT_EQ(smdebug_reduction_tag({Reduction::kMean, true, "gradient/Net_fc.weight"}),
            "smdebug/reductions/abs_mean/gradient/Net_fc.weight");
  EXPECT_EQ(smdebug_reduction_tag({Reduction::kL2, false, "w"}), "smdebug/reductions/l2/w");
  for (int number = 0; number <= static_cast<int>(Reduction::kProd); ++number) {
    for (const bool abs : {false, true}) {
      const SmdebugReduction written{static_cast<Reduction>(number), abs, "gradient/Net_fc.weight"};
      const std::string tag = smdebug_reduction_tag(written);
      const auto read = parse_smdebug_reduction_tag(tag);
      ASSERT_TRUE(read) << tag;
      EXPECT_EQ(read->reduction, written.reduction);
      EXPECT_EQ(read->abs, abs);
      EXPECT_EQ(read->tensor, written.tensor);
    }
  }
}

TEST(SmdebugLayoutTest, OrdinaryNamesAreNoReductions) {
  for (const char* tag : {"loss", "smdebug/reductions/", "smdebug/reductions/mean", "smdebug/reductions/mean/",
                          "smdebug/reductions/median/w", "smdebug/reductions/abs_/w", "smdebug/reductions/l2_norm/w",
                          "x/smdebug/reductions/mean/w"}) {
    EXPECT_FALSE(parse_smdebug_reduction_tag(tag)) << tag;
  }
}

}  // namespace
}  // namespace trainwarden::foreign
