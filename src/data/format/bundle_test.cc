#include "data/format/bundle.h"

#include <gtest/gtest.h>

#include "data/format/damage_testing.h"
#include "data/format/safetensors.h"

namespace trainwarden::format {
namespace {

// Tensors to keep, with their names and their memory.
class Kept {
 public:
  void add(std::string name, DType dtype, Shape shape) {
    const auto bytes = static_cast<std::size_t>(shape.element_count()) * item_bytes(dtype);
    std::string data(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(i * 37 + names_.size() * 11);
    data_.push_back(std::move(data));
    tensors_.push_back({static_cast<std::uint32_t>(tensors_.size()), dtype, shape, {}, {}});
    names_.push_back(std::move(name));
  }
  void add_strings(std::string name, Shape shape, std::vector<std::string> strings) {
    data_.emplace_back();
    strings_.emplace_back(tensors_.size(), std::move(strings));
    tensors_.push_back({static_cast<std::uint32_t>(tensors_.size()), DType::kString, shape, {}, {}});
    names_.push_back(std::move(name));
  }

  std::span<const KeptTensor> tensors() {
    for (std::size_t i = 0; i < tensors_.size(); ++i) tensors_[i].data = as_bytes(data_[i]);
    for (const auto& [i, strings] : strings_) tensors_[i].strings = strings;
    return tensors_;
  }
  std::vector<std::string_view> names() const { return {names_.begin(), names_.end()}; }
  Result<BundleLayout> plan() { return plan_bundle(tensors(), names()); }

  // The payload as a writer would put it together.
  std::string payload() {
    const auto layout = plan();
    EXPECT_TRUE(layout.ok()) << layout.status().to_string();
    if (!layout.ok()) return {};
    std::vector<ByteSpan> parts;
    for (const std::size_t i : layout->order) append_data_parts(tensors_[i], parts);
    std::string payload = layout->header;
    for (const ByteSpan part : parts) payload += as_text(part);
    EXPECT_EQ(payload.size(), layout->payload_bytes);
    return payload;
  }

 private:
  std::vector<KeptTensor> tensors_;
  std::vector<std::string> names_;
  std::vector<std::string> data_;
  std::vector<std::pair<std::size_t, std::vector<std::string>>> strings_;
};

Kept sample_bundle() {
  Kept kept;
  kept.add("bytes", DType::kUInt8, {3});
  kept.add("conv0.weight", DType::kFloat32, {2, 3});
  kept.add("half", DType::kBFloat16, {});
  kept.add("spectrum", DType::kComplex64, {2, 2});
  kept.add("wide", DType::kComplex128, {});
  kept.add_strings("words", {2, 2}, {"one", "", "three\xFF", "four"});
  kept.add("step", DType::kInt64, {1});
  return kept;
}

TEST(BundleTest, RoundTrip) {
  Kept kept = sample_bundle();
  const std::string payload = kept.payload();
  const auto entries = decode_bundle(as_bytes(payload), payload.size());
  ASSERT_TRUE(entries.ok()) << entries.status().to_string();
  const auto order = kept.plan()->order;
  ASSERT_EQ(entries->size(), order.size());
  for (std::size_t row = 0; row < order.size(); ++row) {
    const KeptTensor& tensor = kept.tensors()[order[row]];
    const BundleEntry& entry = (*entries)[row];
    SCOPED_TRACE(entry.name);
    EXPECT_EQ(entry.name, kept.names()[order[row]]);
    EXPECT_EQ(entry.dtype, tensor.dtype);
    EXPECT_EQ(entry.shape, tensor.shape);
    const auto value = decode_bundle_value(entry, as_bytes(payload).subspan(entry.begin, entry.end - entry.begin));
    ASSERT_TRUE(value.ok()) << value.status().to_string();
    EXPECT_EQ(as_text(value->data), as_text(tensor.data));
    EXPECT_EQ(value->strings, std::vector<std::string>(tensor.strings.begin(), tensor.strings.end()));
    EXPECT_EQ(value->dtype, tensor.dtype);
    EXPECT_EQ(value->shape, tensor.shape);
  }
}

TEST(BundleTest, IsASafetensorsDocumentThatOthersCanRead) {
  Kept kept = sample_bundle();
  const std::string payload = kept.payload();
  const auto header = decode_safetensors_header(as_bytes(payload), payload.size());
  ASSERT_TRUE(header.ok()) << header.status().to_string();
  EXPECT_EQ(header->data_offset % 64, 0u);
  EXPECT_EQ(header->find("spectrum")->dtype, DType::kFloat32);
  EXPECT_EQ(header->find("spectrum")->shape, (std::vector<std::int64_t>{2, 2, 2}));
  EXPECT_EQ(header->find("wide")->dtype, DType::kFloat64);
  EXPECT_EQ(header->find("wide")->shape, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(header->find("words")->dtype, DType::kUInt8);
  EXPECT_EQ(header->metadata,
            (std::map<std::string, std::string>{{"dtype:spectrum", "complex64"},
                                                {"dtype:wide", "complex128"},
                                                {"dtype:words", "string"},
                                                {"strings:words", R"({"shape":[2,2],"lengths":[3,0,6,4]})"}}));
  for (const SafetensorsEntry& entry : header->entries) {
    EXPECT_EQ(entry.begin % item_bytes(entry.dtype), 0u) << entry.name;
  }
}

TEST(BundleTest, WideItemsComeFirstAndElseTheGivenOrder) {
  Kept kept = sample_bundle();
  const auto layout = kept.plan();
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->order, (std::vector<std::size_t>{4, 6, 1, 3, 2, 0, 5}));
}

TEST(BundleTest, RowsOfEmptyTensorsAreUnambiguous) {
  Kept kept;
  kept.add("z", DType::kFloat32, {0, 4});
  kept.add("b", DType::kFloat32, {1});
  kept.add("a", DType::kInt8, {0});
  kept.add_strings("m", {2}, {"", ""});
  kept.add("c", DType::kFloat64, {1});
  const std::string payload = kept.payload();
  const auto entries = decode_bundle(as_bytes(payload), payload.size());
  ASSERT_TRUE(entries.ok()) << entries.status().to_string();
  const auto order = kept.plan()->order;
  for (std::size_t row = 0; row < order.size(); ++row) EXPECT_EQ((*entries)[row].name, kept.names()[order[row]]);
}

TEST(BundleTest, AnyNameRoundTrips) {
  Kept kept;
  const std::vector<std::string> names = {"__metadata__", "%5F_metadata__", "\xFF\xFE", "", std::string("a\0b", 3),
                                          "\"quoted\"",   "dtype:x",        "größe%",   "x"};
  for (const std::string& name : names) kept.add(name, DType::kInt8, {1});
  const std::string payload = kept.payload();
  const auto entries = decode_bundle(as_bytes(payload), payload.size());
  ASSERT_TRUE(entries.ok()) << entries.status().to_string();
  ASSERT_EQ(entries->size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ((*entries)[i].name, names[i]);
}

TEST(BundleTest, AnEmptyBundleIsFine) {
  Kept kept;
  const std::string payload = kept.payload();
  const auto entries = decode_bundle(as_bytes(payload), payload.size());
  ASSERT_TRUE(entries.ok());
  EXPECT_TRUE(entries->empty());
}

TEST(BundleTest, WhatDoesNotFitIsRefused) {
  const std::string bytes(7, 'x');
  const std::vector<std::string> strings = {"only one"};
  const KeptTensor too_short{0, DType::kFloat32, {2}, as_bytes(bytes), {}};
  const KeptTensor too_few{0, DType::kString, {2}, {}, strings};
  const std::vector<std::string_view> names = {"t"};
  EXPECT_EQ(plan_bundle({&too_short, 1}, names).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(plan_bundle({&too_few, 1}, names).status().code(), Code::kInvalidArgument);

  Kept twice;
  twice.add("same", DType::kInt8, {1});
  twice.add("same", DType::kInt8, {1});
  EXPECT_EQ(twice.plan().status().code(), Code::kInvalidArgument);
}

TEST(BundleTest, AHeaderThatIsNotThereYetNeedsMore) {
  const std::string payload = sample_bundle().payload();
  const auto header_bytes = safetensors_header_bytes(as_bytes(payload), payload.size()).value_or(0);
  EXPECT_EQ(decode_bundle(as_bytes(payload).first(header_bytes - 1), payload.size()).status().code(), Code::kNeedMore);
  EXPECT_TRUE(decode_bundle(as_bytes(payload).first(header_bytes), payload.size()).ok());
}

TEST(BundleTest, EveryTruncationIsDataLoss) {
  for_each_truncation(sample_bundle().payload(), [](ByteSpan damaged) {
    EXPECT_EQ(decode_bundle(damaged, damaged.size()).status().code(), Code::kDataLoss);
  });
}

TEST(BundleTest, NoFlippedBitDoesHarm) {
  for_each_flipped_bit(sample_bundle().payload(), [](ByteSpan damaged) {
    const auto entries = decode_bundle(damaged, damaged.size());
    if (!entries.ok()) return;
    for (const BundleEntry& entry : *entries) {
      ASSERT_LE(entry.end, damaged.size());
      EXPECT_TRUE(decode_bundle_value(entry, damaged.subspan(entry.begin, entry.end - entry.begin)).ok());
    }
  });
}

struct BadNote {
  const char* why;
  SafetensorsEntry entry;
  std::map<std::string, std::string> metadata;
  std::size_t data_bytes;
};

TEST(BundleTest, WrongNotesAreDataLoss) {
  const std::vector<BadNote> cases = {
      {"unknown dtype", {"t", DType::kUInt8, {2}}, {{"dtype:t", "float4"}}, 2},
      {"a dtype that needs no note", {"t", DType::kUInt8, {2}}, {{"dtype:t", "uint8"}}, 2},
      {"another storage", {"t", DType::kFloat64, {2}}, {{"dtype:t", "complex64"}}, 16},
      {"complex scalar without pair", {"t", DType::kFloat32, {}}, {{"dtype:t", "complex64"}}, 4},
      {"complex of threes", {"t", DType::kFloat32, {3}}, {{"dtype:t", "complex64"}}, 12},
      {"no lengths", {"t", DType::kUInt8, {2}}, {{"dtype:t", "string"}}, 2},
      {"bad lengths", {"t", DType::kUInt8, {2}}, {{"dtype:t", "string"}, {"strings:t", "[]"}}, 2},
      {"lengths past the bytes",
       {"t", DType::kUInt8, {2}},
       {{"dtype:t", "string"}, {"strings:t", R"({"shape":[1],"lengths":[3]})"}},
       2},
      {"lengths that wrap around",
       {"t", DType::kUInt8, {2}},
       {{"dtype:t", "string"}, {"strings:t", R"({"shape":[2],"lengths":[18446744073709551615,3]})"}},
       2},
      {"bytes of no string",
       {"t", DType::kUInt8, {2}},
       {{"dtype:t", "string"}, {"strings:t", R"({"shape":[1],"lengths":[1]})"}},
       2},
      {"fewer lengths than elements",
       {"t", DType::kUInt8, {2}},
       {{"dtype:t", "string"}, {"strings:t", R"({"shape":[2],"lengths":[2]})"}},
       2},
      {"an escape too many", {"%41", DType::kUInt8, {2}}, {}, 2},
      {"more dimensions than a shape has", {"t", DType::kUInt8, std::vector<std::int64_t>(17, 1)}, {}, 1},
  };
  for (const BadNote& bad : cases) {
    const std::string payload = encode_safetensors_header({bad.entry}, bad.metadata) + std::string(bad.data_bytes, 'x');
    EXPECT_EQ(decode_bundle(as_bytes(payload), payload.size()).status().code(), Code::kDataLoss) << bad.why;
  }
}

}  // namespace
}  // namespace trainwarden::format
