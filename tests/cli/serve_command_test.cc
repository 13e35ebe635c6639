// serve, run --page, export --to page.
#include <fstream>

#include <signal.h>
#include <sys/stat.h>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

using ServeCommands = CliTest;

TEST_F(ServeCommands, SaysInOneLineWhereItServesAndEndsWhenAsked) {
  train("first", {"--steps", "2"});
  const fs::path token_file = folder_ / "token";
  Background server(cli_command({"serve", "--json", "--token-file", token_file.string()}), folder_);
  server.await_output("}\n");
  const json started = json::parse(server.out_so_far());
  const std::string url = started.at("url");
  const std::string origin = "http://127.0.0.1:" + std::to_string(started.at("port").get<int>());
  EXPECT_EQ(url.rfind(origin + "/#t=", 0), 0U) << url;
  EXPECT_EQ(started.at("token_file"), token_file.string());
  EXPECT_EQ(read_file(token_file), url.substr(origin.size() + 4) + "\n");
  struct stat status {};
  ASSERT_EQ(stat(token_file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);

  kill(server.id(), SIGTERM);
  const Outcome outcome = server.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_FALSE(fs::exists(token_file));
}

TEST_F(ServeCommands, LinksToTheRunThatIsServed) {
  train("first", {"--steps", "2"});
  Background server(cli_command({"serve", "first"}), folder_);
  server.await_output("/run/first\n");
  EXPECT_EQ(server.out_so_far().rfind("http://127.0.0.1:", 0), 0U);
}

TEST_F(ServeCommands, CannotBeReachedFromElsewhereWithoutBeingAsked) {
  for (const char* address : {"0.0.0.0", "::", "192.168.1.1"}) {
    const Outcome outcome = cli({"serve", "--bind", address});
    EXPECT_EQ(outcome.exit_code, 2) << address;
    EXPECT_NE(outcome.err.find("--allow-remote"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(cli({"serve", "--bind", "127.0.0.1.example"}).exit_code, 2);
  EXPECT_EQ(cli({"serve", "no such run"}).exit_code, 1);
  EXPECT_EQ(cli({"serve", "--port", "70000"}).exit_code, 2);
}

TEST_F(ServeCommands, ATrainingGoesOnWithItsPage) {
  const Outcome outcome =
      cli({"run", "--page", "--name", "first", "--attach", "off", "--", tiny_training().string(), "--steps", "2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("/run/first\n"), std::string::npos) << outcome.err;
}

TEST_F(ServeCommands, ARunBecomesOneFile) {
  train("first", {"--steps", "2"});
  const std::string file = (folder_ / "first.html").string();
  const Outcome outcome = cli({"export", "first", "--to", "page", file, "--json"});
  if (outcome.exit_code != 0) {  // built without its page
    EXPECT_NE(outcome.err.find("was built without its page"), std::string::npos) << outcome.err;
    return;
  }
  EXPECT_EQ(outcome.json().at("bytes"), fs::file_size(file));
  EXPECT_EQ(outcome.json().at("left_out"), 0);
  EXPECT_GT(outcome.json().at("answers"), 5);
  EXPECT_NE(read_file(file).find("data-run=\"first\""), std::string::npos);
  EXPECT_EQ(cli({"export", "first", "--to", "page", file}).exit_code, 1) << "it is there already";
  EXPECT_EQ(cli({"export", "first", "--to", "page", file, "--force"}).exit_code, 0);
}

}  // namespace
}  // namespace trainwarden::testing_cli
