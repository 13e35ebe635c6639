#include "ui/server/server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/format/json.h"
#include "ui/answers/live_run_testing.h"
#include "ui/server/client_testing.h"
#include "ui/server/page_answers.h"

namespace trainwarden::server {
namespace {

using answers::LiveRun;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / fmt::format("server_test-{}", getpid());
    fs::create_directories(folder_ / "runs");
  }
  void TearDown() override {
    server_.reset();
    fs::remove_all(folder_);
  }

  void start(ServerOptions options = {}) { start(folder_ / "runs", std::move(options)); }
  void start(const fs::path& place, ServerOptions options) {
    if (!options.token_file) options.token_file = folder_ / "token";
    auto shelf = views::Shelf::open(place);
    ASSERT_TRUE(shelf.ok()) << shelf.status().to_string();
    auto server = Server::start(*std::move(shelf), options);
    ASSERT_TRUE(server.ok()) << server.status().to_string();
    server_ = *std::move(server);
  }

  std::uint16_t port() const { return server_->port(); }
  std::string bearer() const { return fmt::format("Authorization: Bearer {}\r\n", server_->token()); }

  // The answer to these bytes on a connection of their own.
  RawAnswer ask(const std::string& bytes, bool head_only = false) const {
    Client client(port());
    EXPECT_TRUE(client.send(bytes));
    const auto answer = client.read_answer(head_only);
    EXPECT_TRUE(answer) << "no answer to " << bytes.substr(0, 200);
    return answer.value_or(RawAnswer{});
  }
  RawAnswer ask_about(const std::string& headers) const { return ask(get(port(), "/api/v1/about", headers)); }

  fs::path folder_;
  std::unique_ptr<Server> server_;
};

std::string code_in(const RawAnswer& answer) {
  const auto document = format::Json::parse(answer.body, nullptr, false);
  return document.is_object() ? document["error"]["code"].get<std::string>() : "(no JSON) " + answer.body;
}

TEST_F(ServerTest, ServesThePageToEverybodyUnderItsPolicy) {
  start();
  const RawAnswer page = ask(get(port(), "/"));
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("<!doctype html>"), std::string::npos);
  EXPECT_EQ(page.header("content-security-policy"), kPagePolicy);
  EXPECT_EQ(page.header("cache-control"), "no-cache");
  EXPECT_EQ(page.header("x-content-type-options"), "nosniff");
  EXPECT_EQ(page.header("referrer-policy"), "no-referrer");
  EXPECT_EQ(page.header("cross-origin-resource-policy"), "same-origin");
  EXPECT_EQ(page.header("cross-origin-opener-policy"), "same-origin");
  EXPECT_EQ(page.header("access-control-allow-origin"), "");

  const RawAnswer packed = ask(get(port(), "/", "Accept-Encoding: br, gzip\r\n"));
  EXPECT_EQ(packed.header("content-encoding"), "gzip");
  EXPECT_NE(packed.header("etag"), page.header("etag"));
  EXPECT_EQ(ask(get(port(), "/", fmt::format("If-None-Match: {}\r\n", page.header("etag")))).status, 304);
}

TEST_F(ServerTest, AnswersHeadWithoutABody) {
  start();
  Client client(port());
  client.send(fmt::format("HEAD / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", port()));
  const auto head = client.read_answer(true);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  client.send(get(port(), "/api/v1/about", bearer()));
  const auto next = client.read_answer();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->status, 200) << "the connection goes on, and no byte of a body was between";
}

TEST_F(ServerTest, TellsAboutItselfOnlyToWhoHasTheToken) {
  start();
  EXPECT_EQ(ask_about("").status, 401);
  EXPECT_EQ(code_in(ask_about("")), "no session");
  EXPECT_EQ(ask_about("Authorization: Bearer\r\n").status, 401);
  EXPECT_EQ(ask_about("Authorization: Bearer " + std::string(64, '0') + "\r\n").status, 401);
  EXPECT_EQ(ask_about(fmt::format("Cookie: trainwarden-{}={}\r\n", port(), server_->token())).status, 401);

  const RawAnswer about = ask_about(bearer());
  ASSERT_EQ(about.status, 200);
  const auto document = format::Json::parse(about.body);
  EXPECT_EQ(document["place"], (folder_ / "runs").string());
  EXPECT_EQ(document["actions_allowed"], false);
  EXPECT_EQ(about.header("cache-control"), "private, no-cache");
}

