#include "ui/answers/answer_texts.h"

#include <gtest/gtest.h>

#include "core/base/bytes.h"
#include "data/format/json.h"
#include "data/format/safetensors.h"
#include "ui/answers/replies.h"

namespace trainwarden::answers {
namespace {

using format::Json;

TEST(AnswerTextsTest, TextsAreEmptyAndNamesAndNumbersStay) {
  const Json run = Json::parse(without_texts(
      R"({"id":"a","name":"first","host":"gpu7","command":["python","t.py"],"labels":{"lr":"0.1"},"loss":{"value":0.5},
          "stop":{"reason":"why","requested_by":"ada"},"rules":[{"id":"NaNLoss","details":"at conv0"}]})"));
  EXPECT_EQ(run, Json::parse(
                     R"({"id":"a","name":"first","host":"","command":[],"labels":{},"loss":{"value":0.5},
                         "stop":{"reason":"","requested_by":""},"rules":[{"id":"NaNLoss","details":""}]})"));
  const Json chosen = Json::parse(R"({"labels":{"id":"x","name":"targets"},"message":null})");
  EXPECT_EQ(Json::parse(without_texts(chosen.dump())), chosen) << "tensors that hold labels, and what is no text";
  EXPECT_EQ(without_texts("[1,[2,\"x\"]]"), "[1,[2,\"x\"]]");
}

TEST(AnswerTextsTest, ArraysLoseTheTextsOfTheirTokensAlone) {
  ArraysReply arrays;
  arrays.add("weights", DType::kUInt8, {3}, std::string("\x01\x02\x03"));
  arrays.note_json("tokens_query", {"secret", "words"});
  arrays.note("step", "7");
  const std::string body = without_texts(*std::move(arrays).to_reply().body);
  EXPECT_EQ(body.find("secret"), std::string::npos);
  const auto header = format::decode_safetensors_header(as_bytes(body), body.size());
  ASSERT_TRUE(header.ok()) << header.status().to_string();
  EXPECT_EQ(header->metadata.at("step"), "7");
  EXPECT_EQ(header->metadata.count("tokens_query"), 0U);
  EXPECT_EQ(body.substr(body.size() - 3), "\x01\x02\x03");
}

TEST(AnswerTextsTest, WhatIsNeitherStays) {
  EXPECT_EQ(without_texts(""), "");
  EXPECT_EQ(without_texts("\xff\xff\xff\xff\xff\xff\xff\xff{"), "\xff\xff\xff\xff\xff\xff\xff\xff{");
}

}  // namespace
}  // namespace trainwarden::answers
