#include "data/foreign/smdebug_index.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/format/damage_testing.h"

namespace trainwarden::foreign {
namespace {

constexpr std::string_view kGolden =
    R"({"meta":{"mode":"GLOBAL","mode_step":0,"event_file_name":"events/000000000000/000000000000_worker_0.tfevents"},)"
    R"("tensor_payload":[{"tensorname":"loss/mul:0","start_idx":0,"length":100}],"shape_payload":[]})";

Result<SmdebugIndex> parse(std::string_view json) {
  SmdebugIndexParser parser;
  SmdebugIndex index;
  TRAINWARDEN_RETURN_IF_ERROR(parser.parse(json, index));
  return index;
}

std::string message_of(std::string_view json) {
  const auto index = parse(json);
  EXPECT_EQ(index.status().code(), Code::kDataLoss) << json;
  return index.status().message();
}

SmdebugIndex golden_index() {
  return {.event_file = "events/000000000000/000000000000_worker_0.tfevents",
          .tensors = {{.tag = "loss/mul:0", .offset = 0, .bytes = 100}}};
}

TEST(SmdebugIndexTest, GoldenIndexIsReadAndWritten) {
  const auto index = parse(kGolden);
  ASSERT_TRUE(index.ok()) << index.status().to_string();
  EXPECT_EQ(*index, golden_index());
  EXPECT_EQ(encode_smdebug_index(golden_index()), kGolden);
}

TEST(SmdebugIndexTest, EveryFieldThereAndBack) {
  const SmdebugIndex index = {
      .mode = Mode::kEval,
      .mode_step = 123456789012,
      .event_file = "events/x",
      .tensors = {{"a\"\\\n\u00e4", 1, 2}, {"", 3, std::uint64_t{1} << 63}},
      .shapes = {{"gradient/w", "w", {2, 3}}, {"s", "s", {}}},
  };
  const auto read = parse(encode_smdebug_index(index));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, index);
}

TEST(SmdebugIndexTest, ShapesAloneNeedNoEventFile) {
  const SmdebugIndex index = {.mode = Mode::kTrain, .shapes = {{"w", "w", {4}}}};
  const std::string json = encode_smdebug_index(index);
  EXPECT_EQ(json.find("event_file_name"), std::string::npos);
  EXPECT_EQ(*parse(json), index);
  EXPECT_EQ(*parse(R"({"meta":{"mode":"TRAIN","mode_step":0,"event_file_name":null},"tensor_payload":null,)"
                   R"("shape_payload":[{"tensorname":"w","originalname":null,"shape":[4]}]})"),
            index);
}

TEST(SmdebugIndexTest, MissingPartsAreNamed) {
  EXPECT_EQ(message_of(R"({"tensor_payload":[]})"), "smdebug's index: \"meta\" expected, nothing found");
  EXPECT_EQ(message_of(R"({"meta":{},"tensor_payload":[]})"), "smdebug's index: \"mode\" expected, nothing found");
  EXPECT_EQ(message_of(R"({"meta":{"mode":"TRAIN"},"tensor_payload":[]})"),
            "smdebug's index: \"mode_step\" expected, nothing found");
  EXPECT_EQ(message_of(R"({"meta":{"mode":"TRAIN","mode_step":1}})"),
            "smdebug's index: \"tensor_payload\" or \"shape_payload\" expected, nothing found");
}

// The step was written, and which tensors it has is known; only their values are lost.
TEST(SmdebugIndexTest, WithoutAnEventFileThereIsAStepAllTheSame) {
  for (const char* field : {"", R"(,"event_file_name":null)", R"(,"event_file_name":"")"}) {
    const auto index = parse(fmt::format(R"({{"meta":{{"mode":"TRAIN","mode_step":1{}}},)"
                                         R"("tensor_payload":[{{"tensorname":"a","start_idx":0,"length":1}}]}})",
                                         field));
    ASSERT_TRUE(index.ok()) << field << index.status().message();
    EXPECT_EQ(index->event_file, "");
    ASSERT_EQ(index->tensors.size(), 1u);
    EXPECT_EQ(index->tensors[0].tag, "a");
  }
}

TEST(SmdebugIndexTest, WrongTypesSayWhatWasExpectedAndFound) {
  const auto with_item = [](std::string_view item) {
    return R"({"meta":{"mode":"TRAIN","mode_step":1,"event_file_name":"e"},"tensor_payload":[)" + std::string(item) +
           "]}";
  };
  EXPECT_EQ(message_of(with_item(R"({"tensorname":"a","start_idx":-1,"length":1})")),
            "smdebug's index: \"start_idx\": expected an integer of 0 or more, found -1");
  EXPECT_EQ(message_of(with_item(R"({"tensorname":"a","start_idx":0,"length":1.5})")),
            "smdebug's index: \"length\": expected an integer of 0 or more, found 1.5");
  EXPECT_EQ(message_of(with_item(R"({"tensorname":null,"start_idx":0,"length":1})")),
            "smdebug's index: \"tensorname\": expected a string, found null");
  EXPECT_EQ(message_of(with_item(R"({"start_idx":0,"length":1})")),
            "smdebug's index: \"tensorname\" expected, nothing found");
  EXPECT_EQ(message_of(with_item(R"({"tensorname":"a","length":1})")),
            "smdebug's index: \"start_idx\" expected, nothing found");
  EXPECT_EQ(message_of(with_item(R"({"tensorname":"a","start_idx":0})")),
            "smdebug's index: \"length\" expected, nothing found");
  EXPECT_EQ(message_of(with_item("7")), "smdebug's index: \"tensor_payload\": expected an array of objects, found 7");
}

TEST(SmdebugIndexTest, MetaIsChecked) {
  const auto with_meta = [](std::string_view meta) {
    return R"({"tensor_payload":[],"meta":)" + std::string(meta) + "}";
  };
  EXPECT_EQ(message_of(with_meta("null")), "smdebug's index: \"meta\": expected an object, found null");
  EXPECT_EQ(message_of(with_meta(R"({"mode":"TEST","mode_step":1})")),
            "smdebug's index: \"mode\": expected TRAIN, EVAL, PREDICT or GLOBAL, found \"TEST\"");
  EXPECT_EQ(message_of(with_meta(R"({"mode":1,"mode_step":1})")),
            "smdebug's index: \"mode\": expected a string, found 1");
  EXPECT_EQ(message_of(with_meta(R"({"mode":"TRAIN","mode_step":1.0})")),
            "smdebug's index: \"mode_step\": expected an integer, found 1.0");
  EXPECT_EQ(message_of(with_meta(R"({"mode":"TRAIN","mode_step":18446744073709551615})")),
            "smdebug's index: \"mode_step\": expected an integer, found 18446744073709551615");
  // A scalar that is saved before the first forward pass of a mode.
  EXPECT_EQ(parse(with_meta(R"({"mode":" TRAIN ","mode_step":-1})"))->mode_step, -1);
}

TEST(SmdebugIndexTest, ShapesAreChecked) {
  const auto with_shape = [](std::string_view shape) {
    return R"({"meta":{"mode":"TRAIN","mode_step":1},"shape_payload":[{"tensorname":"a","shape":)" +
           std::string(shape) + "}]}";
  };
  EXPECT_EQ(parse(with_shape("[2,0]"))->shapes, (std::vector<SmdebugShape>{{"a", "a", {2, 0}}}));
  for (const char* shape :
       {"[-1]", "[1.5]", "null", "7", "[[1]]", "[4611686018427387904,4]", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"}) {
    EXPECT_FALSE(message_of(with_shape(shape)).empty());
  }
}

TEST(SmdebugIndexTest, TextThatIsNoJsonObjectIsDataLoss) {
  for (const char* json : {"", " ", "{", "[]", "null", "7", "{\"meta\":{}} x", "{'meta':1}", "\xff"}) message_of(json);
  std::string broken_utf8(kGolden);
  broken_utf8[broken_utf8.find("loss")] = '\xff';
  message_of(broken_utf8);
}

TEST(SmdebugIndexTest, KeyThatIsThereTwiceCountsAsItsLast) {
  std::string twice(kGolden);
  twice.insert(1, R"("tensor_payload":[{"tensorname":"x"}],"meta":null,)");
  const auto index = parse(twice);
  ASSERT_TRUE(index.ok()) << index.status().to_string();
  EXPECT_EQ(*index, golden_index());
}

TEST(SmdebugIndexTest, EveryTruncationIsDataLossAndEveryFlippedBitHarmless) {
  format::for_each_truncation(kGolden, [](ByteSpan bytes) {
    EXPECT_EQ(parse(as_text(bytes)).status().code(), Code::kDataLoss) << as_text(bytes);
  });
  format::for_each_flipped_bit(kGolden, [](ByteSpan bytes) {
    const auto index = parse(as_text(bytes));
    if (!index.ok()) {
      EXPECT_EQ(index.status().code(), Code::kDataLoss);
    }
  });
}

TEST(SmdebugIndexTest, ParserOverwritesWhatWasReadBefore) {
  SmdebugIndexParser parser;
  SmdebugIndex index = {
      .mode = Mode::kEval, .mode_step = 9, .tensors = {{"x", 1, 2}, {"y", 3, 4}}, .shapes = {{"z", "original", {1}}}};
  ASSERT_TRUE(parser.parse(kGolden, index).ok());
  EXPECT_EQ(index, golden_index());
  EXPECT_FALSE(parser.parse("{", index).ok());
  ASSERT_TRUE(parser.parse(kGolden, index).ok());
  EXPECT_EQ(index, golden_index());
}

}  // namespace
}  // namespace trainwarden::foreign
