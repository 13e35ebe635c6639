#include "data/format/output_position.h"

#include <gtest/gtest.h>

#include "data/format/output_report.h"

namespace trainwarden::format {
namespace {

TEST(OutputPosition, IsReadAsItWasWritten) {
  const OutputPosition position{"job/\"output\".log", 4096};
  const auto decoded = decode_output_position(encode_output_position(position));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(*decoded, position);
}

TEST(OutputPosition, OtherEventsAreNone) {
  const auto decoded = decode_output_position(encode_output_report({}));
  ASSERT_TRUE(decoded.ok());
  EXPECT_FALSE(decoded->has_value());
}

TEST(OutputPosition, DamageIsNamed) {
  const auto decoded = decode_output_position(R"({"type":"output_position","file":"log","bytes":-1})");
  EXPECT_EQ(decoded.status().code(), Code::kDataLoss);
  EXPECT_NE(decoded.status().message().find("bytes"), std::string::npos) << decoded.status().message();
}

}  // namespace
}  // namespace trainwarden::format
