// What goes with a body so that damage on its way is found, and how many parts travel at once; over no network.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "core/base/text.h"
#include "core/exchange/digest.h"
#include "store/s3/content_tag.h"
#include "store/s3/s3_client.h"

namespace trainwarden::storage {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

// Keeps what comes, and how much came at once.
class FakeServer {
 public:
  class Connection final : public HttpConnection {
   public:
    explicit Connection(FakeServer& server) : server_(server) {}
    Result<ClientAnswer> exchange(const ClientRequest& request, std::string_view, const std::stop_token&) override {
      return server_.answer(request);
    }

   private:
    FakeServer& server_;
  };

  Result<ClientAnswer> answer(const ClientRequest& request) {
    const bool is_part = request.url.find("partNumber=") != std::string::npos;
    {
      std::unique_lock guard(mutex_);
      if (request.method == std::string_view("DELETE")) ++given_up;
      if (request.method == std::string_view("PUT")) headers = request.headers;
      most_at_once = std::max(most_at_once, at_once_ += is_part ? 1 : 0);
      if (is_part) parts[request.url] = std::string(as_text(request.body));
      changed_.notify_all();
      if (is_part && awaits_another) changed_.wait_for(guard, minutes(1), [this] { return most_at_once > 1; });
    }
    if (is_part) std::this_thread::sleep_for(milliseconds(20));
    const std::lock_guard guard(mutex_);
    at_once_ -= is_part ? 1 : 0;
    if (is_part && --parts_until_failure == 0) return ClientAnswer{.status = 400, .headers = {}};
    if (request.take && request.method == std::string_view("POST")) {
      request.take(200, request.body.empty() ? "<InitiateMultipartUploadResult><UploadId>u</UploadId>"
                                               "</InitiateMultipartUploadResult>"
                                             : "<CompleteMultipartUploadResult/>");
    }
    return ClientAnswer{.status = 200, .headers = {}};
  }

  HeaderMap headers;  // of the last PUT
  std::map<std::string, std::string> parts;
  int most_at_once = 0, given_up = 0, parts_until_failure = 0;
  bool awaits_another = false;  // the first part is answered when the second has come

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int at_once_ = 0;
};

class S3UploadsTest : public testing::Test {
 protected:
  S3Client client(bool is_encrypted, bool is_signed = true) {
    const S3Settings settings{.region = "us-east-1",
                              .endpoint = is_encrypted ? "https://store.example" : "http://store.example",
                              .path_style = true,
                              .is_encrypted = is_encrypted,
                              .ca_file = "",
                              .max_attempts = 1};
    const Environment environment = [is_signed](const char* name) -> const char* {
      if (std::string_view(name) == "TRAINWARDEN_UNSIGNED") return is_signed ? nullptr : "1";
      return std::string_view(name).starts_with("AWS_") ? "any" : nullptr;
    };
    return {"bucket",
            settings,
            std::make_shared<CredentialChain>(environment, clock_),
            clock_,
            {},
            {.connect = [this] { return std::make_unique<FakeServer::Connection>(server_); },
             .pause = [](milliseconds) {}}};
  }
  Status put_large(S3Client& client, std::size_t bytes) {
    content_.resize(bytes);
    for (std::size_t i = 0; i < bytes; i += 4096) content_[i] = static_cast<char>(i / 4096);
    return client.put_large("large", bytes, [&](std::uint64_t offset, MutableByteSpan destination) {
      std::copy_n(as_bytes(content_).begin() + static_cast<std::ptrdiff_t>(offset), destination.size(),
                  destination.begin());
      return Status();
    });
  }
  std::string header(const std::string& name) const {
    const auto found = server_.headers.find(name);
    return found == server_.headers.end() ? "" : found->second;
  }

