#include "core/process/same_end.h"

#include <csignal>
#include <cstdio>

#include <sys/resource.h>
#include <unistd.h>

namespace trainwarden::process {

void end_by_the_same_signal(const ExitRecord& exit) {
  if (exit.how != ExitRecord::How::kSignalled) return;
  std::fflush(nullptr);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(exit.number, &by_default, nullptr);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, exit.number);
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  ::kill(::getpid(), exit.number);
}

}  // namespace trainwarden::process
