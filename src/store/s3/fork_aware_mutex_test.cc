#include "store/s3/fork_aware_mutex.h"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <thread>

namespace trainwarden::storage {
namespace {

int exit_code_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ForkAwareMutex, AChildLocksWhatAnotherThreadOfItsParentHeld) {
  ForkAwareMutex mutex;
  std::mutex until;
  until.lock();
  std::atomic<bool> is_held = false;
  std::jthread holder([&] {
    const std::lock_guard guard(mutex);
    is_held = true;
    is_held.notify_all();
    const std::lock_guard wait(until);
  });
  is_held.wait(false);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    mutex.lock();
    mutex.unlock();
    ::_exit(7);
  }
  EXPECT_EQ(exit_code_of(child), 7);
  until.unlock();
}

TEST(ForkAwareMutex, OneThreadAtATime) {
  ForkAwareMutex mutex;
  int count = 0;
  {
    const auto add = [&] {
      for (int i = 0; i < 10'000; ++i) {
        const std::lock_guard guard(mutex);
        ++count;
      }
    };
    const std::jthread first(add), second(add);
  }
  EXPECT_EQ(count, 20'000);
}

}  // namespace
}  // namespace trainwarden::storage
