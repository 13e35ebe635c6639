// What people try on a server that listens on this machine, each with the refusal that it is to meet. Behind every
// attack the server answers somebody who may ask, at once.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/format/json.h"
#include "ui/answers/live_run_testing.h"
#include "ui/answers/router.h"
#include "ui/server/client_testing.h"
#include "ui/server/server.h"
#include "ui/views/run_on_disk.h"

namespace trainwarden::server {
namespace {

using answers::LiveRun;
using answers::Method;
using answers::Route;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int kCut = 0;  // the connection ends without an answer
constexpr const char* kSecret = "THE-SECRET";
constexpr const char* kJson = "Content-Type: application/json\r\nX-Trainwarden: 1\r\n";

struct Attack {
  std::string name;
  std::string bytes;
  std::set<int> expected;  // statuses
  std::string says{};      // that the answer is to hold
};

// Two steps with a small tensor.
TestRun small_run() {
  TestRun run;
  for (std::int64_t step = 0; step < 2; ++step) {
    run.add({.step = step, .tensors = {kept("w", {1, 2, 3, 4}), reduced("gradient/w", {1, -1}, {"gradients"})}});
  }
  run.end();
  return run;
}

class AttackTest : public testing::Test {
 protected:
  AttackTest() : first_(small_run(), "runs/first"), outside_(small_run(), "outside") {}

  void SetUp() override {
    folder_ = views::RunOnDisk::place();
    std::ofstream(folder_ / "secret") << kSecret;
    std::ofstream(folder_ / "secret.json") << fmt::format(R"({{"failing_step":1,"word":"{}"}})", kSecret);
    std::ofstream(folder_ / "evil.py") << "import trainwarden\nopen('" << marker().string() << "','w').write('ran')\n";
    ServerOptions options;
    options.token_file = folder_ / "token";
    options.listener.newcomer_time = 1s;
    options.listener.request_time = 1s;
    auto shelf = views::Shelf::open(folder_ / "runs");
    ASSERT_TRUE(shelf.ok()) << shelf.status().to_string();
    auto server = Server::start(*std::move(shelf), options);
    ASSERT_TRUE(server.ok()) << server.status().to_string();
    server_ = *std::move(server);
  }
  void TearDown() override {
    server_.reset();
    EXPECT_FALSE(fs::exists(marker())) << "the server ran a program of an attacker's";
    fs::remove_all(folder_);
  }

  std::uint16_t port() const { return server_->port(); }
  fs::path marker() const { return folder_ / "ran"; }
  std::string bearer() const { return fmt::format("Authorization: Bearer {}\r\n", server_->token()); }
  static std::string first() { return "/api/v1/runs/" + views::run_id_of("first"); }
  std::string get_it(std::string_view target, const std::string& headers = "") const {
    return get(port(), target, bearer() + headers);
  }
  std::string post_it(std::string_view target, std::string_view body, const std::string& headers = kJson) const {
    return post(port(), target, body, bearer() + headers);
  }

  void expect_refused(const Attack& attack) {
    Client client(port());
    client.send(attack.bytes);
    const auto answer = client.read_answer(attack.bytes.starts_with("HEAD"));
    const int status = answer ? answer->status : kCut;
    EXPECT_TRUE(attack.expected.contains(status))
        << attack.name << " is answered with " << status << ": " << (answer ? answer->body.substr(0, 300) : "");
    if (answer) {
      expect_harmless(attack, *answer);
      EXPECT_NE(answer->body.find(attack.says), std::string::npos) << attack.name << ": " << answer->body;
    }
    expect_alive(attack.name);
    ++attacks_;
  }
  void expect_refused(const std::vector<Attack>& attacks) {
    for (const Attack& attack : attacks) expect_refused(attack);
  }

  std::vector<Attack> against(const Route& route) const;

  fs::path folder_;
  std::size_t attacks_ = 0;

