// Subscribers that fail in every way beside one that is well, and one that is down for a while: the well one hears of
// each event at once, and nobody loses any.
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli_harness.h"
#include "core/base/rfc3339.h"
#include "core/exchange/server_testing.h"

namespace trainwarden::testing_cli {
namespace {

using exchange::TestServer;
using nlohmann::json;

// Less than one attempt at a target that hangs, which ends at its timeout. Sixty milliseconds are usual.
constexpr std::int64_t kLongestLatencyMs = 2'900;
constexpr const char* kHangTimeout = "3s";

class Targets : public CliTest {
 protected:
  std::string url(const std::string& path) const { return "http://127.0.0.1:" + server_->port() + path; }

  void SetUp() override {
    CliTest::SetUp();
    server_ = std::make_unique<TestServer>("http_server.py", folder_ / "received.jsonl");
  }

  // A subscription to every event.
  std::string subscription(const std::string& name, const std::string& path, const std::string& more = {}) const {
    return fmt::format(
        "[[on]]\nname = \"{}\"\nevent = {{ specversion = [\"1.0\"] }}\ndo = \"webhook\"\nurl = \"{}\"\n{}\n"
        "retry.first_delay = \"50ms\"\nretry.longest_delay = \"500ms\"\nretry.max_attempts = 1000\n\n",
        name, url(path), more);
  }
  std::filesystem::path write_actions(const std::string& text) const {
    std::ofstream(folder_ / "actions.toml") << text;
    return folder_ / "actions.toml";
  }

  std::vector<json> events(const std::string& run) const {
    std::vector<json> events;
    std::istringstream lines(cli({"events", run, "--raw"}).out);
    for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line));
    return events;
  }
  // What was taken at this path, each event once, in the order of coming.
  std::vector<json> taken(const std::string& path) const {
    std::vector<json> requests;
    for (json& request : server_->received()) {
      if (request.at("path") == path && request.at("answered") == 204) requests.push_back(std::move(request));
    }
    return requests;
  }

  std::unique_ptr<TestServer> server_;
};

std::uint64_t seq_of(const json& request) {
  return json::parse(request.at("body").get<std::string>()).at("seq");
}

std::int64_t latency_ms(const json& request) {
  const json event = json::parse(request.at("body").get<std::string>());
  const auto happened_ns = parse_rfc3339(event.at("time").get<std::string>());
  return request.at("unix_ms").get<std::int64_t>() - happened_ns.value() / 1'000'000;
}

TEST_F(Targets, ThoseThatFailHurtNoOther) {
  std::string actions = subscription("healthy", "/ok");
  actions += subscription("hanging", "/hang", fmt::format("timeout = \"{}\"", kHangTimeout));
  actions += subscription("trickling", "/trickle", fmt::format("timeout = \"{}\"", kHangTimeout));
  for (const char* path : {"/garbage", "/redirect", "/status/410", "/retry-after/429/1", "/huge", "/headers", "/half",
                           "/close", "/status/500"}) {
    std::string name = path;
    for (char& c : name) c = c == '/' ? '-' : c;
    actions += subscription("bad" + name, path);
  }
  const Outcome run = cli({"run", "--name", "beside", "--rule", "VanishingGradient", "--actions",
                           write_actions(actions), "--", tiny_training(), "--vanish-at", "20", "--steps", "60"});
  ASSERT_EQ(run.exit_code, 3) << run.err;

  const std::vector<json> events = this->events("beside");
  const std::vector<json> heard = taken("/ok");
  ASSERT_EQ(heard.size(), events.size());
  ASSERT_GE(events.size(), 5u);
  std::int64_t longest_ms = 0;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    EXPECT_EQ(seq_of(heard[i]), i + 1);
    EXPECT_EQ(json::parse(heard[i].at("body").get<std::string>()), events[i]);
    longest_ms = std::max(longest_ms, latency_ms(heard[i]));
  }
  EXPECT_LT(longest_ms, kLongestLatencyMs);
  RecordProperty("longest_latency_ms", std::to_string(longest_ms));

  // What will never work is a dead letter with its reason, and what may work yet is kept.
  const json deliveries = cli({"events", "deliveries", "beside", "--json"}).json().at("deliveries");
  for (const json& delivery : deliveries) {
    const std::string name = delivery.at("subscription");
    if (name == "healthy") {
      EXPECT_EQ(delivery.at("state"), "delivered") << delivery;
    }
    if (name == "bad-redirect" || name == "bad-status-410") {
      EXPECT_EQ(delivery.at("state"), "dead") << delivery;
    }
    if (name == "bad-status-500" || name == "hanging") {
      EXPECT_NE(delivery.at("state"), "dead") << delivery;
    }
  }
}

TEST_F(Targets, OneThatIsDownForAWhileGetsEachEventInOrder) {
  const std::filesystem::path up = folder_ / "up";
  const std::string path = "/down-until/" + [&] {
    std::string encoded;
    for (const char c : up.string()) encoded += c == '/' ? std::string("%2F") : std::string(1, c);
    return encoded;
  }();
  const std::filesystem::path actions = write_actions(subscription("patient", path));
  Background run(cli_command({"run", "--name", "patience", "--rule", "VanishingGradient", "--actions", actions, "--",
                              tiny_training(), "--vanish-at", "20", "--until-stopped"}),
                 folder_);
  await([&] { return server_->received().size() >= 5; });  // attempts, of which each is answered with 503
  EXPECT_TRUE(taken(path).empty());
  std::ofstream(up).put('\n');
  EXPECT_EQ(cli({"stop", "patience"}).exit_code, 0);
  const Outcome ended = run.wait();
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  // What was waiting for its next attempt when the training had ended is delivered by whoever delivers next.
  const Outcome delivered = cli({"events", "deliver", "patience", "--actions", actions});
  EXPECT_EQ(delivered.exit_code, 0) << delivered.err;

  const std::vector<json> heard = taken(path);
  const std::vector<json> events = this->events("patience");
  ASSERT_GE(events.size(), 5u);
  std::uint64_t last = 0;
  for (const json& request : heard) {
    const std::uint64_t seq = seq_of(request);
    EXPECT_TRUE(seq == last || seq == last + 1) << seq << " after " << last;
    last = seq;
  }
  EXPECT_EQ(last, events.size());
}

}  // namespace
}  // namespace trainwarden::testing_cli
