// The kernel compiles for GPUs, which needs none. Skipped where there is no NVRTC; TRAINWARDEN_NVRTC says where one is.
#include "data/device/nvrtc.h"

#include <gtest/gtest.h>

#include <string>

#include "data/device/statistics_kernel_text.h"

namespace trainwarden::device {
namespace {

TEST(NvrtcTest, TheKernelCompilesForEveryGenerationSinceVolta) {
  for (const int capability : {75, 80, 86, 89, 90}) {
    SCOPED_TRACE(capability);
    const Result<std::string> code = compile_for_gpu(kStatisticsKernelText, capability / 10, capability % 10);
    if (code.status().code() == Code::kUnavailable) GTEST_SKIP() << code.status().message();
    ASSERT_TRUE(code.ok()) << code.status().message();
    EXPECT_EQ(code->substr(0, 4), "\177ELF");
    EXPECT_NE(code->find("trainwarden_statistics"), std::string::npos);
  }
}

TEST(NvrtcTest, AnErrorComesWithTheCompilersWords) {
  const Result<std::string> code = compile_for_gpu("__global__ void kernel() { nonsense; }", 8, 0);
  if (code.status().code() == Code::kUnavailable) GTEST_SKIP() << code.status().message();
  EXPECT_EQ(code.status().code(), Code::kInternal);
  EXPECT_NE(code.status().message().find("nonsense"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::device