 private:
  static void expect_harmless(const Attack& attack, const RawAnswer& answer) {
    EXPECT_EQ(answer.body.find(kSecret), std::string::npos) << attack.name;
    EXPECT_EQ(answer.head.find(kSecret), std::string::npos) << attack.name;
    EXPECT_EQ(answer.header("access-control-allow-origin"), "") << attack.name;
    EXPECT_EQ(answer.header("set-cookie"), "") << attack.name;
    EXPECT_EQ(answer.header("x-content-type-options"), "nosniff") << attack.name;
    if (answer.status >= 400 && !attack.bytes.starts_with("HEAD")) {
      EXPECT_TRUE(format::Json::parse(answer.body, nullptr, false).is_object()) << attack.name;
    }
  }
  void expect_alive(const std::string& after) {
    Client client(port());
    EXPECT_TRUE(client.send(get_it("/api/v1/about")));
    const auto answer = client.read_answer();
    ASSERT_TRUE(answer) << "no answer after " << after;
    EXPECT_EQ(answer->status, 200) << after;
  }

  const views::RunOnDisk first_;
  const views::RunOnDisk outside_;
  std::unique_ptr<Server> server_;
};

std::string filled(std::string path, const std::string& run) {
  const std::pair<std::string, std::string> words[] = {
      {"{run}", run}, {"{tensor}", views::tensor_id_of("w")}, {"{step}", "1"}};
  for (const auto& [name, word] : words) {
    const std::size_t at = path.find(name);
    if (at != std::string::npos) path.replace(at, name.size(), word);
  }
  return "/api/v1" + path;
}

// What no address may answer, whatever it is.
std::vector<Attack> AttackTest::against(const Route& route) const {
  const std::string target = filled(route.path, views::run_id_of("first"));
  const std::string nowhere = filled(route.path, views::run_id_of("no such run"));
  const bool reads = route.method == Method::kGet;
  const auto ask = [&](const std::string& address, const std::string& headers) {
    return reads ? get(port(), address, headers) : post(port(), address, "{}", headers + kJson);
  };
  const std::string wrong_token = "Authorization: Bearer " + std::string(64, 'a') + "\r\n";
  std::vector<Attack> attacks = {
      {"no token", ask(target, ""), {401}},
      {"a wrong token", ask(target, wrong_token), {401}},
      {"a cookie", ask(target, fmt::format("Cookie: trainwarden-{}={}\r\n", port(), std::string(64, 'a'))), {401}},
      {"a foreign page", ask(target, bearer() + "Origin: http://evil.example\r\n"), {403}},
      {"a page of another port", ask(target, bearer() + "Origin: http://127.0.0.1:1\r\n"), {403}},
      {"the other method", reads ? post_it(target, "{}") : get_it(target), {405}},
      {"no such run", ask(nowhere, bearer()), {400, 403, 404}},
  };
  if (reads) {
    attacks.push_back({"an unknown parameter", get_it(target + "?__proto__=1"), {400}});
    attacks.push_back({"a parameter twice", get_it(target + "?step=1&step=2"), {400}});
  } else {
    attacks.push_back({"a form", post_it(target, "a=1", "Content-Type: text/plain\r\n"), {415}});
    attacks.push_back({"no word of ours", post_it(target, "{}", "Content-Type: application/json\r\n"), {403}});
  }
  if (route.path.find("{run}") == std::string::npos) {
    std::erase_if(attacks, [](const Attack& attack) { return attack.name == "no such run"; });
  }
  for (Attack& attack : attacks) attack.name += " at " + route.path;
  return attacks;
}

TEST_F(AttackTest, NoAddressAnswersWhoMayNotAsk) {
  for (const Route& route : answers::all_routes()) expect_refused(against(route));
  EXPECT_GE(attacks_, 250U);
}

TEST_F(AttackTest, NoPathLeadsOutOfTheRuns) {
  for (const char* target : {"/../secret",
                             "/../../secret",
                             "/%2e%2e/secret",
                             "/%2E%2E/%2E%2E/secret",
                             "/..%2fsecret",
                             "/..%2Fsecret",
                             "/..%5csecret",
                             "/.%2e/secret",
                             "/./../secret",
                             "//secret",
                             "///../secret",
                             "/assets/../../secret",
                             "/assets/%2e%2e/%2e%2e/secret",
                             "/secret",
                             "/secret.json",
                             "/evil.py",
                             "/token",
                             "/index.html/../../secret",
                             "/index.html%00.svg",
                             "/api/v1/../../secret",
                             "/api/v1/..",
                             "/api/v1/%00",
                             "/api/v1/%",
                             "/api/v1/%zz",
                             "/api/v1/%c0%ae%c0%ae/secret",
                             "/api/v1/runs/../../secret",
                             "/api/v1/runs/..%2f..%2fsecret",
                             "/api/v1/runs/..%252f..%252fsecret",
                             "/api/v1/runs/..%5c..%5csecret",
                             "/api/v1/runs/%2e%2e",
                             "/api/v1/runs/%2e%2e/tensors/%2e%2e/secret",
                             "/api/v1/runs/first",
                             "/api/v1/runs/first%2f..%2f..%2fsecret",
                             "/api/v1/runs/%2fetc%2fpasswd",
                             "/api/v1/runs//etc/passwd",
                             "/api/v1/runs/outside",
                             "/api/v1/runs/..%2foutside",
                             "/api/v1/runs/%ff",
                             "/api/v1/runs/%ed%a0%80",
                             "/api/v1/runs/~root",
                             "/api/v1/runs/file:%2f%2f%2fetc%2fpasswd",
                             "/api/v1/runs/$(id)",
                             "/api/v1/runs/`id`",
                             "/api/v1/runs/%0d%0aX-Evil:1",
                             "/api/v1/runs/-",
                             "/api/v1/runs/0",
                             "/api/v1/runs/00000000000000000000000000000000",
                             "/%",
                             "/api",
                             "/api/",
                             "/api/v1",
                             "/api/v1/",
                             "/api/v1//about",
                             "/api/v1/about/",
                             "/api/v2/about",
                             "/API/v1/about",
                             "/api/v1/session",
                             "/api/v1;/about",
                             "/.git/config",
                             "/.env"}) {
    expect_refused({target, get_it(target), {400, 404}});
  }
  EXPECT_GE(attacks_, 50U);
}

TEST_F(AttackTest, NothingButTheTokenIsTheToken) {
  const std::string token = bearer().substr(22, 64);
  std::string flipped = token;
  flipped.front() = flipped.front() == '0' ? '1' : '0';
  for (const std::string& authorization : std::vector<std::string>{std::string(),
                                                                   std::string("Bearer"),
                                                                   std::string("Bearer "),
                                                                   "Bearer " + flipped,
                                                                   "Bearer " + token + "0",
                                                                   "Bearer " + token.substr(1),
                                                                   "Bearer " + token.substr(0, 63),
                                                                   "Bearer \"" + token + "\"",
                                                                   "Basic " + token,
                                                                   "Basic dHJhaW53YXJkZW46",
                                                                   token,
                                                                   "Token " + token,
                                                                   "Bearer " + token + ", Bearer " + token,
                                                                   "Bearer " + token + " " + token,
                                                                   "Bearer," + token,
                                                                   "Digest username=\"a\"",
                                                                   std::string("Bearer null"),
                                                                   std::string("Bearer undefined"),
                                                                   "Bearer " + std::string(64, '0'),
                                                                   "Bearer " + std::string(8000, 'a'),
                                                                   "Bearer %" + token,
                                                                   "Bearer\x01" + token,
                                                                   "Bearer=" + token}) {
    expect_refused({"Authorization: " + authorization.substr(0, 80),
                    get(port(), "/api/v1/about", "Authorization: " + authorization + "\r\n"),
                    {400, 401}});
  }
  expect_refused(
      {{"in a cookie", get(port(), "/api/v1/about", "Cookie: token=" + token + "\r\n"), {401}},
       {"in the address", get(port(), "/api/v1/about?token=" + token), {401}},
       {"in the address as a bearer", get(port(), "/api/v1/about?access_token=" + token), {401}},
       {"in a header of its own", get(port(), "/api/v1/about", "X-Token: " + token + "\r\n"), {401}},
       {"for a proxy", get(port(), "/api/v1/about", "Proxy-Authorization: Bearer " + token + "\r\n"), {401}},
       {"twice", get_it("/api/v1/about", bearer()), {401}},
       {"once right, once wrong", get_it("/api/v1/about", "Authorization: Bearer 0\r\n"), {401}},
       {"as a name and a password", get(port(), fmt::format("http://x:{}@127.0.0.1/api/v1/about", token)), {400}}});
}

TEST_F(AttackTest, NoOtherNameIsAnswered) {
  const auto as = [&](const std::string& lines) {
    return "GET /api/v1/about HTTP/1.1\r\n" + lines + bearer() + "\r\n";
  };
  for (const char* host : {"evil.example",
                           "localhost.evil.example",
                           "localhost@evil.example",
                           "evil.example@localhost",
                           "127.0.0.1.evil.example",
                           "127.0.0.1:80:evil",
                           "127.0.0.1:http",
                           "127.0.0.1:999999",
                           "127.0.0.1 evil.example",
                           "127.0.0.1,evil.example",
                           "127.0.0.1/evil.example",
                           "127.0.0.1#evil.example",
                           "127.0.0.1\\evil.example",
                           "[::1",
                           "::1",
                           "[::1].evil.example",
                           "[::ffff:127.0.0.1]",
                           "0.0.0.0",
                           "127.1",
                           "2130706433",
                           "0x7f000001",
                           "017700000001",
                           "127.0.0.2",
                           "localhost.",
                           "loc\xc3\xa4lhost",
                           "%6cocalhost",
                           "localhost%00",
                           "localhost:-1",
                           "localhost:80 ",
                           " ",
                           "."}) {
    // Blanks around a value are no part of it.
    const std::set<int> expected = std::string(host) == "localhost:80 " ? std::set<int>{200} : std::set<int>{400, 403};
    expect_refused({fmt::format("Host: {}", host), as(fmt::format("Host: {}\r\n", host)), expected});
  }
  expect_refused({{"no Host", as(""), {400, 403}},
                  {"two Hosts", as(fmt::format("Host: 127.0.0.1:{}\r\nHost: evil.example\r\n", port())), {400, 403}},
                  {"two equal Hosts", as("Host: localhost\r\nHost: localhost\r\n"), {400, 403}},
                  {"a forwarded Host", as("Host: evil.example\r\nX-Forwarded-Host: localhost\r\n"), {403}},
                  {"an absolute target",
                   fmt::format("GET http://evil.example/api/v1/about HTTP/1.1\r\nHost: localhost\r\n{}\r\n", bearer()),
                   {400}}});
}

TEST_F(AttackTest, NoPageOfAnotherSiteIsAnswered) {
  for (const std::string& origin :
       {std::string("http://evil.example"), std::string("https://evil.example"), std::string("null"), std::string(),
        std::string("http://127.0.0.1:1"), std::string("http://127.0.0.1"), fmt::format("http://localhost:{}", port()),
        fmt::format("http://127.0.0.1:{}.evil.example", port()), fmt::format("http://127.0.0.1:{}/", port()),
        fmt::format("ftp://127.0.0.1:{}", port()), fmt::format("//127.0.0.1:{}", port()),
        fmt::format("http://127.0.0.1:{} http://evil.example", port()), fmt::format("http://evil@127.0.0.1:{}", port()),
        std::string("chrome-extension://abc"), std::string("file://"), std::string("moz-extension://abc"),
        fmt::format("http://[::1]:{}", port()), std::string(4000, 'o')}) {
    expect_refused({"Origin: " + origin.substr(0, 60), get_it("/api/v1/about", "Origin: " + origin + "\r\n"), {403}});
  }
  const std::string own = fmt::format("Origin: http://127.0.0.1:{}\r\n", port());
  expect_refused({"two Origins", get_it("/api/v1/about", own + "Origin: http://evil.example\r\n"), {403}});
  for (const char* site : {"cross-site", "same-site", "Same-Origin", "evil", "none,cross-site"}) {
    expect_refused({site, get_it("/api/v1/runs", fmt::format("Sec-Fetch-Site: {}\r\n", site)), {403}});
  }
  for (const char* destination :
       {"iframe", "frame", "embed", "object", "script", "image", "style", "worker", "empty"}) {
    const auto headers =
        fmt::format("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: {}\r\n", destination);
    expect_refused({std::string("the page as ") + destination, get_it("/", headers), {403}});
  }
}

TEST_F(AttackTest, NoOtherMethodDoesAnything) {
  for (const char* method : {"PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "MKCOL", "LOCK",
                             "PURGE", "BREW", "get", "Get", "post"}) {
    for (const std::string& target : {std::string("/"), first(), first() + "/stop"}) {
      expect_refused({fmt::format("{} {}", method, target),
                      fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", method, target, bearer()),
                      {400, 405}});
    }
  }
  for (const char* override_header :
       {"X-HTTP-Method-Override: POST", "X-Method-Override: POST", "X-HTTP-Method: POST"}) {
    expect_refused({override_header, get_it(first() + "/stop", fmt::format("{}\r\n", override_header)), {405}});
  }
}

TEST_F(AttackTest, NoRequestIsReadInTwoWays) {
  const auto request = [&](const std::string& headers, const std::string& body) {
    return fmt::format("POST {}/rules/what-if HTTP/1.1\r\nHost: localhost\r\n{}{}{}\r\n{}", first(), bearer(), kJson,
                       headers, body);
  };
  const std::string hidden = "GET /api/v1/runs HTTP/1.1\r\nHost: evil.example\r\n\r\n";
  expect_refused({
      {"two lengths", request("Content-Length: 2\r\nContent-Length: 30\r\n", "{}" + hidden), {400}},
      {"two lengths in one", request("Content-Length: 2, 30\r\n", "{}" + hidden), {400}},
      {"a length and chunks",
       request("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + hidden),
       {400}},
      {"chunks and a length",
       request("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", "0\r\n\r\n" + hidden),
       {400}},
      {"a negative length", request("Content-Length: -1\r\n", "{}"), {400}},
      {"a length with a sign", request("Content-Length: +2\r\n", "{}"), {400}},
      {"a length of 2^64", request("Content-Length: 18446744073709551616\r\n", "{}"), {400}},
      {"a length of 2^64-1", request("Content-Length: 18446744073709551615\r\n", "{}"), {400, 413}},
      {"a length of hexadecimal digits", request("Content-Length: 0x2\r\n", "{}"), {400}},
      {"a length that is a word", request("Content-Length: two\r\n", "{}"), {400}},
      {"a chunk of a word", request("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"), {400}},
      {"a chunk of 2^64", request("Transfer-Encoding: chunked\r\n", "10000000000000000\r\n{}"), {400, 413}},
      {"a negative chunk", request("Transfer-Encoding: chunked\r\n", "-2\r\n{}\r\n0\r\n\r\n"), {400}},
      {"a name with a blank", request("Content-Length : 2\r\n", "{}"), {400}},
      {"a folded header", request("Content-Length: 2\r\nX-A: 1\r\n b: 2\r\n", "{}"), {400}},
      {"a bare line feed", "GET /api/v1/runs HTTP/1.1\nHost: localhost\n\n", {400, kCut}},
      {"a carriage return in a value", get_it("/api/v1/about", "X-A: 1\rX-B: 2\r\n"), {400}},
      {"a zero in a value",
       get_it("/api/v1/about", std::string("X-A: 1\0"
                                           "2\r\n",
                                           10)),
       {400}},
      {"a header without a colon", get_it("/api/v1/about", "no colon\r\n"), {400}},
      {"a header without a name", get_it("/api/v1/about", ": 1\r\n"), {400}},
      {"a GET with a body", get_it("/api/v1/about", "Content-Length: 10\r\n") + "0123456789", {400}},
      {"a GET with chunks", get_it("/api/v1/about", "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n", {400}},
      {"a HEAD with a body", "HEAD / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nabcde", {400}},
      {"another protocol", "GET / SPDY/3\r\nHost: localhost\r\n\r\n", {400}},
      {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400}},
      {"HTTP/9", "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", {400}},
      {"no version", "GET /\r\n\r\n", {400}},
      {"a greeting of TLS", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), {400, kCut}},
      {"binary", std::string("\0\1\2\3\r\n\r\n", 8), {400}},
      {"blanks in the target", "GET /api/v1/about HTTP/1.1 HTTP/1.1\r\nHost: localhost\r\n\r\n", {400}},
      {"a target without a slash", "GET api/v1/about HTTP/1.1\r\nHost: localhost\r\n\r\n", {400}},
      {"a star", "GET * HTTP/1.1\r\nHost: localhost\r\n\r\n", {400}},
  });
}

TEST_F(AttackTest, NothingTooLargeIsTaken) {
  std::string many;
  for (int i = 0; i < 2000; ++i) many += fmt::format("X-{}: 1\r\n", i);
  std::string parameters;
  for (int i = 0; i < 1000; ++i) parameters += fmt::format("&p{}=1", i);
  const std::string deep(400'000, '[');
  const std::string what_if = first() + "/rules/what-if";
  const std::string large = R"({"rule":")" + std::string(1'100'000, 'a') + R"("})";
  expect_refused({
      {"a long header", get_it("/", "X-Long: " + std::string(20'000, 'a') + "\r\n"), {431}},
      {"a long name of a header", get_it("/", std::string(20'000, 'a') + ": 1\r\n"), {400, 431}},
      {"many headers", get_it("/", many), {431}},
      {"a long target", get_it("/" + std::string(20'000, 'a')), {431}},
      {"a long query", get_it("/api/v1/runs?" + std::string(20'000, 'a')), {431}},
      {"many parameters", get_it("/api/v1/runs?a=1" + parameters), {400, 431}},
      {"a long method", std::string(20'000, 'A') + " / HTTP/1.1\r\nHost: localhost\r\n\r\n", {400, 431}},
      {"a large body", post_it(what_if, large), {413}},
      {"a large body that never comes",
       fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\n{}{}Content-Length: 1073741824\r\n\r\n", what_if, bearer(),
                   kJson),
       {413}},
      {"lists in lists", post_it(what_if, deep), {400}},
      {"lists in a parameter", post_it(what_if, R"({"rule":"AllZero","now":)" + deep), {400}},
      {"lists that close again", post_it(what_if, deep + std::string(deep.size(), ']')), {400}},
      {"objects in objects", post_it(what_if, std::string(1000, '{')), {400}},
      {"objects that are whole",
       post_it(what_if,
               [] {
                 std::string text;
                 for (int i = 0; i < 50'000; ++i) text += R"({"a":)";
                 return text + "1" + std::string(50'000, '}');
               }()),
       {400}},
      {"many parameters of a rule",
       post_it(what_if,
               [] {
                 std::string text = R"({"rule":"AllZero","now":{"a":"1")";
                 for (int i = 0; i < 20'000; ++i) text += fmt::format(R"(,"p{}":"1")", i);
                 return text + "}}";
               }()),
       {400}},
  });
}

TEST_F(AttackTest, NoBodyIsTakenForAnother) {
  const std::string what_if = first() + "/rules/what-if";
  for (const std::string& body : {std::string(),
                                  std::string("null"),
                                  std::string("[]"),
                                  std::string("1"),
                                  std::string("\"rule\""),
                                  std::string("{"),
                                  std::string("{}{}"),
                                  std::string("{\"rule\":1}"),
                                  std::string("{\"rule\":null}"),
                                  std::string("{\"rule\":[\"AllZero\"]}"),
                                  std::string("{\"rule\":\"AllZero\",\"now\":[]}"),
                                  std::string("{\"rule\":\"AllZero\",\"now\":{\"a\":1}}"),
                                  std::string("{\"rule\":\"AllZero\",\"parameters\":1}"),
                                  std::string("{\"rule\":\"\xff\"}"),
                                  std::string("{\"rule\":\"\\ud800\"}"),
                                  std::string("{\"rule\":NaN}"),
                                  std::string("{'rule':'AllZero'}"),
                                  std::string("// {}"),
                                  std::string("\xef\xbb\xbf[]"),
                                  std::string(1000, ' '),
                                  std::string("{\"rule\":\"all_zero\"}"),
                                  std::string("{\"rule\":\"AllZero\\u0000\"}"),
                                  std::string("{\"rule\":\"../AllZero\"}"),
                                  std::string("a=1&b=2")}) {
    expect_refused({"the body " + body.substr(0, 60), post_it(what_if, body), {400}});
  }
  const std::string good = R"({"rule":"AllZero"})";
  for (const char* type : {"text/plain", "text/html", "application/x-www-form-urlencoded", "multipart/form-data",
                           "application/json-seq", "application/jsonp", "*/*", "json"}) {
    const auto headers = fmt::format("Content-Type: {}\r\nX-Trainwarden: 1\r\n", type);
    expect_refused({std::string("a body of ") + type, post_it(what_if, good, headers), {415}});
  }
}

TEST_F(AttackTest, NoParameterOfARuleLeadsOutOfTheRun) {
  const std::string what_if = first() + "/rules/what-if";
  const std::string file = (folder_ / "evil.py").string();
  const auto ask = [&](const std::string& rule, const std::string& field, const std::string& name,
                       const std::string& value) {
    const format::OrderedJson body = {{"rule", rule}, {field, {{name, value}}}};
    return post_it(what_if, format::dump_json(body));
  };
  for (const char* field : {"now", "parameters"}) {
    for (const char* name : {"rule_file", "expression", "host.time_limit", "host.memory_limit", "python", "command",
                             "other_trials", "__proto__", "rule"}) {
      expect_refused({fmt::format("{} in {}", name, field),
                      ask("VanishingGradient", field, name, file),
                      {400},
                      "has no parameter"});
    }
  }
  for (const std::string& rule :
       {file, file + ":Evil", std::string("./evil.so"), std::string("evil"), std::string("SimilarAcrossRuns"),
        std::string("CheckpointIntegrity"), std::string("Expression"), std::string("l2(gradient/*) > 1"),
        std::string("VanishingGradient:rule_file=" + file)}) {
    expect_refused({"the rule " + rule, ask(rule, "parameters", "rule_file", file), {400}});
    expect_refused({"the rule " + rule + " alone", post_it(what_if, format::dump_json({{"rule", rule}})), {400}});
  }
  expect_refused({"other runs", ask("SimilarAcrossRuns", "parameters", "other_trials", "/etc"), {400}});
}

TEST_F(AttackTest, NobodyActsWhereOnlyLookingIsAllowed) {
  for (const char* target : {"/stop", "/save", "/stop?force=1", "/stop/", "//stop", "/Stop", "/stop%20"}) {
    expect_refused({target, post_it(first() + target, "{}"), {400, 403, 404, 405}});
  }
  EXPECT_FALSE(fs::exists(folder_ / "runs/first/control"));
}

TEST_F(AttackTest, NoNumberIsTakenThatIsNone) {
  const std::string tensor = first() + "/tensors/" + views::tensor_id_of("w");
  for (const char* number : {"-1", "NaN", "1e3", "0x1", "9223372036854775808", "99999999999999999999", "1.5", "", " 1",
                             "1;2", "1%00", "%2e%2e", "one", "--1", "1,2,"}) {
    expect_refused({fmt::format("limit {}", number), get_it(first() + "/events?limit=" + number), {400}});
    expect_refused({fmt::format("step {}", number), get_it(tensor + "/steps/" + number + "/value"), {400, 404}});
    expect_refused({fmt::format("slice {}", number),
                    get_it(tensor + "/steps/1/value?slice=[" + number + ":" + number + ":" + number + ":0]"),
                    {400, 404}});
  }
  for (const char* format : {"exe", "../csv", "csv%00", "", "CSV ", "npy,csv"}) {
    expect_refused({fmt::format("format {}", format), get_it(tensor + "/steps/1/value?format=" + format), {400}});
  }
}

TEST_F(AttackTest, NoRangeLeadsOutOfTheAnswer) {
  const auto whole = [&](const char* range) {
    return Attack{fmt::format("Range: {}", range), get_it("/api/v1/about", fmt::format("Range: {}\r\n", range)), {}};
  };
  for (const char* range : {"bytes=99999-", "bytes=-0", "bytes=9-1", "bytes=9223372036854775807-"}) {
    Attack attack = whole(range);
    attack.expected = {416};
    expect_refused(attack);
  }
  for (const char* range : {"bytes=", "bytes=-", "bytes=a-b", "bytes=0-1,2-3", "bytes=--1",
                            "bytes=18446744073709551616-", "octets=0-1", "bytes 0-1", "bytes=0-1;x", "bytes=0--1"}) {
    Attack attack = whole(range);  // none that is understood: the whole is sent, as HTTP has it
    attack.expected = {200};
    expect_refused(attack);
  }
  for (const char* id : {"-1", "x", "1.5", "99999999999999999999", "1\x01", "%31"}) {
    expect_refused({fmt::format("Last-Event-ID: {}", id),
                    get_it("/api/v1/notices", fmt::format("Last-Event-ID: {}\r\n", id)),
                    {400}});
  }
}

TEST_F(AttackTest, NoOtherRunAnswersUnderItsName) {
  const fs::path place = folder_ / "runs/again";
  const std::string address = "/api/v1/runs/" + views::run_id_of("again");
  auto run = std::make_unique<LiveRun>(place);
  run->step(0);
  Client client(port());
  client.send(get_it(address));
  const auto seen = client.read_answer();
  ASSERT_TRUE(seen);
  const std::string meant = fmt::format("X-Trainwarden-Run: {}\r\n", seen->header("x-trainwarden-run"));
  const std::string etag = fmt::format("If-None-Match: {}\r\n", seen->header("etag"));
  run.reset();
  fs::remove_all(place);
  for (const char* part : {"", "/steps", "/tensors", "/rules", "/events"}) {
    expect_refused({fmt::format("the removed run's {}", part), get_it(address + part, meant), {404}});
  }
  run = std::make_unique<LiveRun>(place, 'b');
  for (const char* part : {"", "/steps", "/tensors", "/rules", "/events", "/blackboxes", "/series/choices"}) {
    expect_refused({fmt::format("the replaced run's {}", part), get_it(address + part, meant), {409}});
    expect_refused({fmt::format("the replaced run's {}, cached", part), get_it(address + part, meant + etag), {409}});
  }
  expect_refused({{"the replaced run's what-if",
                   post_it(address + "/rules/what-if", R"({"rule":"AllZero"})", kJson + meant),
                   {409}},
                  {"the replaced run's stop", post_it(address + "/stop", "{}", kJson + meant), {403}},
                  {"a cached answer of the replaced run", get_it(address, etag), {200}},
                  {"an invented run", get_it(address, "X-Trainwarden-Run: ../../x\r\n"), {409}}});
}

TEST_F(AttackTest, NobodyIsWaitedFor) {
  const std::string slow = fmt::format("POST {}/rules/what-if HTTP/1.1\r\nHost: localhost\r\n", first());
  expect_refused(
      {{"nothing at all", "", {kCut}},
       {"half a line", "GET /api/v1/ab", {kCut}},
       {"half a head", "GET / HTTP/1.1\r\nHost: loc", {kCut}},
       {"half a body", slow + bearer() + kJson + "Content-Length: 20\r\n\r\n{\"rule\"", {kCut}},
       {"half a chunk", slow + bearer() + kJson + "Transfer-Encoding: chunked\r\n\r\n20\r\n{\"rule", {kCut}},
       {"a body without a token", slow + kJson + "Content-Length: 1000\r\n\r\n", {401}},
       {"chunks without a token", slow + kJson + "Transfer-Encoding: chunked\r\n\r\n", {401}},
       {"a question before a body", slow + kJson + "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n", {401}}});
}

}  // namespace
}  // namespace trainwarden::server
