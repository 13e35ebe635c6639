#include "data/foreign/tf_event.h"

#include <gtest/gtest.h>

#include "data/foreign/golden_record.h"
#include "data/foreign/tf_record.h"
#include "data/format/damage_testing.h"

namespace trainwarden::foreign {
namespace {

std::string golden_payload() {
  return golden_record().substr(kRecordHeaderBytes, 84);
}

const std::vector<TfPluginData> kGoldenPlugins = {{"mode_step", "0"}, {"mode", "4"}};

TEST(TfEventTest, GoldenRecordIsRead) {
  const auto event = decode_event(as_bytes(golden_payload()));
  ASSERT_TRUE(event.ok()) << event.status().to_string();
  EXPECT_EQ(event->wall_time_s, kGoldenWallTimeS);
  EXPECT_EQ(event->step, 0);
  EXPECT_EQ(event->file_version, "");
  ASSERT_EQ(event->values.size(), 1u);
  const TfValue& value = event->values.front();
  EXPECT_EQ(value.tag, "loss/mul:0");
  EXPECT_EQ(value.plugin_data, kGoldenPlugins);
  EXPECT_FALSE(value.simple_value || value.histogram || value.image);
  ASSERT_TRUE(value.tensor);
  EXPECT_EQ(value.tensor->dtype, DType::kFloat32);
  EXPECT_EQ(value.tensor->shape, Shape{1});
  EXPECT_EQ(load_le<float>(value.tensor->data, 0), 129.74995f);
  EXPECT_EQ(*decode_event_shape(as_bytes(golden_payload())), std::pair(DType::kFloat32, Shape{1}));
}

TEST(TfEventTest, GoldenRecordIsWrittenByteForByte) {
  const float loss = 129.74995f;
  const std::string payload = encode_tensor_event(kGoldenWallTimeS, 0, "loss/mul:0",
                                                  TensorView::of(&loss, DType::kFloat32, {1}), kGoldenPlugins, true);
  std::string record;
  append_record(record, as_bytes(payload), RecordFooter::kConstant);
  EXPECT_EQ(record, golden_record());
}

TEST(TfEventTest, TruncatedOrFlippedGoldenPayloadDoesNoHarm) {
  format::for_each_truncation(golden_payload(), [](ByteSpan bytes) {
    // At byte 0 and 9 the event ends between two fields, and is one without values.
    EXPECT_EQ(decode_event(bytes).ok(), bytes.empty() || bytes.size() == 9) << bytes.size() << " bytes";
  });
  format::for_each_flipped_bit(golden_payload(), [](ByteSpan bytes) {
    const auto event = decode_event(bytes);
    if (!event.ok()) return;
    for (const TfValue& value : event->values) {
      if (value.tensor) {
        EXPECT_EQ(value.tensor->data.size(), value.tensor->view().packed_bytes());
      }
    }
  });
}

TfEvent event_of_everything() {
  TfEvent event{.wall_time_s = 12.5, .step = 7, .file_version = "brain.Event:2"};
  event.values.push_back({.tag = "loss", .simple_value = 0.0f});
  event.values.push_back({.tag = "weights", .histogram = TfHistogram{-1, 2, 3, 1.5, 4, {0.5, 2}, {1, 2}}});
  event.values.push_back({.tag = "digit", .image = TfImage{28, 20, 3, "\x89PNG"}});
  event.values.push_back(
      {.tag = "words", .tensor = TensorValue{DType::kString, {2}, {}, {"one", "two"}}, .plugin_data = {{"text", ""}}});
  event.values.push_back({.tag = "bytes", .tensor = TensorValue{DType::kUInt8, {2}, {std::byte{1}, std::byte{2}}, {}}});
  return event;
}

TEST(TfEventTest, EveryKindOfValueThereAndBack) {
  const TfEvent event = event_of_everything();
  const auto read = decode_event(as_bytes(encode_event(event)));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->wall_time_s, event.wall_time_s);
  EXPECT_EQ(read->step, event.step);
  EXPECT_EQ(read->file_version, event.file_version);
  ASSERT_EQ(read->values.size(), event.values.size());
  for (std::size_t i = 0; i < event.values.size(); ++i) {
    const TfValue& written = event.values[i];
    const TfValue& found = read->values[i];
    EXPECT_EQ(found.tag, written.tag);
    EXPECT_EQ(found.simple_value, written.simple_value);
    EXPECT_EQ(found.histogram, written.histogram);
    EXPECT_EQ(found.image, written.image);
    EXPECT_EQ(found.plugin_data, written.plugin_data);
    ASSERT_EQ(found.tensor.has_value(), written.tensor.has_value());
    if (!found.tensor) continue;
    EXPECT_EQ(found.tensor->dtype, written.tensor->dtype);
    EXPECT_EQ(found.tensor->shape, written.tensor->shape);
    EXPECT_EQ(found.tensor->data, written.tensor->data);
    EXPECT_EQ(found.tensor->strings, written.tensor->strings);
  }
}

TEST(TfEventTest, TensorEventIsTheSameAsAnEventWithTheTensor) {
  TfEvent event{.wall_time_s = 1, .step = -3};
  event.values.push_back({.tag = "t",
                          .tensor = TensorValue{DType::kInt8, {3}, {std::byte{1}, std::byte{2}, std::byte{3}}, {}},
                          .plugin_data = {{"p", "c"}}});
  const TfValue& value = event.values.front();
  EXPECT_EQ(encode_tensor_event(1, -3, "t", value.tensor->view(), value.plugin_data, false), encode_event(event));
}

TEST(TfEventTest, UnknownFieldsAreSkipped) {
  // graph_def, a value's node_name, a field of the far future.
  const std::string bytes = from_hex("22 02 6162  2a 0c 0a 0a  0a 01 61  3a 01 62  15 0000803f  c23e 01 63");
  EXPECT_FALSE(decode_event(as_bytes(bytes)).ok());  // the value is one byte short of its length
  const std::string whole = from_hex("22 02 6162  2a 0d 0a 0b  0a 01 61  3a 01 62  15 0000803f  c23e 01 63");
  const auto event = decode_event(as_bytes(whole));
  ASSERT_TRUE(event.ok()) << event.status().to_string();
  ASSERT_EQ(event->values.size(), 1u);
  EXPECT_EQ(event->values.front().tag, "a");
  EXPECT_EQ(event->values.front().simple_value, 1.0f);
}

TEST(TfEventTest, WrongWireTypesAreDataLossAndNameThePlace) {
  EXPECT_EQ(decode_event(as_bytes(from_hex("2a 06 0a 04 10 01 10 02"))).status().message(),
            "Event: Summary: Summary.Value: field 2: expected 4 bytes, found a varint");
  EXPECT_EQ(decode_event(as_bytes(from_hex("08 01"))).status().code(), Code::kDataLoss);
  EXPECT_EQ(decode_event(as_bytes(from_hex("28 01"))).status().code(), Code::kDataLoss);
}

TEST(TfEventTest, ShapeOfAnEventWithoutATensorIsDataLoss) {
  EXPECT_EQ(decode_event_shape({}).status().message(), "Event: expected a tensor, found none");
  const std::string scalar = encode_event({.values = {{.tag = "loss", .simple_value = 1.0f}}});
  EXPECT_EQ(decode_event_shape(as_bytes(scalar)).status().message(), "Summary.Value: expected a tensor, found none");
}

}  // namespace
}  // namespace trainwarden::foreign