// Browsers send cookies to every port of a host, and so to whoever else listens there.
TEST_F(ServerTest, SetsAndTakesNoCookie) {
  start();
  EXPECT_EQ(ask_about(fmt::format("Cookie: trainwarden-{}={}\r\n", port(), server_->token())).status, 401);
  EXPECT_EQ(ask_about(bearer()).header("set-cookie"), "");
  EXPECT_EQ(ask(get(port(), "/")).header("set-cookie"), "");
  EXPECT_EQ(ask_about(bearer() + bearer()).status, 401) << "one token, not several to choose from";
}

TEST_F(ServerTest, AnswersUnderItsOwnNamesOnly) {
  start({.allowed_hosts = {"training.example", "proxy.example:8443"}});
  const auto as = [&](const std::string& host_lines) {
    return ask("GET /api/v1/about HTTP/1.1\r\n" + host_lines + bearer() + "\r\n").status;
  };
  EXPECT_EQ(as(fmt::format("Host: localhost:{}\r\n", port())), 200);
  EXPECT_EQ(as("Host: LOCALHOST\r\n"), 200);
  EXPECT_EQ(as(fmt::format("Host: [::1]:{}\r\n", port())), 200);
  EXPECT_EQ(as("Host: 127.0.0.1:9999\r\n"), 200) << "the near end of an ssh tunnel";
  EXPECT_EQ(as("Host: training.example:1\r\n"), 200);
  EXPECT_EQ(as("Host: proxy.example:8443\r\n"), 200);
  EXPECT_EQ(as("Host: proxy.example:80\r\n"), 403);
  EXPECT_EQ(as("Host: evil.example\r\n"), 403);
  EXPECT_EQ(as("Host: localhost.evil.example\r\n"), 403);
  EXPECT_EQ(as("Host: localhost@evil.example\r\n"), 403);
  EXPECT_EQ(as("Host: 127.0.0.1:80:evil\r\n"), 403);
  EXPECT_EQ(as("Host: \r\n"), 403);
  EXPECT_EQ(as(""), 403);
  EXPECT_EQ(as(fmt::format("Host: evil.example\r\nHost: 127.0.0.1:{}\r\n", port())), 403);
}

