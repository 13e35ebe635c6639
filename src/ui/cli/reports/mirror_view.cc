#include "ui/cli/reports/mirror_view.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/status_line.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kMirrorGlance{200};

std::string mirror_text(const MirrorState& state) {
  const std::string sent = fmt::format("{} sent", format_bytes(state.bytes));
  if (state.problem.ok()) return fmt::format("{}; Ctrl-C ends it", sent);
  return fmt::format("{}, {} waiting: {}", sent, format_bytes(state.bytes_behind), state.problem.message());
}

}  // namespace

bool wait_for_mirror(RunMirror& mirror, process::SignalRelay& relay) {
  StatusLine line(stderr, terminal_of(stderr));
  while (!mirror.has_ended()) {
    line.show(mirror_text(mirror.state()));
    if (!relay.wait_for_end(kMirrorGlance)) continue;
    mirror.stop();
    return false;
  }
  return true;
}

void finish_mirror(RunMirror& mirror, const std::string& address) {
  mirror.finish();
  process::SignalRelay relay;  // its thread was begun under another one, and gets no signals
  wait_for_mirror(mirror, relay);
  const MirrorState state = mirror.state();
  if (state.is_done) {
    emit(stderr, "trainwarden: kept in {} too, {}\n", printable(address), format_bytes(state.bytes));
    return;
  }
  emit(stderr,
       "trainwarden: warning: {} is not whole: {} of it is only here{}{}; `trainwarden mirror` sends the rest\n",
       printable(address), format_bytes(state.bytes_behind), state.problem.ok() ? "" : ": ",
       Message{state.problem.message()});
}

}  // namespace trainwarden::cli
