// Credentials of containers and machines: who gets them, and how they are renewed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "core/base/folder_testing.h"
#include "core/exchange/server_testing.h"
#include "store/s3/credential_service.h"
#include "store/s3/credentials.h"

namespace trainwarden::storage {
namespace {

constexpr std::int64_t kMinuteNs = 60'000'000'000;

class CredentialServiceTest : public testing::Test {
 protected:
  void SetUp() override { set("HOME", folder_.path().string()); }
  void set(const std::string& name, const std::string& value) { variables_[name] = value; }
  Environment environment() const {
    return [variables = variables_](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    };
  }
  std::string at(const std::string& path) const { return "http://127.0.0.1:" + server_.port() + path; }
  std::size_t asked(const std::string& path) const {
    std::size_t count = 0;
    for (const auto& one : server_.received()) count += one.at("path") == path ? 1 : 0;
    return count;
  }

  TestFolder folder_;
  exchange::TestServer server_{"credentials_server.py", folder_.path() / "record"};
  std::map<std::string, std::string> variables_;
  // The clock of the server's answers, which expire an hour later.
  FakeClock clock_{system_clock().unix_ns()};
};

TEST_F(CredentialServiceTest, AContainerAsksWithItsToken) {
  set("AWS_CONTAINER_CREDENTIALS_FULL_URI", at("/container"));
  EXPECT_EQ(CredentialChain(environment(), clock_).get().status().code(), Code::kUnavailable);  // without the token
  set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "open sesame");
  CredentialChain chain(environment(), clock_);
  const auto found = chain.get();
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(found->key_id + found->secret + found->session_token, "keysecretsession-1");
}

TEST_F(CredentialServiceTest, TheTokenOfAPodIsReadAnewEachTime) {
  set("AWS_CONTAINER_CREDENTIALS_FULL_URI", at("/container"));
  set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", (folder_.path() / "token").string());
  std::ofstream(folder_.path() / "token") << "old\n";
  CredentialChain chain(environment(), clock_);
  EXPECT_EQ(chain.get().status().code(), Code::kUnavailable);
  std::ofstream(folder_.path() / "token") << "open sesame\n";
  EXPECT_EQ(chain.get()->session_token, "session-1");
}

TEST_F(CredentialServiceTest, AMachineAsksInVersionTwo) {
  set("AWS_EC2_METADATA_SERVICE_ENDPOINT", at(""));
  CredentialChain chain(environment(), clock_);
  const auto found = chain.get();
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(found->session_token, "session-1");
  EXPECT_EQ(asked("/latest/api/token"), 1u);
  set("AWS_EC2_METADATA_DISABLED", "true");
  EXPECT_EQ(CredentialChain(environment(), clock_).get().status().code(), Code::kPermissionDenied);
}

TEST_F(CredentialServiceTest, TheyAreRenewedBeforeTheyExpire) {
  set("AWS_EC2_METADATA_SERVICE_ENDPOINT", at(""));
  CredentialChain chain(environment(), clock_);
  EXPECT_EQ(chain.get()->session_token, "session-1");
  clock_.advance_ns(50 * kMinuteNs);
  EXPECT_EQ(chain.get()->session_token, "session-1");
  clock_.advance_ns(6 * kMinuteNs);  // four minutes are left
  EXPECT_EQ(chain.get()->session_token, "session-2");
  chain.forget();  // the server has refused them
  EXPECT_EQ(chain.get()->session_token, "session-3");
}

TEST_F(CredentialServiceTest, WhatIsLeftOfThemIsUsedWhileTheServiceIsAway) {
  set("AWS_CONTAINER_CREDENTIALS_FULL_URI", at("/container"));
  set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", (folder_.path() / "token").string());
  std::ofstream(folder_.path() / "token") << "open sesame";
  CredentialChain chain(environment(), clock_);
  EXPECT_EQ(chain.get()->session_token, "session-1");
  std::ofstream(folder_.path() / "token") << "wrong";
  clock_.advance_ns(58 * kMinuteNs);
  EXPECT_EQ(chain.get()->session_token, "session-1");
  clock_.advance_ns(5 * kMinuteNs);
  EXPECT_EQ(chain.get().status().code(), Code::kUnavailable);
}

TEST_F(CredentialServiceTest, AnAddressElsewhereIsNotAsked) {
  set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.com/credentials");
  const Status refused = CredentialChain(environment(), clock_).get().status();
  EXPECT_EQ(refused.code(), Code::kPermissionDenied);
  EXPECT_NE(refused.message().find("AWS_CONTAINER_CREDENTIALS_FULL_URI"), std::string::npos);
  for (const char* odd : {"http://127.0.0.1.evil.com/", "http://127.0.0.1@evil.com/", "ftp://127.0.0.1/"}) {
    set("AWS_CONTAINER_CREDENTIALS_FULL_URI", odd);
    EXPECT_EQ(CredentialChain(environment(), clock_).get().status().code(), Code::kPermissionDenied) << odd;
  }
  set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials");
  EXPECT_EQ(credential_service(environment()).url, "http://169.254.170.2/v2/credentials");
}

}  // namespace
}  // namespace trainwarden::storage
