#include "act_process.h"

#include <cerrno>
#include <utility>

#include <spawn.h>
#include <sys/wait.h>

#include <gtest/gtest.h>

extern char** environ;

namespace trainwarden::act {

ActProcess::ActProcess(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {TW_ACT_CHILD};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  EXPECT_EQ(::posix_spawn(&pid_, TW_ACT_CHILD, nullptr, nullptr, pointers.data(), environ), 0);
}

ActProcess::~ActProcess() {
  if (pid_ > 0) kill();
}

bool ActProcess::kill() {
  ::kill(pid_, SIGKILL);
  return wait() == 128 + SIGKILL;
}

int ActProcess::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace trainwarden::act
