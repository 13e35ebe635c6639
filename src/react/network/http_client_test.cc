#include "react/network/http_client.h"

#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "core/base/await_testing.h"
#include "core/base/folder_testing.h"
#include "core/exchange/server_testing.h"

namespace trainwarden::network {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class HttpClient : public testing::Test {
 protected:
  HttpClient() { EXPECT_TRUE(exchange::make_certificates(folder_.path())); }

  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  std::vector<std::string> certificate(const std::string& name) const {
    return {"--cert", file(name + ".pem"), "--key", file(name + ".key")};
  }
  std::filesystem::path record() const { return folder_.path() / "record"; }

  exchange::TransferLimits trusting_ca() const {
    exchange::TransferLimits limits;
    limits.ca_file = file("ca.pem");
    return limits;
  }

  static PostRequest request(const exchange::TestServer& server, const std::string& path,
                             const std::string& scheme = "http") {
    PostRequest request;
    const auto target = parse_target_url(scheme + "://localhost:" + server.port() + path, false);
    EXPECT_TRUE(target.ok()) << target.status().to_string();
    request.target = *target;
    request.headers = {{"X-Word", "heard"}, {"Content-Type", "application/json"}};
    request.body = "{\"a\": 1}";
    return request;
  }

  TestFolder folder_;
};

TEST_F(HttpClient, SendsHeadersAndBodyOverTls) {
  const exchange::TestServer server("http_server.py", record(), certificate("server"));
  const auto answer = post(request(server, "/status/200?secret=1", "https"), trusting_ca(), {});
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "status 200");
  const auto received = server.received();
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0]["method"], "POST");
  EXPECT_EQ(received[0]["path"], "/status/200?secret=1");
  EXPECT_EQ(received[0]["headers"]["x-word"], "heard");
  EXPECT_EQ(received[0]["headers"]["content-type"], "application/json");
  EXPECT_EQ(received[0]["body"], "{\"a\": 1}");
}

TEST_F(HttpClient, SendsNothingToACertificateThatIsNotTrusted) {
  struct Case {
    std::string certificate;
    std::string ca;
  };
  for (const Case& one :
       {Case{"server", ""}, Case{"server", "other_ca.pem"}, Case{"stranger", "ca.pem"}, Case{"old", "ca.pem"}}) {
    const exchange::TestServer server("http_server.py", record(), certificate(one.certificate));
    exchange::TransferLimits limits;
    if (!one.ca.empty()) limits.ca_file = file(one.ca);
    const auto answer = post(request(server, "/ok?hidden", "https"), limits, {});
    ASSERT_FALSE(answer.ok()) << one.certificate << " " << one.ca;
    EXPECT_EQ(answer.status().code(), Code::kUnavailable);
    EXPECT_NE(answer.status().message().find("not trusted"), std::string::npos) << answer.status().message();
    EXPECT_EQ(answer.status().message().find("hidden"), std::string::npos);
    EXPECT_TRUE(server.received().empty()) << one.certificate << " " << one.ca;
  }
}

TEST_F(HttpClient, SaysThatTheCaFileCannotBeRead) {
  const exchange::TestServer server("http_server.py", record(), certificate("server"));
  exchange::TransferLimits limits;
  limits.ca_file = file("missing.pem");
  const auto answer = post(request(server, "/ok", "https"), limits, {});
  EXPECT_EQ(answer.status().code(), Code::kUnavailable);
  EXPECT_NE(answer.status().message().find("missing.pem"), std::string::npos) << answer.status().message();
}

TEST_F(HttpClient, DoesNotSpeakTlsWithAServerThatDoesNot) {
  const exchange::TestServer server("http_server.py", record());
  const auto answer = post(request(server, "/ok", "https"), trusting_ca(), {});
  EXPECT_EQ(answer.status().code(), Code::kUnavailable);
  EXPECT_TRUE(server.received().empty());
}

TEST_F(HttpClient, DoesNotFollowARedirect) {
  const exchange::TestServer server("http_server.py", record());
  const auto answer = post(request(server, "/redirect"), {}, {});
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(answer->status, 307);
  EXPECT_EQ(server.received().size(), 1U);
}

TEST_F(HttpClient, ToleratesAnswersThatAreNone) {
  const exchange::TestServer server("http_server.py", record());
  for (const std::string path : {"/garbage", "/close", "/headers"}) {
    const auto answer = post(request(server, path), {}, {});
    ASSERT_FALSE(answer.ok()) << path;
    EXPECT_EQ(answer.status().code(), Code::kUnavailable) << path;
    EXPECT_TRUE(answer.status().message().starts_with("http://localhost:" + server.port() + ": "))
        << answer.status().message();
  }
  EXPECT_EQ(server.received().size(), 3U);
}

// The headers have said that the request was taken; what comes behind them is not needed.
TEST_F(HttpClient, TakesAnAnswerWhoseBodyIsBrokenOrEndless) {
  const exchange::TestServer server("http_server.py", record());
  exchange::TransferLimits limits;
  limits.timeout = milliseconds(1500);
  for (const std::string path : {"/half", "/huge", "/trickle"}) {
    const auto answer = post(request(server, path), limits, {});
    ASSERT_TRUE(answer.ok()) << path << answer.status().to_string();
    EXPECT_EQ(answer->status, 200) << path;
    EXPECT_LE(answer->body.size(), kAnswerBodyKept);
  }
}

