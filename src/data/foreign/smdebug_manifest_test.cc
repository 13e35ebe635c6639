#include "data/foreign/smdebug_manifest.h"

#include <gtest/gtest.h>

#include "data/format/damage_testing.h"

namespace trainwarden::foreign {
namespace {

// Of one collection "c" with these fields.
Result<SmdebugManifest> decode_fields(std::string_view fields) {
  return decode_smdebug_manifest(R"({"collections":{"c":{)" + std::string(fields) + R"(}},"_meta":{"num_workers":1}})");
}

SmdebugCollection collection_of(std::string_view fields) {
  const auto manifest = decode_fields(fields);
  EXPECT_TRUE(manifest.ok()) << manifest.status().to_string();
  return manifest.ok() ? manifest->collections.at(0) : SmdebugCollection();
}

std::string manifest_error(std::string_view json) {
  const auto manifest = decode_smdebug_manifest(json);
  EXPECT_EQ(manifest.status().code(), Code::kDataLoss) << json;
  return manifest.status().message();
}

SmdebugManifest sample() {
  SmdebugCollection gradients;
  gradients.collection.name = "gradients";
  gradients.collection.include = {"^gradient"};
  gradients.collection.tensor_names = {"a", "b"};
  gradients.collection.save = SavePolicy();
  (*gradients.collection.save)[Mode::kTrain] = SaveSchedule{.save_interval = 3, .end_step = 10, .save_steps = {1, 20}};
  gradients.collection.keep = KeepForm{.values = true, .statistics = true, .shape = true};
  gradients.reductions = {"abs_mean", "l2_norm"};
  gradients.save_histogram = false;
  SmdebugCollection all;
  all.collection.name = "all";
  return {.num_workers = 4, .collections = {all, gradients}};
}

TEST(SmdebugManifestTest, IsWrittenAsSmdebugWritesIt) {
  EXPECT_EQ(
      encode_smdebug_manifest(sample()),
      R"({"collections":{"all":{"name":"all","include_regex":[],"tensor_names":[],"reduction_config":null,)"
      R"("save_config":null,"save_histogram":true},"gradients":{"name":"gradients","include_regex":["^gradient"],)"
      R"("tensor_names":["a","b"],"reduction_config":{"save_raw_tensor":true,"reductions":"abs_mean,l2_norm",)"
      R"("save_shape":true},"save_config":{"TRAIN":{"save_interval":3,"save_steps":[1,20],"start_step":0,)"
      R"("end_step":10},"EVAL":null,"PREDICT":null,"GLOBAL":null},"save_histogram":false}},)"
      R"("_meta":{"num_workers":4}})");
}

TEST(SmdebugManifestTest, EveryFieldThereAndBack) {
  const auto read = decode_smdebug_manifest(encode_smdebug_manifest(sample()));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, sample());
  EXPECT_EQ(*decode_smdebug_manifest(encode_smdebug_manifest({})), SmdebugManifest());
}

TEST(SmdebugManifestTest, TensorNamesAreWrittenSorted) {
  SmdebugManifest manifest = sample();
  manifest.collections[1].collection.tensor_names = {"b", "a"};
  EXPECT_EQ(encode_smdebug_manifest(manifest), encode_smdebug_manifest(sample()));
}

TEST(SmdebugManifestTest, AbsentAndNullFieldsHaveTheirDefaults) {
  for (const char* fields : {"", R"("include_regex":false,"tensor_names":null,"save_config":null,)"
                                 R"("reduction_config":null,"save_histogram":true,"of_tomorrow":1)"}) {
    const SmdebugCollection collection = collection_of(fields);
    EXPECT_EQ(collection.collection, (Collection{.name = "c"})) << fields;
    EXPECT_TRUE(collection.save_histogram);
    EXPECT_TRUE(collection.reductions.empty());
  }
  const auto bare = decode_smdebug_manifest(R"({"collections":{},"other":[1]})");
  ASSERT_TRUE(bare.ok()) << bare.status().to_string();
  EXPECT_EQ(*bare, SmdebugManifest());
}

TEST(SmdebugManifestTest, SaveConfigMayLackModesAndFields) {
  const Collection read =
      collection_of(R"("save_config":{"EVAL":{"save_interval":7,"end_step":null},"GLOBAL":{},"TRAIN":null})")
          .collection;
  ASSERT_TRUE(read.save);
  EXPECT_EQ((*read.save)[Mode::kEval], SaveSchedule{.save_interval = 7});
  EXPECT_EQ((*read.save)[Mode::kGlobal], SaveSchedule());
  EXPECT_FALSE((*read.save)[Mode::kTrain]);
  EXPECT_FALSE((*read.save)[Mode::kPredict]);
}

TEST(SmdebugManifestTest, ReductionConfigBecomesAKeepForm) {
  const auto keep = [](std::string_view config) {
    return *collection_of(R"("reduction_config":)" + std::string(config)).collection.keep;
  };
  EXPECT_EQ(keep(R"({"save_raw_tensor":true,"reductions":"","save_shape":false})"), KeepForm::whole());
  EXPECT_EQ(keep(R"({"save_raw_tensor":false,"reductions":"min,max"})"), KeepForm::reduced());
  EXPECT_EQ(keep(R"({"save_shape":true})"), (KeepForm{.values = false, .shape = true}));
  EXPECT_EQ(collection_of(R"("reduction_config":{"reductions":"min, abs_l1_norm,,"})").reductions,
            (std::vector<std::string>{"min", "abs_l1_norm"}));
}

TEST(SmdebugManifestTest, OnePatternMayStandForAList) {
  EXPECT_EQ(collection_of(R"("include_regex":"^(?!gradient).*(weight")").collection.include,
            std::vector<std::string>{"^(?!gradient).*(weight"});
}

TEST(SmdebugManifestTest, WrongTypesSayWhereAndWhatWasExpected) {
  EXPECT_EQ(manifest_error("[]"), "smdebug's collections: expected a JSON object, found array");
  EXPECT_EQ(manifest_error("{}"), "smdebug's collections: field \"collections\": expected an object, found nothing");
  EXPECT_EQ(manifest_error(R"({"collections":{"c":7}})"),
            "smdebug's collections: collection \"c\": expected an object, found number");
  for (const char* fields :
       {R"("name":7)", R"("include_regex":7)", R"("include_regex":[7])", R"("tensor_names":{})",
        R"("save_histogram":"yes")", R"("save_config":[])", R"("save_config":{"TRAIN":5})",
        R"("save_config":{"TRAIN":{"save_interval":0}})", R"("save_config":{"TRAIN":{"save_interval":1.5}})",
        R"("save_config":{"TRAIN":{"save_steps":["1"]}})", R"("save_config":{"TRAIN":{"end_step":"1"}})",
        R"("reduction_config":"min")", R"("reduction_config":{"reductions":["min"]})",
        R"("reduction_config":{"save_shape":"True"})"}) {
    EXPECT_EQ(decode_fields(fields).status().code(), Code::kDataLoss) << fields;
  }
  EXPECT_EQ(manifest_error(R"({"collections":{},"_meta":{"num_workers":0}})"),
            "smdebug's collections: field \"num_workers\": expected an integer from 1 to 2147483647, found 0");
}

TEST(SmdebugManifestTest, EveryTruncationIsDataLossAndEveryFlippedBitHarmless) {
  const std::string whole = encode_smdebug_manifest(sample());
  format::for_each_truncation(whole, [](ByteSpan bytes) {
    EXPECT_EQ(decode_smdebug_manifest(as_text(bytes)).status().code(), Code::kDataLoss);
  });
  format::for_each_flipped_bit(whole, [](ByteSpan bytes) {
    const auto manifest = decode_smdebug_manifest(as_text(bytes));
    if (!manifest.ok()) {
      EXPECT_EQ(manifest.status().code(), Code::kDataLoss);
    }
  });
}

}  // namespace
}  // namespace trainwarden::foreign
