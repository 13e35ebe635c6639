#include "core/process/captured_output.h"

#include <gtest/gtest.h>

namespace trainwarden::process {
namespace {

using namespace std::chrono_literals;

Program ask(const std::string& text) {
  Program program;
  program.command = {"/bin/sh", "-c", text};
  return program;
}

TEST(CapturedOutput, IsWhatTheProgramWroteAndHowItEnded) {
  const auto answer = capture_output(ask("echo answer; echo error >&2; cat; exit 3"), 1000, 60s);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(answer->text, "answer\n");
  EXPECT_EQ(answer->errors, "error\n");
  EXPECT_EQ(answer->exit.number, 3);
}

TEST(CapturedOutput, IsBounded) {
  const auto answer = capture_output(ask("yes | head -c 5000000; printf end"), 1000, 60s);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(answer->text.size(), 1000u);
  EXPECT_TRUE(answer->text.ends_with("end"));
}

TEST(CapturedOutput, TakesBothStreamsAtOnce) {
  const auto answer = capture_output(ask("yes e | head -c 1000000 >&2; yes o | head -c 1000000"), 1000, 60s);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(answer->text.substr(0, 2), "o\n");
  EXPECT_EQ(answer->errors.substr(0, 2), "e\n");
}

TEST(CapturedOutput, DoesNotWaitForWhatIsLeftBehind) {
  const auto answer = capture_output(ask("sleep 600 & echo $!"), 1000, 60s);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  ::kill(std::stoi(answer->text), SIGKILL);
}

TEST(CapturedOutput, TakesNoLongerThanItMay) {
  EXPECT_EQ(capture_output(ask("sleep 600"), 1000, 100ms).status().code(), Code::kDeadlineExceeded);
}

TEST(CapturedOutput, OfNoProgramIsAnError) {
  Program program;
  program.command = {"no-such-program-here"};
  EXPECT_EQ(capture_output(program, 1000, 60s).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace trainwarden::process
