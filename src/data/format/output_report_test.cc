#include "data/format/output_report.h"

#include <gtest/gtest.h>

#include "data/format/run_event.h"

namespace trainwarden::format {
namespace {

OutputReport sample() {
  OutputReport report;
  report.began_unix_ns = 17;
  report.file = "job/output.log";
  report.bytes = 4096;
  report.records = 40;
  report.cut_records = 1;
  report.restarts = 2;
  report.lost_values = 3;
  report.metrics = {{"train:loss", 30, 5, 1, "n/a", 0}, {"eval \"loss\"", 2, 0, 0, "", 4}};
  return report;
}

TEST(OutputReport, IsReadAsItWasWritten) {
  const auto report = decode_output_report(encode_output_report(sample()));
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(*report, sample());
}

TEST(OutputReport, OtherEventsAreNone) {
  const auto report = decode_output_report(encode_run_end({}));
  ASSERT_TRUE(report.ok());
  EXPECT_FALSE(report->has_value());
}

TEST(OutputReport, DamageIsNamed) {
  std::string text = encode_output_report(sample());
  text.replace(text.find("\"values\":30"), 11, "\"values\":-3");
  const auto report = decode_output_report(text);
  EXPECT_EQ(report.status().code(), Code::kDataLoss);
  EXPECT_NE(report.status().message().find("values"), std::string::npos) << report.status().message();
}

TEST(OutputReport, MoreMetricsThanThereCanBeAreDamage) {
  OutputReport report;
  report.metrics.resize(kMaxReportedMetrics + 1);
  EXPECT_EQ(decode_output_report(encode_output_report(report)).status().code(), Code::kDataLoss);
}

TEST(OutputReport, ReadingsAddUp) {
  OutputReport sum = sample();
  OutputReport next = sample();
  next.began_unix_ns = 18;
  next.metrics = {{"eval \"loss\"", 1, 0, 7, "none", 0}, {"new", 9, 0, 0, "", 0}};
  add_report(sum, next);
  EXPECT_EQ(sum.began_unix_ns, 18);
  EXPECT_EQ(sum.bytes, 8192u);
  EXPECT_EQ(sum.lost_values, 6u);
  EXPECT_EQ(sum.metrics,
            (std::vector<OutputMetricCount>{
                {"train:loss", 30, 5, 1, "n/a", 0}, {"eval \"loss\"", 3, 0, 7, "none", 4}, {"new", 9, 0, 0, "", 0}}));
}

}  // namespace
}  // namespace trainwarden::format
