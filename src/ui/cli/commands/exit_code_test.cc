#include "ui/cli/commands/exit_code.h"

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

TEST(ExitCode, FollowsTheCodeOfTheStatus) {
  EXPECT_EQ(exit_code_of(Status()), 0);
  EXPECT_EQ(exit_code_of(Status(Code::kNotFound, "no run")), 1);
  EXPECT_EQ(exit_code_of(Status(Code::kOutOfRange, "no such step")), 1);
  EXPECT_EQ(exit_code_of(Status(Code::kInvalidArgument, "bad pattern")), 2);
  EXPECT_EQ(exit_code_of(Status(Code::kDataLoss, "damaged payload")), 4);
}

TEST(ExitCode, AnErrorIsNamedOnStandardError) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(report_error(Status(Code::kNotFound, "no run \"first\"")), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "trainwarden: error: no run \"first\"\n");
}

}  // namespace
}  // namespace trainwarden::cli
