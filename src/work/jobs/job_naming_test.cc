#include "work/jobs/job_naming.h"

#include <gtest/gtest.h>

namespace trainwarden::jobs {
namespace {

constexpr std::int64_t kTime = 1'763'903'109'123'456'789;  // 2025-11-23T13:05:09.123456789Z

TEST(JobNaming, BeginsWithTheBaseAndEndsWithTheTime) {
  JobSpec spec;
  spec.entry_point = "src/train_bert.py";
  EXPECT_EQ(make_job_name(spec, kTime), "train-bert-2025-11-23-13-05-09-123");
  spec.base_name = "bert";
  EXPECT_EQ(make_job_name(spec, kTime), "bert-2025-11-23-13-05-09-123");
  spec = {};
  spec.program = {"/usr/bin/python3.11", "x.py"};
  EXPECT_EQ(make_job_name(spec, kTime), "python3-2025-11-23-13-05-09-123");
}

TEST(JobNaming, IsAlwaysAName) {
  for (const std::string& program : {std::string(200, 'a'), std::string("__"), std::string(60, '-') + "x",
                                     std::string(38, 'a') + "-b", std::string("größe.sh")}) {
    JobSpec spec;
    spec.program = {program};
    EXPECT_TRUE(is_job_name(make_job_name(spec, kTime))) << make_job_name(spec, kTime);
  }
}

}  // namespace
}  // namespace trainwarden::jobs
