// Copies between folders, and what happens to them.
#include "store/copy/copy_tree.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "core/base/folder_testing.h"
#include "store/copy/local_end.h"

namespace trainwarden::copy {
namespace {

namespace fs = std::filesystem;

std::string bytes_at(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void write_at(const fs::path& file, const std::string& content) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << content;
}

const std::string& large_content() {
  static const std::string content = [] {
    std::string large((std::size_t{25} << 20) + 11, '\0');
    for (std::size_t i = 0; i < large.size(); i += 100) large[i] = static_cast<char>(i * 7 + i / 4096);
    return large;
  }();
  return content;
}

// The end of a folder whose reading fails, or does something else first.
class OddEnd final : public CopyEnd {
 public:
  explicit OddEnd(const fs::path& path) : inner_(create_local_end(path, EndKind::kFolder)) {}
  std::function<Status(const CopyFile&, std::uint64_t)> before_read = [](const CopyFile&, std::uint64_t) {
    return Status();
  };

  Result<CopyListing> list() override { return inner_->list(); }
  Result<CopyFile> look(const CopyFile& file) override { return inner_->look(file); }
  Result<std::unique_ptr<FileReader>> open(const CopyFile& file) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto reader, inner_->open(file));
    return std::unique_ptr<FileReader>(std::make_unique<Reader>(*this, file, std::move(reader)));
  }
  Result<std::unique_ptr<FileReceiver>> receive(const CopyFile& file, const std::string& source,
                                                const CopyFile* before) override {
    return inner_->receive(file, source, before);
  }
  Status remove(const CopyFile& file) override { return inner_->remove(file); }
  Result<bool> remove_leftover(const std::string& path) override { return inner_->remove_leftover(path); }
  bool keeps_times() const override { return true; }
  std::string describe(const std::string& path) const override { return inner_->describe(path); }

 private:
  struct Reader final : FileReader {
    Reader(OddEnd& owner, CopyFile copied, std::unique_ptr<FileReader> base)
        : end(owner), file(std::move(copied)), inner(std::move(base)) {}
    Status read(std::uint64_t offset, MutableByteSpan destination) override {
      TRAINWARDEN_RETURN_IF_ERROR(end.before_read(file, offset));
      return inner->read(offset, destination);
    }
    OddEnd& end;
    CopyFile file;
    std::unique_ptr<FileReader> inner;
  };
  std::shared_ptr<CopyEnd> inner_;
};

class CopyTreeTest : public testing::Test {
 protected:
  CopySummary run(CopyOptions options = {}) {
    CopyTree tree(from_, to_, options);
    auto summary = tree.run(stop_.get_token());
    EXPECT_TRUE(summary.ok()) << summary.status().to_string();
    progress_ = tree.progress();
    return summary.ok() ? *std::move(summary) : CopySummary();
  }
  std::map<std::string, std::string> files_in(const std::string& name) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / name)) {
      if (entry.is_regular_file()) {
        files[entry.path().lexically_relative(folder_.path() / name).string()] = bytes_at(entry.path());
      }
    }
    return files;
  }

  TestFolder folder_;
  fs::path a_ = folder_.path() / "a", b_ = folder_.path() / "b";
  std::shared_ptr<OddEnd> from_ = std::make_shared<OddEnd>(a_);
  std::shared_ptr<CopyEnd> to_ = create_local_end(b_, EndKind::kFolder);
  std::stop_source stop_;
  CopyProgress progress_;
};

TEST_F(CopyTreeTest, WhatIsThereIsNotCopiedAgain) {
  write_at(a_ / "run.json", "{}");
  write_at(a_ / "deep/er/large", large_content());
  write_at(a_ / "empty", "");
  CopySummary summary = run();
  EXPECT_TRUE(summary.is_complete());
  EXPECT_EQ(summary.files_copied, 3u);
  EXPECT_EQ(files_in("b"), files_in("a"));
  EXPECT_EQ(progress_.files_done, 3u);
  EXPECT_EQ(progress_.bytes_done, summary.bytes);
  EXPECT_EQ(fs::last_write_time(b_ / "run.json"), fs::last_write_time(a_ / "run.json"));
  summary = run();
  EXPECT_EQ(summary.files_copied, 0u);
  EXPECT_EQ(summary.files_same, 3u);
  write_at(a_ / "run.json", "[]");
  write_at(b_ / "extra/file", "kept");
  EXPECT_EQ(run().files_copied, 1u);
  EXPECT_EQ(bytes_at(b_ / "run.json"), "[]");
  EXPECT_TRUE(fs::exists(b_ / "extra/file"));
}

