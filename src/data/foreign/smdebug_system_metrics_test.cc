#include "data/foreign/smdebug_system_metrics.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainwarden::foreign {
namespace {

constexpr const char* kLine =
    R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":4.76,"NodeId":"algo-1","Timestamp":1591160699.457})";

struct Kept {
  std::string type, name, dimension, node;
  double value;
  std::int64_t unix_ns;
};

std::vector<Kept> read(const std::string& text, SmdebugSampleCount& count) {
  std::vector<Kept> kept;
  count = read_smdebug_samples(text, [&](const SmdebugSample& sample) {
    kept.push_back({std::string(sample.type), std::string(sample.name), std::string(sample.dimension),
                    std::string(sample.node), sample.value, sample.unix_ns});
  });
  return kept;
}

TEST(SmdebugSystemMetricsTest, ALineIsASample) {
  SmdebugSampleCount count;
  const auto samples = read(std::string(kLine) + "\n", count);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(count.read, 1u);
  EXPECT_EQ(count.damaged, 0u);
  EXPECT_EQ(samples[0].type, "cpu");
  EXPECT_EQ(samples[0].name, "cpu0");
  EXPECT_EQ(samples[0].dimension, "CPUUtilization");
  EXPECT_EQ(samples[0].node, "algo-1");
  EXPECT_EQ(samples[0].value, 4.76);
  EXPECT_NEAR(static_cast<double>(samples[0].unix_ns - 1591160699457000000), 0, 1000);
}

TEST(SmdebugSystemMetricsTest, DamagedLinesAreCountedAndLeftOut) {
  const std::string line = kLine;
  SmdebugSampleCount count;
  const std::string wrong_value = R"({"Type":"cpu","Name":"a","Dimension":"","Value":"x","NodeId":"n","Timestamp":1})";
  const std::string far_off = R"({"Type":"cpu","Name":"a","Dimension":"","Value":1,"NodeId":"n","Timestamp":1e300})";
  const auto samples = read(line.substr(0, 40) + "\n" + line + "\n\n" + wrong_value + "\n" + far_off + "\nnull\n" +
                                std::string(5000, 'x') + "\n" + line,
                            count);
  EXPECT_EQ(samples.size(), 2u);
  EXPECT_EQ(count.read, 2u);
  EXPECT_EQ(count.damaged, 5u);
}

TEST(SmdebugSystemMetricsTest, AnArrayOfTheFirstVersionsIsRead) {
  SmdebugSampleCount count;
  EXPECT_EQ(read("[\n" + std::string(kLine) + ",\n" + kLine + "\n]\n", count).size(), 2u);
  EXPECT_EQ(count.damaged, 0u);
}

TEST(SmdebugSystemMetricsTest, WhatIsWrittenIsReadAgain) {
  const std::string line =
      smdebug_sample_line({"i/o", "cpu\"0", "I/OWaitPercentage", "algo-2", 0.1, 1591160699457123456});
  SmdebugSampleCount count;
  const auto samples = read(line, count);
  ASSERT_EQ(samples.size(), 1u) << line;
  EXPECT_EQ(samples[0].type, "i/o");
  EXPECT_EQ(samples[0].name, "cpu\"0");
  EXPECT_EQ(samples[0].value, 0.1);
  EXPECT_NEAR(static_cast<double>(samples[0].unix_ns - 1591160699457123000), 0, 1000);
}

}  // namespace
}  // namespace trainwarden::foreign
