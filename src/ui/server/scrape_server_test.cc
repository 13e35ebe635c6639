#include "ui/server/scrape_server.h"

#include <vector>

#include <gtest/gtest.h>

#include "ui/server/client_testing.h"

namespace trainwarden::server {
namespace {

ScrapeText source(bool open_metrics) {
  return open_metrics ? ScrapeText{"# EOF\n", "application/openmetrics-text"} : ScrapeText{"up 1\n", "text/plain"};
}

HttpAnswer ask(const std::string& target, Headers headers, const std::string& method = "GET", bool loopback = true) {
  return answer_scrape({method, target, std::move(headers), ""}, source, loopback);
}

TEST(ScrapeServer, AnswersInTheFormatThatIsAskedFor) {
  EXPECT_EQ(ask("/metrics", {{"host", "localhost:1"}}).body, "up 1\n");
  EXPECT_EQ(ask("/metrics?x=1", {{"host", "[::1]:1"}}).body, "up 1\n");
  const HttpAnswer answer = ask(
      "/metrics", {{"host", "127.0.0.1"}, {"accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"}});
  EXPECT_EQ(answer.body, "# EOF\n");
  EXPECT_EQ(answer.header("Content-Type"), "application/openmetrics-text");
}

TEST(ScrapeServer, RefusesWhatItDoesNotHave) {
  EXPECT_EQ(ask("/", {{"host", "localhost"}}).status, 200U);
  EXPECT_EQ(ask("/api/v1/runs", {{"host", "localhost"}}).status, 404U);
  EXPECT_EQ(ask("/metrics", {{"host", "localhost"}}, "POST").status, 405U);
}

TEST(ScrapeServer, AnswersAsThisMachineOnly) {
  EXPECT_EQ(ask("/metrics", {{"host", "evil.example:9464"}}).status, 403U);
  EXPECT_EQ(ask("/metrics", {{"host", "localhost.evil.example"}}).status, 403U);
  EXPECT_EQ(ask("/metrics", {{"host", "127.0.0.1.evil.example"}}).status, 403U);
  EXPECT_EQ(ask("/metrics", {}).status, 403U);
  EXPECT_EQ(ask("/metrics", {{"host", "localhost"}, {"host", "evil.example"}}).status, 403U);
  EXPECT_EQ(ask("/metrics", {{"host", "node7.cluster:9464"}}, "GET", false).status, 200U);
}

TEST(ScrapeServer, ServesManyClientsThoughSomeSayNothing) {
  const auto server = ScrapeServer::start("127.0.0.1", 0, source, true);
  ASSERT_TRUE(server.ok()) << server.status().to_string();
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(std::make_unique<Client>((*server)->port()));
  Client client((*server)->port());
  for (int scrape = 0; scrape < 3; ++scrape) {
    ASSERT_TRUE(client.send(get((*server)->port(), "/metrics")));
    const auto answer = client.read_answer();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "up 1\n");
  }
}

TEST(ScrapeServer, SaysThatThePortIsTaken) {
  const auto first = ScrapeServer::start("127.0.0.1", 0, source, true);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(ScrapeServer::start("127.0.0.1", (*first)->port(), source, true).status().code(), Code::kUnavailable);
  EXPECT_EQ(ScrapeServer::start("no address", 0, source, true).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::server
