// Operator calls: what goes in comes out, in few bytes, and what is damaged is refused.
#include "data/format/operators_record.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/bytes.h"
#include "data/format/damage_testing.h"
#include "data/format/narrow_column.h"

namespace trainwarden::format {
namespace {

constexpr std::int64_t kOperatorsStartNs = 1'700'000'000'000'000'000;
constexpr std::int64_t kLastNs = std::numeric_limits<std::int64_t>::max();

OperatorBatch small_operators() {
  OperatorBatch batch;
  batch.names = {"aten::addmm", "AddmmBackward0", std::string("\xFF\0\n", 3), ""};
  batch.tracks = {{"thread 1", 1, false}, {"idle", 2, false}, {"GPU-0 stream 7", 7, true}};
  batch.calls = {{2, 0, OperatorKind::kUser, kOperatorsStartNs, 6'000'000'000, -1},
                 {0, 0, OperatorKind::kOperator, kOperatorsStartNs, 6'000'000'000, 0},
                 {0, 0, OperatorKind::kBackward, kOperatorsStartNs + 1, 0, 5'000'000'000},
                 {1, 0, OperatorKind::kBackward, kOperatorsStartNs + 5'000'000'000, 70'000, -1},
                 {3, 2, OperatorKind::kKernel, kOperatorsStartNs + 3, kLastNs - kOperatorsStartNs - 3, 1}};
  batch.memory = {{kOperatorsStartNs - 7, 512, 512, 0},
                  {kOperatorsStartNs, -512, 0, 0},
                  {kOperatorsStartNs, std::numeric_limits<std::int64_t>::min(), kLastNs, -1}};
  batch.lost_calls = std::numeric_limits<std::uint64_t>::max();
  return batch;
}

// A step of so many calls on two threads and a stream, about as a real one has them.
OperatorBatch step_of_calls(std::size_t count) {
  OperatorBatch batch;
  for (int name = 0; name < 60; ++name) batch.names.push_back("aten::operator_" + std::to_string(name));
  batch.tracks = {{"thread 1", 1, false}, {"thread 2", 2, false}, {"GPU-0 stream 7", 7, true}};
  std::uint64_t state = 1;
  const auto random = [&](std::uint64_t below) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return static_cast<std::int64_t>((state >> 33) % below);
  };
  std::int64_t at = kOperatorsStartNs;
  for (std::size_t i = 0; i < count; ++i) {
    const auto track = static_cast<std::uint32_t>(i * 3 / count);
    if (i > 0 && track != batch.calls.back().track) at = kOperatorsStartNs;
    at += random(20) == 0 ? random(3'000'000) : random(30'000);
    const std::int64_t sequence = random(3) == 0 ? 1'000'000 + static_cast<std::int64_t>(i / 3) : -1;
    batch.calls.push_back({static_cast<std::uint32_t>(random(60)), track,
                           track == 2 ? OperatorKind::kKernel : OperatorKind::kOperator, at, random(200'000) + 100,
                           sequence});
  }
  return batch;
}

OperatorPart decoded(const std::string& payload) {
  auto part = decode_operators(as_bytes(payload));
  EXPECT_TRUE(part.ok()) << part.status().to_string();
  return part.ok() ? *std::move(part) : OperatorPart();
}

void expect_refused(const OperatorBatch& batch, std::string_view why) {
  const Status status = check_operators(batch);
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << why;
  EXPECT_NE(status.message().find(why), std::string::npos) << status.message();
}

TEST(OperatorsTest, EverythingComesBack) {
  const OperatorBatch batch = small_operators();
  ASSERT_TRUE(check_operators(batch).ok()) << check_operators(batch).to_string();
  const auto payloads = encode_operators(batch);
  ASSERT_EQ(payloads.size(), 1u);
  const OperatorPart part = decoded(payloads[0]);
  EXPECT_EQ(part.part, 0u);
  EXPECT_EQ(part.batch_calls, batch.calls.size());
  EXPECT_EQ(part.batch, batch);
}

TEST(OperatorsTest, WhatSaysNothingHasNoFrame) {
  OperatorBatch batch;
  EXPECT_TRUE(encode_operators(batch).empty());
  batch.lost_calls = 3;
  ASSERT_EQ(encode_operators(batch).size(), 1u);
  EXPECT_EQ(decoded(encode_operators(batch)[0]).batch, batch);
  batch = {};
  batch.memory = {{5, 1, 1, -1}};
  ASSERT_EQ(encode_operators(batch).size(), 1u);
  EXPECT_EQ(decoded(encode_operators(batch)[0]).batch, batch);
}

TEST(OperatorsTest, ANegativeDurationAndANegativeSequenceAreNone) {
  OperatorBatch batch = small_operators();
  batch.calls[4].duration_ns = -5;
  batch.calls[4].sequence = -9;
  ASSERT_TRUE(check_operators(batch).ok());
  const OperatorBatch read = decoded(encode_operators(batch)[0]).batch;
  EXPECT_EQ(read.calls[4].duration_ns, 0);
  EXPECT_EQ(read.calls[4].sequence, -1);
}

TEST(OperatorsTest, NamesThatAreNotCalledAreLeftOut) {
  OperatorBatch batch = small_operators();
  batch.calls.pop_back();
  const OperatorBatch read = decoded(encode_operators(batch)[0]).batch;
  batch.names.pop_back();
  EXPECT_EQ(read, batch);
}

TEST(OperatorsTest, ALargeBatchIsSpreadOverFrames) {
  const OperatorBatch batch = step_of_calls(kMaxCallsInFrame * 2 + 5);
  const auto payloads = encode_operators(batch);
  ASSERT_EQ(payloads.size(), 3u);
  std::vector<OperatorCall> calls;
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    const OperatorPart part = decoded(payloads[i]);
    EXPECT_EQ(part.part, i);
    EXPECT_EQ(part.batch_calls, batch.calls.size());
    for (OperatorCall call : part.batch.calls) {
      const auto name = std::find(batch.names.begin(), batch.names.end(), part.batch.names[call.name]);
      call.name = static_cast<std::uint32_t>(name - batch.names.begin());
      calls.push_back(call);
    }
  }
  EXPECT_EQ(calls, batch.calls);
}

TEST(OperatorsTest, ACallTakesFewBytes) {
  for (const std::size_t count : {std::size_t{1'000}, std::size_t{100'000}}) {
    const std::string payload = encode_operators(step_of_calls(count))[0];
    const double bytes = static_cast<double>(payload.size()) / static_cast<double>(count);
    EXPECT_LT(bytes, 14) << count << " calls";
    RecordProperty(std::to_string(count) + "_calls_bytes_a_call", std::to_string(bytes));
  }
}

TEST(OperatorsTest, ABatchThatIsNotAsItMustBeIsRefused) {
  const auto with = [](auto change) {
    OperatorBatch batch = small_operators();
    change(batch);
    return batch;
  };
  expect_refused(with([](auto& b) { b.calls[1].name = 4; }), "name 4 of 4");
  expect_refused(with([](auto& b) { b.calls[4].track = 3; }), "track 3 of 3");
  expect_refused(with([](auto& b) { b.calls[0].start_unix_ns = -1; }), "1970");
  expect_refused(with([](auto& b) { b.calls[4].duration_ns = kLastNs; }), "1970");
  expect_refused(with([](auto& b) { std::swap(b.calls[2], b.calls[3]); }), "longer first");
  expect_refused(with([](auto& b) { std::swap(b.calls[3], b.calls[4]); }), "by track");
  expect_refused(with([](auto& b) { b.calls[0].duration_ns = 1; }), "longer first");
  expect_refused(with([](auto& b) { b.memory[1].unix_ns = 1; }), "by time");
  expect_refused(with([](auto& b) { b.names[1].resize(kMaxOperatorNameBytes + 1); }), "bytes in a name");
  expect_refused(with([](auto& b) { b.names.resize(262, std::string(kMaxOperatorNameBytes, 'x')); }), "all names");
  expect_refused(with([](auto& b) { b.tracks.resize(kMaxOperatorTracks + 1); }), "tracks");
  expect_refused(with([](auto& b) { b.names.resize(kMaxOperatorNames + 1); }), "names");
}

TEST(OperatorsTest, EveryTruncationIsDataLoss) {
  for_each_truncation(encode_operators(small_operators())[0],
                      [](ByteSpan damaged) { EXPECT_EQ(decode_operators(damaged).status().code(), Code::kDataLoss); });
}

TEST(OperatorsTest, WhatIsReadOfFlippedBitsIsAsItMustBe) {
  for_each_flipped_bit(encode_operators(small_operators())[0], [](ByteSpan damaged) {
    auto part = decode_operators(damaged);
    if (!part.ok()) {
      EXPECT_EQ(part.status().code(), Code::kDataLoss);
      return;
    }
    std::stable_sort(part->batch.calls.begin(), part->batch.calls.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.track, a.start_unix_ns, b.duration_ns) < std::tuple(b.track, b.start_unix_ns, a.duration_ns);
    });
    EXPECT_TRUE(check_operators(part->batch).ok()) << check_operators(part->batch).to_string();
  });
}

TEST(NarrowColumnTest, EveryNumberComesBackInTheNarrowestType) {
  const auto type_of = [](const std::vector<std::uint64_t>& values) {
    ColumnWriter writer;
    add_narrow(writer, "c", values);
    const std::string document = writer.finish();
    const auto columns = ColumnReader::open(as_bytes(document));
    EXPECT_TRUE(columns.ok());
    EXPECT_EQ(read_narrow(*columns, "c", values.size()).value_or({}), values);
    const auto* entry = columns->header().find("c");
    return entry == nullptr ? "none" : std::string(safetensors_name(entry->dtype));
  };
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(type_of({0, 0, 0}), "none");
  EXPECT_EQ(type_of({0, 254, 0}), "U8");
  EXPECT_EQ(type_of({1, 2, 3, 4, 255, 256, 257, 258, kLargest}), "U16");
  EXPECT_EQ(type_of(std::vector<std::uint64_t>(100, 300)), "U16");
  EXPECT_EQ(type_of(std::vector<std::uint64_t>(100, 70'000)), "U32");
  EXPECT_EQ(type_of({kLargest, 65'535, 65'534, 4'294'967'295, 4'294'967'294}), "U32");
}

TEST(NarrowColumnTest, SmallNumbersOfEitherSignFoldToSmallOnes) {
  EXPECT_EQ(fold_sign(0), 0u);
  EXPECT_EQ(fold_sign(-1), 1u);
  EXPECT_EQ(fold_sign(1), 2u);
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{77}, std::int64_t{-77},
                                   std::numeric_limits<std::int64_t>::min(), kLastNs}) {
    EXPECT_EQ(unfold_sign(fold_sign(value)), value);
  }
}

}  // namespace
}  // namespace trainwarden::format
