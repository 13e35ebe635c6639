#include "work/ssh/upload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/base/folder_testing.h"
#include "core/base/text.h"
#include "core/process/captured_output.h"

namespace trainwarden::ssh {
namespace {

namespace fs = std::filesystem;

class UploadTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text = "x") const {
    fs::create_directories((base() / path).parent_path());
    std::ofstream(base() / path) << text;
  }
  fs::path base() const { return folder_.path() / "work"; }

  std::vector<std::string> packed(const std::vector<std::string>& names, const std::vector<fs::path>& left_out = {}) {
    const fs::path target = folder_.path() / "upload.tar.gz";
    const Status status = pack_upload(base(), names, left_out, {"job.toml", "name = 'sent'"}, target);
    EXPECT_TRUE(status.ok()) << status.to_string();
    process::Program program;
    program.command = {"tar", "-tzf", target.string()};
    const auto listed = process::capture_output(program, 1 << 16, std::chrono::seconds(60));
    std::vector<std::string> files = split_list(listed->text, '\n');
    std::sort(files.begin(), files.end());
    return files;
  }

  TestFolder folder_;
};

TEST_F(UploadTest, AFolderGoesWithoutWhatTrainwardenKeepsInIt) {
  write("train.py");
  write("lib/net.py");
  write(".git/HEAD");
  write("lib/__pycache__/net.pyc");
  write("jobs/old/output.log");
  write("with 'blank'\n.py");
  EXPECT_EQ(packed({"."}, {base() / "jobs"}),
            (std::vector<std::string>{"job.toml", "lib/", "lib/net.py", "train.py", "with 'blank'\\n.py"}));
}

TEST_F(UploadTest, WithASourceDirOnlyWhatIsNamedGoes) {
  jobs::JobSpec spec;
  spec.entry_point = "train.py";
  spec.source_dir = "src";
  spec.dependencies = {"lib"};
  spec.inputs.push_back({.name = "small", .source = "data/small"});
  spec.inputs.push_back({.name = "large", .source = "/data/large"});
  EXPECT_EQ(*upload_names(spec), (std::vector<std::string>{"src", "lib", "data/small"}));
  spec.source_dir = "";
  EXPECT_EQ(*upload_names(spec), std::vector<std::string>{"."});
  spec.source_dir = "../src";
  EXPECT_NE(upload_names(spec).status().message().find("source_dir: expected a path within"), std::string::npos);
}

TEST_F(UploadTest, LinksGoAsLinks) {
  write("train.py");
  fs::create_symlink("/etc/passwd", base() / "link");
  EXPECT_EQ(packed({"."}), (std::vector<std::string>{"job.toml", "link", "train.py"}));
}

TEST_F(UploadTest, TooMuchIsRefused) {
  write("large");
  fs::resize_file(base() / "large", kMaxUploadBytes + 1);
  EXPECT_EQ(pack_upload(base(), {"."}, {}, {"job.toml", ""}, folder_.path() / "x.tar.gz").code(),
            Code::kResourceExhausted);
  EXPECT_FALSE(fs::exists(folder_.path() / "x.tar.gz"));
  EXPECT_EQ(pack_upload(base(), {"missing"}, {}, {"job.toml", ""}, folder_.path() / "x.tar.gz").code(),
            Code::kNotFound);
}

}  // namespace
}  // namespace trainwarden::ssh
