#include "ui/server/aws_answers.h"

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "ui/server/site.h"

namespace trainwarden::server {
namespace {

constexpr const char* kKey = "0123456789abcdef";

HttpRequest describe_request(const std::string& key) {
  return {"POST",
          "/",
          {{"host", "127.0.0.1:8000"},
           {"content-type", "application/x-amz-json-1.1"},
           {"x-amz-target", "SageMaker.DescribeTrainingJob"},
           {"authorization", "AWS4-HMAC-SHA256 Credential=" + key +
                                 "/20261123/local/sagemaker/aws4_request, SignedHeaders=host, Signature=0"}},
          R"({"TrainingJobName": "bert-7"})"};
}

TEST(AwsAnswers, TheKeyIsReadFromTheSignature) {
  EXPECT_EQ(access_key_of(describe_request(kKey)), kKey);
  HttpRequest request = describe_request(kKey);
  for (const char* wrong :
       {"", "Bearer 0123456789abcdef", "AWS4-HMAC-SHA256 SignedHeaders=host", "AWS4-HMAC-SHA256 Credential="}) {
    request.headers.back().second = wrong;
    EXPECT_EQ(access_key_of(request), "") << wrong;
  }
  request = describe_request(kKey);
  request.headers.push_back(request.headers.back());
  EXPECT_EQ(access_key_of(request), "") << "two are none";
}

class AwsSite : public testing::Test {
 protected:
  void SetUp() override {
    auto shelf = views::Shelf::open(folder_.path());
    ASSERT_TRUE(shelf.ok()) << shelf.status().to_string();
    shelf_ = *std::move(shelf);
  }

  Site site(bool answers) {
    Site::Options options;
    options.access = {kKey, {}};
    if (answers) {
      options.ask_program = [this](const std::vector<std::string>&, const std::string&) -> Result<format::Json> {
        ++asked_;
        return format::Json{{"TrainingJobName", "bert-7"}};
      };
    }
    return Site(answers::Services{*shelf_}, std::move(options));
  }

  TestFolder folder_;
  std::unique_ptr<views::Shelf> shelf_;
  int asked_ = 0;
};

TEST_F(AwsSite, WhoHasTheKeyIsAnswered) {
  const Site open = site(true);
  EXPECT_TRUE(open.admit(describe_request(kKey)).proven);
  const HttpAnswer answer = open.answer(describe_request(kKey));
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(answer.body, R"({"TrainingJobName":"bert-7"})");
  EXPECT_EQ(answer.header("Content-Type"), "application/x-amz-json-1.1");
  HttpRequest unknown = describe_request(kKey);
  unknown.headers[2].second = "SageMaker.DeleteModel";
  EXPECT_EQ(open.answer(unknown).status, 400u);
}

TEST_F(AwsSite, NobodyElseIs) {
  const Site open = site(true);
  for (const std::string key : {"", "0123456789abcdee", "0123"}) {
    EXPECT_FALSE(open.admit(describe_request(key)).proven);
    const HttpAnswer answer = open.answer(describe_request(key));
    EXPECT_EQ(answer.status, 403u);
    EXPECT_NE(answer.body.find("UnrecognizedClientException"), std::string_view::npos);
  }
  HttpRequest foreign = describe_request(kKey);
  foreign.headers.emplace_back("origin", "https://evil.example");
  EXPECT_EQ(open.answer(foreign).status, 403u);
  foreign = describe_request(kKey);
  foreign.headers[0].second = "evil.example";
  EXPECT_EQ(open.answer(foreign).status, 403u);
  HttpRequest bearer = describe_request(kKey);
  bearer.headers.back().second = std::string("Bearer ") + kKey;
  EXPECT_EQ(open.answer(bearer).status, 403u) << "a page's session is no access key";
  EXPECT_EQ(asked_, 0);
}

TEST_F(AwsSite, ItIsOffUnlessItIsAskedFor) {
  const Site closed = site(false);
  EXPECT_EQ(closed.answer(describe_request(kKey)).status, 405u);
  HttpRequest api = describe_request(kKey);
  api.target = "/api/v1/about";
  EXPECT_EQ(closed.answer(api).status, 415u) << "an access key opens nothing else";
}

}  // namespace
}  // namespace trainwarden::server
