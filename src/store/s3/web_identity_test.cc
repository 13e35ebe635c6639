// Credentials of a web identity, from an STS of ours with answers that are odd.
#include "store/s3/web_identity.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "core/base/folder_testing.h"
#include "core/exchange/server_testing.h"
#include "store/s3/credentials.h"
#include "store/s3/s3_settings.h"

namespace trainwarden::storage {
namespace {

constexpr const char* kRole = "arn:aws:iam::1:role/trainer";

class WebIdentityTest : public testing::Test {
 protected:
  void SetUp() override {
    set("HOME", folder_.path().string());
    set("AWS_EC2_METADATA_DISABLED", "true");
    set("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:" + server_.port());
    set("AWS_WEB_IDENTITY_TOKEN_FILE", (folder_.path() / "token").string());
    set("AWS_ROLE_ARN", kRole);
    write("token", "open sesame\n");
  }
  void set(const std::string& name, const std::string& value) { variables_[name] = value; }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name) << text;
  }
  Environment environment() const {
    return [variables = variables_](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    };
  }
  Result<AwsCredentials> get() const { return CredentialChain(environment(), clock_).get(); }
  Status refused(const std::string& token) const {
    write("token", token);
    return get().status();
  }

  TestFolder folder_;
  exchange::TestServer server_{"credentials_server.py", folder_.path() / "record"};
  std::map<std::string, std::string> variables_;
  FakeClock clock_{system_clock().unix_ns()};  // that of the server's answers, which expire an hour later
};

TEST_F(WebIdentityTest, ATokenBecomesCredentialsOfTheRole) {
  const auto found = get();
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(found->key_id + found->secret + found->session_token, "keysecretsession-1");
  EXPECT_GT(found->expires_unix_ns, clock_.unix_ns());
  EXPECT_EQ(server_.received().at(0).at("token"), "open sesame");
  EXPECT_TRUE(server_.received().at(0).at("session").get<std::string>().starts_with("trainwarden-"));
  set("AWS_ROLE_SESSION_NAME", "job+7");
  EXPECT_TRUE(get().ok());
  EXPECT_EQ(server_.received().at(1).at("session"), "job+7");
}

TEST_F(WebIdentityTest, TheyAreRenewedWithTheTokenThatIsThereThen) {
  CredentialChain chain(environment(), clock_);
  EXPECT_EQ(chain.get()->session_token, "session-1");
  write("token", "open sesame again");
  clock_.advance_ns(std::int64_t{50} * 60'000'000'000);
  EXPECT_EQ(chain.get()->session_token, "session-1");
  clock_.advance_ns(std::int64_t{6} * 60'000'000'000);  // four minutes are left
  EXPECT_EQ(chain.get()->session_token, "session-2");
  EXPECT_EQ(server_.received().at(1).at("token"), "open sesame again");
}

TEST_F(WebIdentityTest, VariablesOfKeysComeBeforeItAndThoseOfTheProfileAfterIt) {
  write(".aws/credentials", "[default]\naws_access_key_id = a\naws_secret_access_key = b\n");
  EXPECT_EQ(get()->key_id, "key");
  set("AWS_ACCESS_KEY_ID", "x");
  set("AWS_SECRET_ACCESS_KEY", "y");
  EXPECT_EQ(get()->key_id, "x");
  EXPECT_EQ(server_.received().size(), 1u);
}

TEST_F(WebIdentityTest, AProfileMayNameItAndVariablesComeFirst) {
  const std::string file = (folder_.path() / "other").string();
  write("other", "open sesame of the profile");
  write(".aws/config",
        "[default]\nweb_identity_token_file = " + file + "\nrole_arn = " + kRole + "\nrole_session_name = mine\n");
  EXPECT_TRUE(get().ok());
  EXPECT_EQ(server_.received().at(0).at("token"), "open sesame");
  set("AWS_WEB_IDENTITY_TOKEN_FILE", "");
  set("AWS_ROLE_ARN", "");
  EXPECT_TRUE(get().ok());
  EXPECT_EQ(server_.received().at(1).at("token"), "open sesame of the profile");
  EXPECT_EQ(server_.received().at(1).at("session"), "mine");
}

TEST_F(WebIdentityTest, WhatIsMissingIsToldAndNothingElseIsTried) {
  write(".aws/credentials", "[default]\naws_access_key_id = a\naws_secret_access_key = b\n");
  for (const auto& text : {std::string(), std::string("\n"), std::string(30'000, 'x')}) {
    const Status status = refused(text);
    EXPECT_EQ(status.code(), Code::kPermissionDenied) << text.size();
    EXPECT_NE(status.message().find("expected a file with a token of up to 20000 bytes"), std::string::npos);
  }
  set("AWS_WEB_IDENTITY_TOKEN_FILE", "/not/there");
  EXPECT_NE(get().status().message().find("found none that can be read"), std::string::npos);
  set("AWS_ROLE_ARN", "");
  EXPECT_NE(get().status().message().find("set AWS_ROLE_ARN, or role_arn of the AWS profile"), std::string::npos);
  EXPECT_TRUE(server_.received().empty());
}

TEST_F(WebIdentityTest, ARefusalIsToldWithoutTheToken) {
  const Status expired = refused("expired");
  EXPECT_EQ(expired.code(), Code::kPermissionDenied);
  EXPECT_NE(expired.message().find("status 400 ExpiredTokenException: Token expired"), std::string::npos)
      << expired.to_string();
  const Status other = refused("eyJhbGci.secret");
  EXPECT_EQ(other.code(), Code::kPermissionDenied);
  EXPECT_NE(other.message().find("status 403 AccessDenied"), std::string::npos);
  EXPECT_EQ(other.message().find("eyJ"), std::string::npos);
  EXPECT_EQ(refused("busy").code(), Code::kUnavailable);
}

TEST_F(WebIdentityTest, AnswersThatAreNoneAreErrors) {
  EXPECT_EQ(refused("odd").code(), Code::kDataLoss);
  EXPECT_EQ(refused("endless").code(), Code::kDataLoss);
  set("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1");
  EXPECT_EQ(refused("open sesame").code(), Code::kUnavailable);
  set("AWS_ENDPOINT_URL_STS", "sts");
  EXPECT_NE(refused("open sesame").message().find("AWS_ENDPOINT_URL_STS: expected https://HOST"), std::string::npos);
  for (const char* text : {"", "<", "<a/>", "<AssumeRoleWithWebIdentityResponse/>"}) {
    EXPECT_EQ(parse_assumed_role(text).status().code(), Code::kDataLoss) << text;
  }
}

TEST_F(WebIdentityTest, TheServiceIsAmazonsOfTheRegionUnlessOneIsSet) {
  set("AWS_ENDPOINT_URL_STS", "");
  set("AWS_REGION", "eu-central-1");
  EXPECT_EQ(read_sts_settings(environment())->endpoint, "https://sts.eu-central-1.amazonaws.com");
  set("AWS_REGION", "cn-north-1");
  EXPECT_EQ(read_sts_settings(environment())->endpoint, "https://sts.cn-north-1.amazonaws.com.cn");
  set("AWS_ENDPOINT_URL_S3", "http://s3.only");
  EXPECT_EQ(read_sts_settings(environment())->endpoint, "https://sts.cn-north-1.amazonaws.com.cn");
  set("AWS_ENDPOINT_URL", "http://minio:9000");
  EXPECT_EQ(read_sts_settings(environment())->endpoint, "http://minio:9000");
}

}  // namespace
}  // namespace trainwarden::storage