TEST_F(HttpClient, StopsAfterTheTimeout) {
  const exchange::TestServer server("http_server.py", record());
  exchange::TransferLimits limits;
  limits.timeout = milliseconds(300);
  const auto begin = steady_clock::now();
  const auto answer = post(request(server, "/hang"), limits, {});
  EXPECT_EQ(answer.status().code(), Code::kDeadlineExceeded);
  EXPECT_NE(answer.status().message().find("300.0 ms"), std::string::npos) << answer.status().message();
  EXPECT_GE(steady_clock::now() - begin, milliseconds(290));
}

TEST_F(HttpClient, LeavesAtOnceWhenAskedTo) {
  const exchange::TestServer server("http_server.py", record());
  std::stop_source source;
  Code code = Code::kOk;
  exchange::TransferLimits limits;
  limits.timeout = std::chrono::hours(1);
  std::thread sender([&] { code = post(request(server, "/hang"), limits, source.get_token()).status().code(); });
  EXPECT_TRUE(await([&] { return !server.received().empty(); }));
  source.request_stop();
  sender.join();
  EXPECT_EQ(code, Code::kCancelled);
}

TEST_F(HttpClient, DoesNotBeginWhenAskedToLeaveBefore) {
  const exchange::TestServer server("http_server.py", record());
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(post(request(server, "/hang"), {}, source.get_token()).status().code(), Code::kCancelled);
}

TEST_F(HttpClient, TellsThatNobodyListens) {
  auto refused = request(exchange::TestServer("http_server.py", record()), "/ok?hidden");
  const auto answer = post(refused, {}, {});
  EXPECT_EQ(answer.status().code(), Code::kUnavailable);
  EXPECT_NE(answer.status().message().find("Connection refused"), std::string::npos) << answer.status().message();
  EXPECT_EQ(answer.status().message().find("hidden"), std::string::npos);
}

TEST_F(HttpClient, ReadsRetryAfter) {
  const exchange::TestServer server("http_server.py", record());
  EXPECT_EQ(post(request(server, "/retry-after/429/7"), {}, {})->retry_after, milliseconds(7000));
  EXPECT_EQ(post(request(server, "/retry-after/503/99999999"), {}, {})->retry_after, kLongestRetryAfter);
  EXPECT_EQ(post(request(server, "/retry-after/503/soon"), {}, {})->retry_after, std::nullopt);
  EXPECT_EQ(post(request(server, "/status/503"), {}, {})->retry_after, std::nullopt);
  const auto far = post(request(server, "/retry-after/503/Fri%2C%2031%20Dec%202199%2023%3A59%3A59%20GMT"), {}, {});
  EXPECT_EQ(far->retry_after, kLongestRetryAfter);
  const auto past = post(request(server, "/retry-after/503/Fri%2C%2031%20Dec%201999%2023%3A59%3A59%20GMT"), {}, {});
  EXPECT_EQ(past->retry_after, std::nullopt);
}

TEST_F(HttpClient, RefusesHeadersThatWouldBeMoreThanOne) {
  const exchange::TestServer server("http_server.py", record());
  for (const std::string value : {"a\r\nX-Other: b", "a\nb", "", " "}) {
    auto wrong = request(server, "/ok");
    wrong.headers.emplace_back("X-Token", value);
    const auto answer = post(wrong, {}, {});
    EXPECT_EQ(answer.status().code(), Code::kInvalidArgument);
    EXPECT_NE(answer.status().message().find("X-Token"), std::string::npos);
    EXPECT_EQ(answer.status().message().find("X-Other"), std::string::npos);
  }
  EXPECT_TRUE(server.received().empty());
}

TEST_F(HttpClient, RefusesTheAddressesOfMetadataServices) {
  for (const std::string host : {"169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "[::ffff:169.254.169.254]",
                                 "0.0.0.0", "0xa9fea9fe", "2852039166"}) {
    PostRequest metadata;
    metadata.target = *parse_target_url("https://" + host + "/latest/meta-data", false);
    const auto answer = post(metadata, {}, {});
    EXPECT_EQ(answer.status().code(), Code::kPermissionDenied) << host << answer.status().to_string();
  }
}

TEST_F(HttpClient, SurvivesAServerThatClosesWhileItIsSentTo) {
  const exchange::TestServer server("http_server.py", record(), certificate("server"));
  PostRequest large = request(server, "/slam", "https");
  large.body.assign(32'000'000, 'x');
  ::signal(SIGPIPE, SIG_DFL);  // as in a program that was started from a shell
  for (int i = 0; i < 5; ++i) EXPECT_EQ(post(large, trusting_ca(), {}).status().code(), Code::kUnavailable);
}

// The environment names a proxy, and what is for this machine does not go there.
TEST_F(HttpClient, SendsToThisMachineWithoutAProxy) {
  const exchange::TestServer server("http_server.py", record());
  ::setenv("http_proxy", "http://127.0.0.1:9", 1);
  EXPECT_TRUE(post(request(server, "/ok"), {}, {}).ok());
  ::unsetenv("http_proxy");
}

TEST_F(HttpClient, HonoursTheProxyOfTheEnvironment) {
  const exchange::TestServer proxy("http_server.py", record());
  ::setenv("https_proxy", ("http://127.0.0.1:" + proxy.port()).c_str(), 1);
  PostRequest far;
  far.target = *parse_target_url("https://hooks.example.invalid/x", false);
  far.headers = {{"Authorization", "Bearer for-the-target-only"}};
  const auto answer = post(far, {}, {});
  ::unsetenv("https_proxy");
  EXPECT_EQ(answer.status().code(), Code::kUnavailable);  // our server does not know CONNECT
  EXPECT_NE(answer.status().message().find("501"), std::string::npos) << answer.status().message();
}

}  // namespace
}  // namespace trainwarden::network
