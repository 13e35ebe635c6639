#include "react/actions/secret.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/base/folder_testing.h"

namespace trainwarden::actions {
namespace {

class SecretTest : public ::testing::Test {
 protected:
  std::string file(const std::string& content) {
    const std::string path = (folder_.path() / "secret").string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  TestFolder folder_;
};

TEST_F(SecretTest, OfAVariable) {
  const Secret secret = Secret::in_environment("TW_SECRET_TEST");
  ::unsetenv("TW_SECRET_TEST");
  EXPECT_EQ(secret.describe(), "$TW_SECRET_TEST");
  EXPECT_EQ(secret.read().status().code(), Code::kNotFound);
  EXPECT_NE(secret.read().status().message().find("$TW_SECRET_TEST"), std::string::npos);
  ::setenv("TW_SECRET_TEST", "", 1);
  EXPECT_EQ(secret.read().status().code(), Code::kNotFound);
  ::setenv("TW_SECRET_TEST", " old\n", 1);
  EXPECT_EQ(*secret.read(), " old\n");
  ::setenv("TW_SECRET_TEST", "renewed", 1);
  EXPECT_EQ(*secret.read(), "renewed");
}

TEST_F(SecretTest, OfAFileWithoutItsLineEnd) {
  const std::string path = file("two words\r\n\n");
  const Secret secret = Secret::in_file(path);
  EXPECT_EQ(secret.describe(), "the file " + path);
  EXPECT_EQ(*secret.read(), "two words");
  file("renewed");
  EXPECT_EQ(*secret.read(), "renewed");
}

TEST_F(SecretTest, AFileThatHasNone) {
  EXPECT_EQ(Secret::in_file(file("\n")).read().status().code(), Code::kNotFound);
  EXPECT_EQ(Secret::in_file(file("")).read().status().code(), Code::kNotFound);
  EXPECT_EQ(Secret::in_file(folder_.path() / "none").read().status().code(), Code::kNotFound);
  EXPECT_EQ(Secret::in_file(file("x") + "/y").read().status().code(), Code::kNotFound);
  EXPECT_EQ(Secret::in_file(folder_.path()).read().status().code(), Code::kPermissionDenied);
  EXPECT_EQ(Secret::in_file(file(std::string(70'000, 'x'))).read().status().code(), Code::kInvalidArgument);
}

TEST_F(SecretTest, ANamedPipeIsNotWaitedFor) {
  const std::string path = (folder_.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(Secret::in_file(path).read().status().code(), Code::kNotFound);
}

TEST_F(SecretTest, ErrorsNameThePlaceOnly) {
  const auto large = Secret::in_file(file(std::string(70'000, 'x'))).read().status();
  EXPECT_EQ(large.message().find("xxx"), std::string::npos);
  EXPECT_EQ(Secret::in_environment("A\x1b[2J").describe(), "$A\\x1B[2J");
}

}  // namespace
}  // namespace trainwarden::actions
