#include "work/experiments/lineage.h"

#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "work/experiments/content_hash.h"

namespace trainwarden::experiments {
namespace {

class LineageTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  std::string hash(const std::string& path, const HashBudget& budget = {}) const {
    const auto found = hash_content(folder_.path() / path, budget);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? found->hash : "failed";
  }

  TestFolder folder_;
  ExperimentStore store_{storage::Location(folder_.path() / "experiments")};
};

TEST_F(LineageTest, AFileIsKnownByItsBytes) {
  write("a", "abc");
  write("b/c", "abc");
  // FIPS 180-2, appendix B.1.
  EXPECT_EQ(hash("a"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash("b/c"), hash("a"));
  EXPECT_EQ(hash_content(folder_.path() / "a", {})->bytes, 3u);
  EXPECT_EQ(hash_content(folder_.path() / "none", {}).status().code(), Code::kNotFound);
}

TEST_F(LineageTest, AFolderIsKnownByWhatLiesInIt) {
  for (const char* where : {"one", "two"}) {
    write(std::string(where) + "/train.py", "print()");
    write(std::string(where) + "/data/x.csv", "1,2");
  }
  EXPECT_EQ(hash("one"), hash("two"));
  const std::string before = hash("one");
  write("one/.git/HEAD", "x");
  write("one/__pycache__/train.pyc", "x");
  EXPECT_EQ(hash("one"), before) << "what is not of the content";
  write("one/data/x.csv", "1,3");
  EXPECT_NE(hash("one"), before);
  write("one/data/x.csv", "1,2");
  std::filesystem::rename(folder_.path() / "one/data/x.csv", folder_.path() / "one/data/y.csv");
  EXPECT_NE(hash("one"), before);
  std::filesystem::rename(folder_.path() / "one/data/y.csv", folder_.path() / "one/data/x.csv");
  std::filesystem::create_symlink("/etc/passwd", folder_.path() / "one/link");
  EXPECT_NE(hash("one"), before);
}

TEST_F(LineageTest, WhatIsTooMuchIsNotHashedAndSaysSo) {
  for (int i = 0; i < 5; ++i) write("many/" + std::to_string(i), "0123456789");
  EXPECT_EQ(hash("many", {.bytes = 50, .files = 5}).substr(0, 7), "sha256:");
  for (const HashBudget& budget : {HashBudget{.bytes = 49, .files = 5}, HashBudget{.bytes = 50, .files = 4}}) {
    const auto found = hash_content(folder_.path() / "many", budget);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->hash, "");
    EXPECT_NE(found->note.find("not hashed: more than"), std::string::npos) << found->note;
  }
}

TEST_F(LineageTest, AnArtifactIsItsContentElseItsAddress) {
  EXPECT_EQ(node_of({.uri = "data/a", .hash = "sha256:00"}), "artifact:sha256:00");
  EXPECT_EQ(node_of({.uri = "s3://bucket/a"}), "artifact:s3://bucket/a");
}

TEST_F(LineageTest, AnAssociationIsMadeOnce) {
  const Association derived{"artifact:sha256:00", "artifact:sha256:11", "DerivedFrom", 5};
  EXPECT_TRUE(add_association(store_, derived).ok());
  EXPECT_EQ(add_association(store_, derived).code(), Code::kAlreadyExists);
  const auto names = store_.folder().storage().list(kAssociationsFolder);
  ASSERT_EQ(names->size(), 1u);
  EXPECT_EQ(*read_association(store_, names->front().substr(0, 64)), derived);
  for (const Association& wrong : {Association{"x", "trial:t", "Produced", 1},
                                   {"trial:t", "component:../x", "Produced", 1},
                                   {"trial:t", "artifact:", "Produced", 1},
                                   {"trial:t", "trial:u", "Ate", 1}}) {
    EXPECT_EQ(add_association(store_, wrong).code(), Code::kInvalidArgument) << wrong.source;
  }
}

TEST_F(LineageTest, CraftedAssociationsAreDamage) {
  write("experiments/associations/a.json", R"({"source":"artifact:a","destination":"../b","type":"SameAs","time":1})");
  EXPECT_EQ(read_association(store_, "a").status().code(), Code::kDataLoss);
  std::filesystem::create_symlink("/etc/passwd", folder_.path() / "experiments/associations/b.json");
  EXPECT_FALSE(read_association(store_, "b").ok());
}

}  // namespace
}  // namespace trainwarden::experiments