TEST_F(ServerTest, AnswersNoPageOfAnotherSite) {
  start();
  const std::string own = fmt::format("Origin: http://127.0.0.1:{}\r\n", port());
  EXPECT_EQ(ask_about(bearer() + own).status, 200);
  for (const std::string& origin :
       {std::string("http://evil.example"), std::string("null"), std::string(""), std::string("http://127.0.0.1:1"),
        fmt::format("http://localhost:{}", port()), fmt::format("http://127.0.0.1:{}.evil.example", port())}) {
    const RawAnswer answer = ask_about(bearer() + "Origin: " + origin + "\r\n");
    EXPECT_EQ(answer.status, 403) << origin;
    EXPECT_EQ(code_in(answer), "permission denied");
  }
  EXPECT_EQ(ask_about(bearer() + own + "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(ask_about(bearer() + "Sec-Fetch-Site: same-origin\r\n").status, 200);
  EXPECT_EQ(ask_about(bearer() + "Sec-Fetch-Site: none\r\n").status, 200);
  const std::string navigation = "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
  EXPECT_EQ(ask_about(bearer() + "Sec-Fetch-Site: same-site\r\n" + navigation).status, 403);
  EXPECT_EQ(ask_about(bearer() + "Sec-Fetch-Site: cross-site\r\n" + navigation).status, 403);
  // A link to the page itself may be followed from anywhere; it cannot be framed or loaded as a part of another page.
  EXPECT_EQ(ask(get(port(), "/", "Sec-Fetch-Site: cross-site\r\n" + navigation)).status, 200);
  EXPECT_EQ(
      ask(get(port(), "/", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n"))
          .status,
      403);
  EXPECT_EQ(ask(get(port(), "/icon.svg", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n")).status, 403);
}

TEST_F(ServerTest, TakesNoPostThatAFormCouldSend) {
  start();
  const char* const target = "/api/v1/runs/0000000000000000/rules/what-if";
  const auto status = [&](const std::string& headers) {
    return ask(post(port(), target, R"({"rule":"AllZero"})", bearer() + headers)).status;
  };
  EXPECT_EQ(status("Content-Type: application/json\r\nX-Trainwarden: 1\r\n"), 404)
      << "it is asked: there is no such run";
  EXPECT_EQ(status("Content-Type: application/json\r\n"), 403);
  EXPECT_EQ(status("Content-Type: application/json\r\nX-Trainwarden: 0\r\n"), 403);
  EXPECT_EQ(status("Content-Type: text/plain\r\nX-Trainwarden: 1\r\n"), 415);
  EXPECT_EQ(status("Content-Type: application/x-www-form-urlencoded\r\nX-Trainwarden: 1\r\n"), 415);
  EXPECT_EQ(status("X-Trainwarden: 1\r\n"), 415);
  EXPECT_EQ(ask(get(port(), target, bearer())).status, 405);
  EXPECT_EQ(ask(fmt::format("OPTIONS /api/v1/about HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", port())).status, 405);
  EXPECT_EQ(ask(fmt::format("DELETE / HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", port())).status, 405);
}

TEST_F(ServerTest, WaitsForNoBodyOfWhoMayNotAsk) {
  start();
  const std::string json = "Content-Type: application/json\r\nX-Trainwarden: 1\r\n";
  const auto answer =
      ask(fmt::format("POST /api/v1/runs/0/rules/what-if HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}"
                      "Content-Length: 1000000\r\n\r\n",
                      port(), json));
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.header("connection"), "close");
  EXPECT_EQ(ask(get(port(), "/", "Content-Length: 1000\r\n")).status, 400) << "a GET has none";
}

TEST_F(ServerTest, LeadsNobodyToOtherFiles) {
  std::ofstream(folder_ / "secret") << "the secret";
  start();
  for (const char* target : {"/../secret",
                             "/%2e%2e/secret",
                             "/..%2fsecret",
                             "/./../secret",
                             "//secret",
                             "/assets/../../secret",
                             "/api/v1/../../secret",
                             "/api/v1/runs/../../secret",
                             "/api/v1/runs/..%2f..%2fsecret",
                             "/api/v1/runs/%2e%2e/tensors/%2e%2e/secret",
                             "/api/v1/runs/..%5c..%5csecret",
                             "/secret",
                             "/index.html/../../secret",
                             "/api/v1/%00",
                             "/api/v1/runs/%ff",
                             "/%",
                             "/api",
                             "/api/",
                             "/api/v1",
                             "/api/v2/about"}) {
    const RawAnswer answer = ask(get(port(), target, bearer()));
    EXPECT_TRUE(answer.status == 404 || answer.status == 400) << target << " gave " << answer.status;
    EXPECT_EQ(answer.body.find("the secret"), std::string::npos) << target;
  }
  EXPECT_EQ(ask(get(port(), "http://127.0.0.1/api/v1/about", bearer())).status, 400);
  EXPECT_EQ(ask(get(port(), "*", bearer())).status, 400);
}

TEST_F(ServerTest, RefusesUnknownParameters) {
  start();
  EXPECT_EQ(ask(get(port(), "/api/v1/about?verbose=1", bearer())).status, 400);
  EXPECT_EQ(ask(get(port(), "/api/v1/notices?a=1&a=2", bearer())).status, 400);
}

TEST_F(ServerTest, RefusesWhatIsTooLarge) {
  start();
  EXPECT_EQ(ask(get(port(), "/", "X-Long: " + std::string(20'000, 'a') + "\r\n")).status, 431);
  EXPECT_EQ(ask(get(port(), "/" + std::string(20'000, 'a'))).status, 431);
  const RawAnswer large = ask(post(port(), "/api/v1/runs/0/stop", std::string(2'000'000, ' ')));
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(code_in(large), "resource exhausted");
  EXPECT_EQ(large.header("connection"), "close");
  EXPECT_EQ(ask("no request at all\r\n\r\n").status, 400);
  EXPECT_EQ(ask_about(bearer()).status, 200) << "the others do not suffer";
}

TEST_F(ServerTest, CutsClientsThatTakeTheirTime) {
  ServerOptions options;
  options.listener.request_time = 1s;
  options.listener.idle_time = 1500ms;
  options.listener.newcomer_time = 1s;
  start(std::move(options));
  Client known(port());
  EXPECT_TRUE(known.send(get(port(), "/api/v1/about", bearer())));
  ASSERT_TRUE(known.read_answer());
  Client trickling(port());
  EXPECT_TRUE(trickling.send("GET / HT"));
  Client silent(port());
  Client half(port());
  EXPECT_TRUE(half.send(post(port(), "/api/v1/runs/0/stop", "{}").substr(0, 60)));
  EXPECT_TRUE(trickling.is_cut());
  EXPECT_TRUE(half.is_cut());
  EXPECT_TRUE(silent.is_cut());
  EXPECT_TRUE(known.is_cut());
  EXPECT_EQ(ask_about(bearer()).status, 200);
}

TEST_F(ServerTest, AnswersAHundredClientsAtOnce) {
  start();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 100; ++i) clients.push_back(std::make_unique<Client>(port()));
  for (int round = 0; round < 5; ++round) {
    for (const auto& client : clients) EXPECT_TRUE(client->send(get(port(), "/api/v1/about", bearer())));
    for (const auto& client : clients) {
      const auto answer = client->read_answer();
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->status, 200);
    }
  }
}

TEST_F(ServerTest, LetsNobodyTakeAllConnections) {
  ServerOptions options;
  options.listener.most_connections = 3;
  start(std::move(options));
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<Client>(port()));
    EXPECT_TRUE(clients.back()->send(get(port(), "/api/v1/about", bearer())));
    ASSERT_TRUE(clients.back()->read_answer());
  }
  Client more(port());
  const auto refused = more.read_answer();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 503);
  EXPECT_TRUE(clients[1]->send(get(port(), "/api/v1/about", bearer())));
  EXPECT_EQ(clients[1]->read_answer()->status, 200);
}

TEST_F(ServerTest, IsAtHandWhileHundredsOfConnectionsAreSilent) {
  ServerOptions options;
  options.listener.newcomer_time = 1h;  // so that nobody goes by himself
  start(std::move(options));
  Client known(port());
  EXPECT_TRUE(known.send(get(port(), "/api/v1/about", bearer())));
  ASSERT_TRUE(known.read_answer());
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 320; ++i) silent.push_back(std::make_unique<Client>(port()));
  EXPECT_EQ(ask_about(bearer()).status, 200);
  EXPECT_TRUE(known.send(get(port(), "/api/v1/about", bearer())));
  const auto answer = known.read_answer();
  ASSERT_TRUE(answer) << "who has shown the token gives way to nobody";
  EXPECT_EQ(answer->status, 200);
}

TEST_F(ServerTest, LetsTheAddressThatHasMostGiveWay) {
  ServerOptions options;
  options.listener.most_connections = 8;
  start(std::move(options));
  Client other(port(), "127.0.0.2");
  std::vector<std::unique_ptr<Client>> crowd;
  for (int i = 0; i < 20; ++i) crowd.push_back(std::make_unique<Client>(port()));
  EXPECT_TRUE(crowd.front()->is_cut());
  EXPECT_TRUE(other.send(get(port(), "/api/v1/about", bearer())));
  const auto answer = other.read_answer();
  ASSERT_TRUE(answer) << "the oldest of all, but alone of its address";
  EXPECT_EQ(answer->status, 200);
}

TEST_F(ServerTest, TellsARunFromAnotherOneOfItsName) {
  start({.allow_actions = true});
  const fs::path folder = folder_ / "runs" / "training";
  const std::string address = "/api/v1/runs/" + views::run_id_of("training");
  auto run = std::make_unique<LiveRun>(folder);
  run->step(0);
  const RawAnswer first = ask(get(port(), address, bearer()));
  ASSERT_EQ(first.status, 200) << first.body;
  const std::string seen = first.header("x-trainwarden-run");
  ASSERT_NE(seen, "");
  const std::string meant = fmt::format("X-Trainwarden-Run: {}\r\n", seen);
  EXPECT_EQ(ask(get(port(), address + "/steps", bearer() + meant)).status, 200);

  run.reset();
  fs::remove_all(folder);
  EXPECT_EQ(ask(get(port(), address, bearer())).status, 404) << "it is gone";
  run = std::make_unique<LiveRun>(folder, 'b');

  const RawAnswer steps = ask(get(port(), address + "/steps", bearer() + meant));
  EXPECT_EQ(steps.status, 409);
  EXPECT_EQ(code_in(steps), "replaced");
  const std::string json = "Content-Type: application/json\r\nX-Trainwarden: 1\r\n";
  const RawAnswer stop = ask(post(port(), address + "/stop", "{}", bearer() + json + meant));
  EXPECT_EQ(stop.status, 409);
  EXPECT_EQ(code_in(stop), "replaced");
  EXPECT_TRUE(!fs::exists(folder / "control") || fs::is_empty(folder / "control")) << "the new run is asked nothing";

  const RawAnswer now = ask(get(port(), address + "/steps", bearer()));
  EXPECT_EQ(now.status, 200);
  EXPECT_NE(now.header("x-trainwarden-run"), seen);
  EXPECT_EQ(format::Json::parse(now.body)["last_complete"], -1) << "nothing of the old one is left";
}

TEST_F(ServerTest, TakesSeveralRequestsWithoutWaiting) {
  start();
  Client client(port());
  EXPECT_TRUE(client.send(get(port(), "/") + get(port(), "/api/v1/about", bearer()) + get(port(), "/nothing")));
  EXPECT_EQ(client.read_answer()->status, 200);
  EXPECT_EQ(client.read_answer()->status, 200);
  EXPECT_EQ(client.read_answer()->status, 404);
}

TEST_F(ServerTest, SendsHostileNamesAsJsonThatNobodyTakesForAPage) {
  const fs::path place = folder_ / "<script>alert(1)<";
  fs::create_directories(place);
  start(place, {});
  for (const RawAnswer& answer : {ask_about(bearer()), ask(get(port(), "/<script>alert(1)</script>")),
                                  ask(get(port(), "/api/v1/runs/<script>alert(1)<%2fscript>", bearer())),
                                  ask(get(port(), "/api/v1/about?<script>=1", bearer()))}) {
    EXPECT_EQ(answer.header("content-type"), "application/json");
    EXPECT_EQ(answer.header("x-content-type-options"), "nosniff");
    EXPECT_NE(answer.header("content-security-policy").find("default-src 'none'"), std::string::npos);
  }
}

TEST_F(ServerTest, KeepsTheTokenInAFileOfTheUserAlone) {
  start();
  struct stat status {};
  ASSERT_EQ(stat((folder_ / "token").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  std::string token;
  std::ifstream(folder_ / "token") >> token;
  EXPECT_EQ(token, server_->token());
  EXPECT_EQ(token.size(), 64U);
  EXPECT_TRUE(server_->link().ends_with("/#t=" + token));
  server_.reset();
  EXPECT_FALSE(fs::exists(folder_ / "token"));
}

TEST_F(ServerTest, WritesTheTokenThroughNoLink) {
  fs::create_symlink(folder_ / "elsewhere", folder_ / "link");
  auto server = Server::start(*views::Shelf::open(folder_ / "runs"), {.token_file = folder_ / "link"});
  EXPECT_EQ(server.status().code(), Code::kPermissionDenied);
  EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
}

TEST_F(ServerTest, SaysWhichPortIsTaken) {
  start();
  ServerOptions options{.token_file = folder_ / "other"};
  options.listener.port = port();
  const auto second = Server::start(*views::Shelf::open(folder_ / "runs"), options);
  EXPECT_EQ(second.status().code(), Code::kUnavailable);
  EXPECT_NE(second.status().message().find(std::to_string(port())), std::string::npos);
  options.listener.addresses = {"no address"};
  EXPECT_EQ(Server::start(*views::Shelf::open(folder_ / "runs"), options).status().code(), Code::kInvalidArgument);
}

TEST_F(ServerTest, BeginsNoticesWithOneThatEverythingMayHaveChanged) {
  start();
  Client client(port());
  EXPECT_TRUE(client.send(get(port(), "/api/v1/notices", bearer())));
  const auto head = client.read_until("\r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_NE(head->find("Content-Type: text/event-stream"), std::string::npos);
  EXPECT_NE(head->find("Cache-Control: no-store"), std::string::npos);
  const auto event = client.read_until("\n\n");
  ASSERT_TRUE(event);
  EXPECT_NE(event->find(R"("kind":"runs")"), std::string::npos);
}

TEST_F(ServerTest, TellsOfNewRuns) {
  start();
  Client client(port());
  EXPECT_TRUE(client.send(get(port(), "/api/v1/notices", bearer())));
  ASSERT_TRUE(client.read_until(R"("kind":"runs"})"));
  // What is there at the first look is not told: runs come until one is.
  bool is_told = false;
  for (int i = 0; i < 60 && !is_told; ++i) {
    const LiveRun run(folder_ / "runs" / fmt::format("run-{}", i));
    is_told = client.read_until(R"("kind":"runs"})", 1s).has_value();
  }
  EXPECT_TRUE(is_told);
}

TEST_F(ServerTest, KeepsAnIdleStreamAlive) {
  ServerOptions options;
  options.listener.heartbeat = 50ms;
  start(std::move(options));
  Client client(port());
  EXPECT_TRUE(client.send(get(port(), "/api/v1/notices", bearer())));
  EXPECT_TRUE(client.read_until("\r\n:\n\n\r\n"));
}

TEST_F(ServerTest, EndsWhileClientsListenAndAsk) {
  start();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<Client>(port()));
    EXPECT_TRUE(clients.back()->send(get(port(), i % 2 == 0 ? "/api/v1/notices" : "/api/v1/about", bearer())));
  }
  ASSERT_TRUE(clients[0]->read_until("data: "));
  server_.reset();
  for (const auto& client : clients) EXPECT_TRUE(client->is_cut());
}

}  // namespace
}  // namespace trainwarden::server
