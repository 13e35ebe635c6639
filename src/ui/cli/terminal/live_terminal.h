// LiveTerminal: a terminal that a program has for itself, and gives back as it was whatever happens.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "trainwarden/status.h"
#include "ui/cli/terminal/screen.h"
#include "ui/cli/terminal/terminal.h"

namespace trainwarden::cli {

struct TerminalSize {
  int rows = 24;
  int columns = 80;
  friend bool operator==(const TerminalSize&, const TerminalSize&) = default;
};
// Of standard output; 24 by 80 when it is none or does not know.
TerminalSize terminal_size();

enum class Key : std::uint8_t { kQuit, kUp, kDown, kLeft, kRight };

// The keys that bytes from a terminal stand for: arrows, h j k l, q. What is none of them is passed over; an escape
// sequence that has only begun stays in `bytes`.
std::optional<Key> take_key(std::string& bytes);

// On the alternate screen, without a cursor, keys coming one by one, from open() until it is destroyed; or until the
// process dies of a fault of its own (SIGSEGV, SIGABRT, ...), which then goes on dying. Signals that ask it to end are
// up to the caller (process::SignalRelay). One at a time.
class LiveTerminal {
 public:
  // kFailedPrecondition when standard output is no terminal.
  static Result<std::unique_ptr<LiveTerminal>> open();
  ~LiveTerminal();
  LiveTerminal(const LiveTerminal&) = delete;
  LiveTerminal& operator=(const LiveTerminal&) = delete;

  // Writes what differs from the last frame.
  void show(Screen screen);
  // The next key, nothing after `timeout`. Without a keyboard (standard input is no terminal) it only waits.
  std::optional<Key> wait_key(std::chrono::milliseconds timeout);
  // False once nobody can see what is shown (the terminal was closed).
  bool alive() const { return alive_; }

 private:
  LiveTerminal() = default;
  void write(std::string_view bytes);

  Terminal terminal_;
  std::unique_ptr<Screen> shown_;
  std::string typed_;  // and not taken yet
  bool has_keyboard_ = false;
  bool alive_ = true;
};

}  // namespace trainwarden::cli
