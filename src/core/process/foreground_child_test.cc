#include "core/process/foreground_child.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/folder_testing.h"
#include "core/process/descriptors.h"

namespace trainwarden::process {
namespace {

int run_in_foreground(const std::vector<std::string>& command, std::map<std::string, std::string> environment = {}) {
  SignalRelay relay;
  auto child = start_in_foreground({.command = command, .environment = {std::move(environment), {}}}, relay);
  return child.ok() ? wait_and_relay(*child, relay).shell_code() : -1;
}

TEST(ChildProcess, HandsOnTheExitCode) {
  EXPECT_EQ(run_in_foreground({"true"}), 0);
  EXPECT_EQ(run_in_foreground({"sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(run_in_foreground({"sh", "-c", "kill -TERM $$"}), 128 + SIGTERM);
}

TEST(ChildProcess, AddsToTheEnvironmentAndReplacesInIt) {
  setenv("TW_CHILD_TEST", "ours", 1);
  EXPECT_EQ(run_in_foreground({"sh", "-c", "test \"$TW_CHILD_TEST\" = theirs && test -n \"$PATH\""},
                              {{"TW_CHILD_TEST", "theirs"}}),
            0);
  unsetenv("TW_CHILD_TEST");
}

TEST(ChildProcess, TakesNoSettingOfSignalsFromUs) {
  // `trap` lists nothing and a blocked or ignored signal would keep the shell alive.
  EXPECT_EQ(run_in_foreground({"sh", "-c", "kill -PIPE $$; exit 9"}), 128 + SIGPIPE);
  EXPECT_EQ(run_in_foreground({"sh", "-c", "kill -INT $$; exit 9"}), 128 + SIGINT);
}

TEST(ChildProcess, HandsOnASignalThatWasSentToUsAlone) {
  SignalRelay relay;
  auto child = start_in_foreground({.command = {"sleep", "60"}}, relay);
  ASSERT_TRUE(child.ok());
  kill(getpid(), SIGTERM);
  EXPECT_EQ(wait_and_relay(*child, relay).shell_code(), 128 + SIGTERM);
}

TEST(ChildProcess, CanWriteToAFile) {
  const TestFolder folder;
  const std::string path = folder.path() / "output";
  SignalRelay relay;
  const auto file = open_output_file(path);
  ASSERT_TRUE(file.ok());
  auto child = start_in_foreground({.command = {"sh", "-c", "echo out; echo err >&2"},
                                    .descriptors = {{STDOUT_FILENO, file->get()}, {STDERR_FILENO, file->get()}}},
                                   relay);
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(wait_and_relay(*child, relay).shell_code(), 0);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "out\nerr\n");
}

TEST(ChildProcess, AProgramThatDoesNotExistIsAnError) {
  SignalRelay relay;
  const auto child = start_in_foreground({.command = {"/no/such/program"}}, relay);
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.status().code(), Code::kNotFound);
  EXPECT_NE(child.status().message().find("/no/such/program"), std::string::npos);
}

TEST(SignalRelay, GivesTheSignalMaskBack) {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  { SignalRelay relay; }
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
}

TEST(SignalRelay, SaysWhenNothingCame) {
  SignalRelay relay;
  EXPECT_FALSE(relay.wait(std::chrono::milliseconds(1)).has_value());
}

TEST(SignalRelay, ASignalFromAProcessDoesNotComeFromTheTerminal) {
  SignalRelay relay;
  kill(getpid(), SIGUSR1);
  const auto received = relay.wait(std::chrono::seconds(60));
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(received->number, SIGUSR1);
  EXPECT_FALSE(received->from_terminal);
}

}  // namespace
}  // namespace trainwarden::process