  FakeClock clock_;
  FakeServer server_;
  std::string content_;
};

TEST_F(S3UploadsTest, ABodyHasADigestThatTheServerCompares) {
  const std::string sha256 = *exchange::sha256_hex("content"), md5 = exchange::base64(*exchange::md5("content"));
  S3Client open = client(false), encrypted = client(true), unsigned_one = client(true, false);
  const ByteSpan content = as_bytes(std::string_view("content"));
  for (S3Client* one : {&open, &encrypted}) {
    ASSERT_TRUE(one->put("key", content, PutCondition::kAlways).ok());
    EXPECT_EQ(header("x-amz-content-sha256") + header("content-md5"), sha256);
    ASSERT_TRUE(one->put_part("key", "u", 1, content).ok());
    EXPECT_EQ(header("x-amz-content-sha256") + header("content-md5"), sha256);
  }
  ASSERT_TRUE(unsigned_one.put("key", content, PutCondition::kAlways).ok());
  EXPECT_EQ(header("x-amz-content-sha256") + header("content-md5"), md5);
}

TEST_F(S3UploadsTest, WhatIsCheckedHasItsMd5InTheSignature) {
  const std::string sha256 = *exchange::sha256_hex("content"), md5 = exchange::base64(*exchange::md5("content"));
  S3Client open = client(false), encrypted = client(true);
  const ByteSpan content = as_bytes(std::string_view("content"));
  ASSERT_TRUE(open.put_checked("key", content).ok());
  EXPECT_EQ(header("x-amz-content-sha256") + header("content-md5"), sha256 + md5);
  EXPECT_NE(header("authorization").find("SignedHeaders=content-md5;host;"), std::string::npos);
  ASSERT_TRUE(encrypted.put_part("key", "u", 1, content, *exchange::md5("content")).ok());
  EXPECT_EQ(header("x-amz-content-sha256") + header("content-md5"), "UNSIGNED-PAYLOAD" + md5);
  EXPECT_NE(header("authorization").find("SignedHeaders=content-md5;host;"), std::string::npos);
}

TEST_F(S3UploadsTest, PartsOfAFileTravelAtOnce) {
  S3Client one = client(false);
  server_.awaits_another = true;
  const Status status = put_large(one, 6 * kPartBytes + 1);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_GT(server_.most_at_once, 1);
  std::map<std::string, std::string> by_number;
  for (const auto& [url, part] : server_.parts) by_number[url.substr(url.find("partNumber="))] = part;
  std::string together;
  for (const auto& [number, part] : by_number) together += part;
  EXPECT_EQ(by_number.size(), 7u);
  EXPECT_TRUE(together == content_);
}

TEST_F(S3UploadsTest, OfAllFilesAFewPartsAreInMemory) {
  S3Client one = client(false);
  server_.awaits_another = true;
  content_.resize(4 * kPartBytes);
  std::vector<std::jthread> files;
  for (int i = 0; i < 3; ++i) {
    files.emplace_back([&] {
      EXPECT_TRUE(one.put_large("large", 4 * kPartBytes, [](std::uint64_t, MutableByteSpan) { return Status(); }).ok());
    });
  }
  files.clear();
  EXPECT_GT(server_.most_at_once, 1);
  EXPECT_LE(server_.most_at_once, static_cast<int>(kPartsAtOnce));
}

TEST_F(S3UploadsTest, AfterAPartThatFailsNoneIsBegunAndTheUploadIsGivenUp) {
  S3Client one = client(false);
  server_.parts_until_failure = 2;
  EXPECT_FALSE(put_large(one, 40 * kPartBytes).ok());
  EXPECT_LT(server_.parts.size(), 2 + 2 * kPartsAtOnce);
  EXPECT_EQ(server_.given_up, 1);
}

TEST_F(S3UploadsTest, AFileThatCannotBeReadIsNoUpload) {
  S3Client one = client(false);
  const Status status = one.put_large("large", 3 * kPartBytes, [](std::uint64_t offset, MutableByteSpan) {
    return offset == 0 ? Status() : Status(Code::kDataLoss, "shorter");
  });
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_EQ(server_.given_up, 1);
}

}  // namespace
}  // namespace trainwarden::storage
