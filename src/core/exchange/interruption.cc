#include "core/exchange/interruption.h"

#include <algorithm>
#include <atomic>

#include "core/base/pause.h"

namespace trainwarden::exchange {
namespace {

using std::chrono::milliseconds;

std::atomic<AskInterruption> ask_interruption = nullptr;

}  // namespace

void set_interruption(AskInterruption ask) {
  ask_interruption = ask;
}

bool has_interruption() {
  return ask_interruption != nullptr;
}

bool is_interrupted() {
  const AskInterruption ask = ask_interruption;
  return ask != nullptr && ask();
}

bool pause_between_exchanges(milliseconds interval, const std::stop_token& stop) {
  constexpr milliseconds kGlance{100};
  const milliseconds turn = has_interruption() ? kGlance : interval;
  for (milliseconds left = interval; left.count() > 0; left -= turn) {
    pause_for(std::min(turn, left), stop);
    if (stop.stop_requested() || is_interrupted()) return false;
  }
  return !stop.stop_requested();
}

}  // namespace trainwarden::exchange
