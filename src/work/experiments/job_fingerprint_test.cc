#include "work/experiments/job_fingerprint.h"

#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden::experiments {
namespace {

class JobFingerprintTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  std::string fingerprint(const jobs::JobSpec& spec, std::string_view text = "job") const {
    const auto found = fingerprint_of_job(spec, text, folder_.path());
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.value_or("failed");
  }

  TestFolder folder_;
};

TEST_F(JobFingerprintTest, ChangesWithTheSourcesAndTheJob) {
  write("code/train.py", "one");
  jobs::JobSpec spec;
  spec.entry_point = "train.py";
  spec.source_dir = "code";
  const std::string before = fingerprint(spec);
  EXPECT_EQ(before.size(), 7u + 64u);
  EXPECT_EQ(fingerprint(spec), before);
  EXPECT_NE(fingerprint(spec, "another job"), before);
  write("beside.py", "not of the job");
  EXPECT_EQ(fingerprint(spec), before);
  write("code/model.py", "two");
  EXPECT_NE(fingerprint(spec), before);
}

TEST_F(JobFingerprintTest, ChangesWithTheFilesThatAProgramNames) {
  write("train.py", "one");
  jobs::JobSpec spec;
  spec.program = {"python3", "train.py", "--epochs", "3"};
  const std::string before = fingerprint(spec);
  write("train.py", "two");
  EXPECT_NE(fingerprint(spec), before);
  write("train.py", "one");
  EXPECT_EQ(fingerprint(spec), before);
}

TEST_F(JobFingerprintTest, ChangesWithTheData) {
  write("data/a.csv", "1,2");
  jobs::JobSpec spec;
  spec.inputs.push_back({.name = "train", .source = "data", .content_type = {}, .place = {}});
  const std::string before = fingerprint(spec);
  EXPECT_EQ(fingerprint(spec), before);
  write("data/b.csv", "3,4");
  const std::string with_file = fingerprint(spec);
  EXPECT_NE(with_file, before);
  write("data/b.csv", "3,4,5");
  EXPECT_NE(fingerprint(spec), with_file);
  spec.inputs[0].source = "s3://bucket/data";
  EXPECT_NE(fingerprint(spec), with_file);
}

}  // namespace
}  // namespace trainwarden::experiments