TEST_F(CopyTreeTest, ADryRunDoesNothing) {
  write_at(a_ / "one", "1");
  write_at(b_ / "other", "2");
  const CopySummary summary = run({.dry_run = true, .removes = true});
  EXPECT_EQ(summary.copied, std::vector<std::string>{"one"});
  EXPECT_EQ(summary.removed, std::vector<std::string>{"other"});
  EXPECT_EQ(files_in("b"), (std::map<std::string, std::string>{{"other", "2"}}));
}

TEST_F(CopyTreeTest, WhatIsNotInTheSourceIsRemovedAtTheEnd) {
  write_at(a_ / "one", "1");
  fs::create_symlink(folder_.path(), a_ / "link");
  write_at(b_ / "deep/er/other", "2");
  write_at(b_ / "link/kept", "3");
  const CopySummary summary = run({.removes = true});
  EXPECT_EQ(summary.files_removed, 1u);
  EXPECT_EQ(summary.links, std::vector<std::string>{"link"});
  EXPECT_FALSE(fs::exists(b_ / "deep"));
  EXPECT_TRUE(fs::exists(b_ / "link/kept"));
}

TEST_F(CopyTreeTest, NothingIsRemovedWhereSomethingWentWrong) {
  write_at(a_ / "one", "1");
  write_at(a_ / "two", "2");
  write_at(b_ / "other", "3");
  from_->before_read = [](const CopyFile& file, std::uint64_t) {
    return file.path == "one" ? Status(Code::kInternal, "a bad sector") : Status();
  };
  const CopySummary summary = run({.removes = true});
  ASSERT_EQ(summary.problems.size(), 1u);
  EXPECT_EQ(summary.problems[0].path, "one");
  EXPECT_EQ(files_in("b"), (std::map<std::string, std::string>{{"other", "3"}, {"two", "2"}}));
}

TEST_F(CopyTreeTest, WhatHasArrivedIsGoneOnWith) {
  const std::string large = large_content();
  write_at(a_ / "large", large);
  std::atomic<std::uint64_t> read = 0;
  from_->before_read = [&](const CopyFile&, std::uint64_t offset) {
    if (offset >= std::uint64_t{24} << 20) return Status(Code::kInternal, "the cable is out");
    return Status();
  };
  EXPECT_FALSE(run().is_complete());
  EXPECT_FALSE(fs::exists(b_ / "large"));
  from_->before_read = [&](const CopyFile&, std::uint64_t offset) {
    EXPECT_GE(offset, std::uint64_t{24} << 20);
    ++read;
    return Status();
  };
  const CopySummary summary = run();
  EXPECT_TRUE(summary.is_complete());
  EXPECT_EQ(summary.bytes_resumed, std::uint64_t{24} << 20);
  EXPECT_EQ(read, 1u);
  EXPECT_EQ(files_in("b"), files_in("a"));
}

TEST_F(CopyTreeTest, WhatHasArrivedOfAnotherVersionIsNotGoneOnWith) {
  write_at(a_ / "large", large_content());
  from_->before_read = [](const CopyFile&, std::uint64_t offset) {
    return offset > 0 ? Status(Code::kInternal, "the cable is out") : Status();
  };
  EXPECT_FALSE(run().is_complete());
  from_->before_read = [](const CopyFile&, std::uint64_t) { return Status(); };
  write_at(a_ / "large", std::string(large_content().size(), 'x'));
  const CopySummary summary = run();
  EXPECT_TRUE(summary.is_complete());
  EXPECT_EQ(summary.bytes_resumed, 0u);
  EXPECT_EQ(summary.unfinished_ended, 1u);
  EXPECT_EQ(files_in("b"), files_in("a"));
}

