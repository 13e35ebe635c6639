#include "store/s3/s3_settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "core/base/folder_testing.h"
#include "store/s3/aws_profile.h"
#include "store/s3/credentials.h"
#include "store/s3/google_buckets.h"
#include "store/s3/s3_address.h"

namespace trainwarden::storage {
namespace {

class S3SettingsTest : public testing::Test {
 protected:
  void SetUp() override {
    set("HOME", folder_.path().string());
    set("AWS_EC2_METADATA_DISABLED", "true");
  }
  void set(const std::string& name, const std::string& value) { variables_[name] = value; }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(folder_.path() / ".aws");
    std::ofstream(folder_.path() / ".aws" / name) << text;
  }
  Environment environment() const {
    return [this](const char* name) -> const char* {
      const auto found = variables_.find(name);
      return found == variables_.end() ? nullptr : found->second.c_str();
    };
  }
  S3Settings settings(const std::string& bucket = "mine") const {
    auto read = read_s3_settings(environment(), bucket);
    EXPECT_TRUE(read.ok()) << read.status().to_string();
    return read.value_or({});
  }
  std::string error() const { return read_s3_settings(environment(), "mine").status().message(); }

 private:
  TestFolder folder_;
  std::map<std::string, std::string> variables_;
};

TEST_F(S3SettingsTest, WithoutAnyItIsAmazonsFirstRegion) {
  const S3Settings found = settings();
  EXPECT_EQ(found.endpoint, "https://s3.us-east-1.amazonaws.com");
  EXPECT_EQ(found.region, "us-east-1");
  EXPECT_FALSE(found.path_style);
  EXPECT_TRUE(found.is_encrypted);
  EXPECT_TRUE(settings("with.dots").path_style);
}

TEST_F(S3SettingsTest, VariablesComeBeforeTheProfile) {
  write("config",
        "[default]\nregion = eu-west-1\n[profile mine]\nregion=eu-central-1\nendpoint_url = http://127.0.0.1:9000/\n"
        "s3 =\n  addressing_style = virtual\n  max_bandwidth = 10MB/s\nmax_attempts = 7\n");
  EXPECT_EQ(settings().region, "eu-west-1");
  set("AWS_PROFILE", "mine");
  const S3Settings found = settings();
  EXPECT_EQ(found.region, "eu-central-1");
  EXPECT_EQ(found.endpoint, "http://127.0.0.1:9000");
  EXPECT_FALSE(found.is_encrypted);
  EXPECT_FALSE(found.path_style);
  EXPECT_EQ(found.max_bytes_per_second, 10u << 20);
  EXPECT_EQ(found.max_attempts, 7);
  set("AWS_ENDPOINT_URL_S3", "https://store.example:9443");
  set("AWS_REGION", "there");
  EXPECT_EQ(settings().endpoint, "https://store.example:9443");
  EXPECT_EQ(settings().region, "there");
}

TEST_F(S3SettingsTest, EndpointsOfOthersHaveTheBucketInThePath) {
  set("AWS_ENDPOINT_URL", "http://minio:9000");
  EXPECT_TRUE(settings().path_style);
}

TEST_F(S3SettingsTest, BadValuesNameTheirVariable) {
  set("AWS_ENDPOINT_URL", "minio:9000");
  EXPECT_EQ(error(),
            "AWS_ENDPOINT_URL: expected https://HOST or http://HOST:PORT, without a user or a path, found "
            "\"minio:9000\"");
  set("AWS_ENDPOINT_URL", "http://user@minio");
  EXPECT_NE(error(), "");
  set("AWS_ENDPOINT_URL", "");
  set("AWS_MAX_ATTEMPTS", "many");
  EXPECT_EQ(error(), "AWS_MAX_ATTEMPTS: expected 1 to 100, found \"many\"");
  set("AWS_MAX_ATTEMPTS", "");
  write("config", "[default]\ns3 =\n  addressing_style = odd\n");
  EXPECT_EQ(error(), "s3.addressing_style of the AWS profile: expected path, virtual or auto, found \"odd\"");
}

TEST_F(S3SettingsTest, CredentialsAreThoseOfTheVariablesThenOfTheProfile) {
  FakeClock clock;
  const Status none = CredentialChain(environment(), clock).get().status();
  EXPECT_EQ(none.code(), Code::kPermissionDenied);
  EXPECT_NE(none.message().find("expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"), std::string::npos);
  write("credentials", "[default]\naws_access_key_id = a\naws_secret_access_key = b\naws_session_token = c\n");
  EXPECT_EQ(CredentialChain(environment(), clock).get()->session_token, "c");
  set("AWS_ACCESS_KEY_ID", "x");
  set("AWS_SECRET_ACCESS_KEY", "y");
  CredentialChain chain(environment(), clock);
  EXPECT_EQ(chain.get()->key_id, "x");
  EXPECT_EQ(chain.get()->session_token, "");
  set("AWS_ACCESS_KEY_ID", "z");
  EXPECT_EQ(chain.get()->key_id, "x");  // kept
  chain.forget();
  EXPECT_EQ(chain.get()->key_id, "z");
  set("TRAINWARDEN_UNSIGNED", "1");
  EXPECT_EQ(CredentialChain(environment(), clock).get()->key_id, "");
}

TEST_F(S3SettingsTest, GooglesBucketsHaveKeysAndAnEndpointOfTheirOwn) {
  set("AWS_ACCESS_KEY_ID", "amazons");
  set("AWS_SECRET_ACCESS_KEY", "amazons");
  set("AWS_ENDPOINT_URL", "http://minio:9000");
  set("AWS_WEB_IDENTITY_TOKEN_FILE", "/token");
  set("AWS_MAX_ATTEMPTS", "7");
  const auto found = read_s3_settings(google_environment(environment()), "mine");
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(found->endpoint, "https://storage.googleapis.com");
  EXPECT_TRUE(found->path_style);
  EXPECT_EQ(found->max_attempts, 7);
  FakeClock clock;
  const auto keys = [&] { return CredentialChain(google_environment(environment()), clock, kGoogleKeysMissing).get(); };
  EXPECT_EQ(keys().status().code(), Code::kPermissionDenied);
  EXPECT_NE(keys().status().message().find("expected TRAINWARDEN_GS_ACCESS_KEY_ID and"), std::string::npos);
  write("credentials",
        "[default]\naws_access_key_id = a\naws_secret_access_key = b\n"
        "[gs]\naws_access_key_id = c\naws_secret_access_key = d\n");
  EXPECT_EQ(keys()->key_id, "c");
  set("TRAINWARDEN_GS_ACCESS_KEY_ID", "GOOG1");
  set("TRAINWARDEN_GS_SECRET_ACCESS_KEY", "secret");
  EXPECT_EQ(keys()->key_id, "GOOG1");
  set("TRAINWARDEN_GS_ENDPOINT_URL", "http://127.0.0.1:1");
  EXPECT_EQ(read_s3_settings(google_environment(environment()), "mine")->endpoint, "http://127.0.0.1:1");
}

TEST(AwsProfile, SectionsHaveTheirLines) {
  const char* text = "# x\n[a]\nk = v\nnested =\n  inner = 1\n\tother=2\nlast = 3\n[ b ]\r\nk=w\r\nodd line\n";
  EXPECT_EQ(aws_section(text, "a"),
            (AwsSection{{"k", "v"}, {"nested", ""}, {"nested.inner", "1"}, {"nested.other", "2"}, {"last", "3"}}));
  EXPECT_EQ(aws_section(text, "b"), (AwsSection{{"k", "w"}}));
  EXPECT_TRUE(aws_section(text, "c").empty());
  EXPECT_TRUE(aws_section("[", "").empty());
}

TEST(ParseCredentials, TakesWhatServicesAnswer) {
  const auto found = parse_credentials(
      R"({"Code":"Success","AccessKeyId":"a","SecretAccessKey":"b","Token":"c","Expiration":"2026-11-27T12:00:00Z"})");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->key_id + found->secret + found->session_token, "abc");
  EXPECT_GT(found->expires_unix_ns, 0);
  for (const char* text : {"", "[]", "{}", R"({"AccessKeyId":1,"SecretAccessKey":"b"})"}) {
    EXPECT_EQ(parse_credentials(text).status().code(), Code::kDataLoss) << text;
  }
}

TEST(S3Address, HasABucketAndAPrefix) {
  EXPECT_EQ(parse_s3_address("s3://mine")->bucket, "mine");
  EXPECT_EQ(parse_s3_address("s3://mine/")->prefix, "");
  EXPECT_EQ(parse_s3_address("gs://mine/")->scheme, "gs");
  EXPECT_EQ(parse_s3_address("s3://mine/runs/first/")->prefix, "runs/first");
  for (const char* text : {"", "/", "ab", "-ab", "a..b", "mi ne/x", "mine//x", "mine/../x", "mine/./x"}) {
    EXPECT_EQ(parse_s3_address(std::string("s3://") + text).status().code(), Code::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace trainwarden::storage
