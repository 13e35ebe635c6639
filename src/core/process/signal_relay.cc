#include "core/process/signal_relay.h"

#include <algorithm>

namespace trainwarden::process {
namespace {

bool is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

SignalRelay::SignalRelay() {
  sigemptyset(&taken_);
  for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2}) {
    if (!is_ignored(number)) sigaddset(&taken_, number);
  }
  // An ignored SIGCHLD would make the system forget how the child ended.
  signal(SIGCHLD, SIG_DFL);
  sigaddset(&taken_, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &taken_, &original_mask_);

  sigemptyset(&to_reset_);
  if (!is_ignored(SIGPIPE)) sigaddset(&to_reset_, SIGPIPE);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &original_pipe_);
}

SignalRelay::~SignalRelay() {
  sigaction(SIGPIPE, &original_pipe_, nullptr);
  pthread_sigmask(SIG_SETMASK, &original_mask_, nullptr);
}

std::optional<ReceivedSignal> SignalRelay::wait(std::chrono::milliseconds timeout) {
  const timespec limit{timeout.count() / 1000, timeout.count() % 1000 * 1'000'000};
  siginfo_t info{};
  const int number = sigtimedwait(&taken_, &info, &limit);
  if (number < 0) return std::nullopt;
  return ReceivedSignal{number, info.si_code == SI_KERNEL};
}

std::optional<ReceivedSignal> SignalRelay::wait_for_end(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const auto signal = wait(std::max(left, std::chrono::milliseconds(0)));
    if (!signal || signal->number != SIGCHLD) return signal;
  }
}

}  // namespace trainwarden::process
