#include "core/process/same_end.h"

#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trainwarden::process {
namespace {

int status_of_child_after(const ExitRecord& exit) {
  const pid_t child = ::fork();
  if (child == 0) {
    end_by_the_same_signal(exit);
    ::_exit(7);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(SameEndTest, TheSignalThatEndedTheOtherEndsThis) {
  for (const int signal : {SIGKILL, SIGSEGV, SIGTERM, SIGABRT}) {
    const int status = status_of_child_after({.how = ExitRecord::How::kSignalled, .number = signal});
    ASSERT_TRUE(WIFSIGNALED(status)) << signal;
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_FALSE(WCOREDUMP(status));
  }
}

TEST(SameEndTest, AnExitCodeIsForTheCaller) {
  const int status = status_of_child_after({.how = ExitRecord::How::kExited, .number = 3});
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace trainwarden::process