TEST_F(CopyTreeTest, AHalfCopyIsRemovedWhereThatIsAskedFor) {
  write_at(a_ / "large", large_content());
  from_->before_read = [](const CopyFile&, std::uint64_t offset) {
    return offset > 0 ? Status(Code::kInternal, "the cable is out") : Status();
  };
  run();
  EXPECT_EQ(files_in("b").size(), 1u);
  EXPECT_EQ(run({.abandons = true}).unfinished_ended, 1u);
  EXPECT_EQ(files_in("b").size(), 0u);
}

TEST_F(CopyTreeTest, ANetworkThatIsAwayIsWaitedFor) {
  write_at(a_ / "one", "1");
  int calls = 0;
  from_->before_read = [&](const CopyFile&, std::uint64_t) {
    return ++calls < 2 ? Status(Code::kUnavailable, "no answer") : Status();
  };
  EXPECT_TRUE(run().is_complete());
  EXPECT_EQ(calls, 2);
  write_at(a_ / "two", "2");
  from_->before_read = [&](const CopyFile&, std::uint64_t) { return Status(Code::kUnavailable, "no answer"); };
  const CopySummary summary = run({.patience = std::chrono::milliseconds(0)});
  EXPECT_EQ(summary.ended_by.code(), Code::kUnavailable);
  EXPECT_EQ(files_in("b").size(), 1u);
}

TEST_F(CopyTreeTest, AFileThatChangesMeanwhileIsCopiedAnew) {
  write_at(a_ / "file", std::string(100, 'a'));
  bool is_first = true;
  from_->before_read = [&](const CopyFile&, std::uint64_t) {
    if (std::exchange(is_first, false)) write_at(a_ / "file", std::string(90, 'b'));
    return Status();
  };
  EXPECT_TRUE(run().is_complete());
  EXPECT_EQ(bytes_at(b_ / "file"), std::string(90, 'b'));
}

TEST_F(CopyTreeTest, OneThatGrowsIsCopiedAsItWas) {
  write_at(a_ / "file", "first");
  from_->before_read = [&](const CopyFile&, std::uint64_t) {
    std::ofstream(a_ / "file", std::ios::app) << " and more";
    return Status();
  };
  EXPECT_TRUE(run().is_complete());
  EXPECT_EQ(bytes_at(b_ / "file"), "first");
}

TEST_F(CopyTreeTest, CheckComparesTheContent) {
  write_at(a_ / "file", "one");
  run();
  const auto time = fs::last_write_time(b_ / "file");
  write_at(b_ / "file", "two");
  fs::last_write_time(b_ / "file", time);
  EXPECT_EQ(run().files_copied, 0u);
  const CopySummary summary = run({.checks = true});
  EXPECT_EQ(summary.files_copied, 1u);
  EXPECT_EQ(summary.files_checked, 1u);
  EXPECT_EQ(bytes_at(b_ / "file"), "one");
}

TEST_F(CopyTreeTest, WhatIsNoFileIsTold) {
  write_at(a_ / "file", "one");
  ASSERT_EQ(::mkfifo((a_ / "pipe").c_str(), 0600), 0);
  const CopySummary summary = run();
  ASSERT_EQ(summary.left_out.size(), 1u);
  EXPECT_EQ(summary.left_out[0].path, "pipe");
  EXPECT_FALSE(summary.is_complete());
  EXPECT_EQ(summary.files_copied, 1u);
}

TEST_F(CopyTreeTest, LeavingKeepsWhatWasBegun) {
  write_at(a_ / "large", large_content());
  from_->before_read = [&](const CopyFile&, std::uint64_t offset) {
    if (offset > 0) stop_.request_stop();
    return offset > 0 ? Status(Code::kCancelled, "left") : Status();
  };
  const CopySummary summary = run({.connections = 1});
  EXPECT_EQ(summary.ended_by.code(), Code::kCancelled);
  EXPECT_EQ(files_in("b").size(), 1u);  // under its other name
  EXPECT_FALSE(fs::exists(b_ / "large"));
}

TEST_F(CopyTreeTest, NothingAtTheSourceIsAnError) {
  CopyTree tree(from_, to_, {});
  EXPECT_EQ(tree.run({}).status().code(), Code::kNotFound);
  EXPECT_FALSE(fs::exists(b_));
}

}  // namespace
}  // namespace trainwarden::copy
