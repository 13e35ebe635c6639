#include "work/ssh/ssh_target.h"

#include <gtest/gtest.h>

#include "work/ssh/ssh_testing.h"

namespace trainwarden::ssh {
namespace {

using P = jobs::JobPhase;

const SshTarget kTarget{{"me@gpu1", 22}, "/home/me/trainwarden", {"~/venv/bin"}, kTestId};

TEST(SshTarget, IsReadAsItWasWritten) {
  SentJob job;
  EXPECT_EQ(read_target(job.here.place()).status().code(), Code::kNotFound);
  ASSERT_TRUE(write_target(job.here.place(), kTarget).ok());
  EXPECT_EQ(*read_target(job.here.place()), kTarget);
  EXPECT_EQ(write_target(job.here.place(), kTarget).code(), Code::kAlreadyExists);
}

TEST(SshTarget, OneThatSomebodyElseWroteRunsNothing) {
  for (const SshTarget& bad :
       {SshTarget{{"-oProxyCommand=x", 0}, "/x", {}, kTestId}, SshTarget{{"gpu1", 0}, "x; ls", {}, kTestId},
        SshTarget{{"gpu1", 0}, "/x", {}, "../.."}}) {
    SentJob job;
    ASSERT_TRUE(write_target(job.here.place(), bad).ok());
    EXPECT_FALSE(read_target(job.here.place()).ok());
  }
}

TEST(SshTarget, AHostThatIsSilentEndsNothing) {
  SentJob job;
  ASSERT_TRUE(write_target(job.here.place(), kTarget).ok());
  EXPECT_EQ(standing(job.here)->message, "submitted");
  ASSERT_TRUE(write_connection(job.here.place(),
                               {Connection::State::kUnreachable, 1'700'000'000'000'000'000, "No route to host"})
                  .ok());
  const Result<jobs::Transition> now = standing(job.here);
  ASSERT_TRUE(now.ok());
  EXPECT_EQ(now->status, P::kPending);
  EXPECT_NE(now->message.find("cannot be reached since 2023-11-14T22:13:20Z"), std::string::npos) << now->message;
  ASSERT_TRUE(write_connection(job.here.place(), {Connection::State::kNotKept, 1, "No space left"}).ok());
  EXPECT_NE(standing(job.here)->message.find("cannot be kept here since"), std::string::npos);
  ASSERT_TRUE(write_connection(job.here.place(), {Connection::State::kStands, 1, ""}).ok());
  EXPECT_EQ(standing(job.here)->message, "submitted");
}

TEST(SshTarget, OnlyWhatWasNeverSentIsGivenUp) {
  SentJob job;
  FakeClock clock;
  clock.advance_ns(61'000'000'000);
  ASSERT_TRUE(give_up_unsent(job.here, clock).ok());
  EXPECT_EQ(job.here.current()->status, P::kFailed);
  SentJob sent;
  ASSERT_TRUE(write_target(sent.here.place(), kTarget).ok());
  ASSERT_TRUE(give_up_unsent(sent.here, clock).ok());
  EXPECT_EQ(sent.here.current()->status, P::kPending);
}

}  // namespace
}  // namespace trainwarden::ssh
