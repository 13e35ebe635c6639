#include "ui/cli/terminal/live_terminal.h"

#include <array>
#include <cerrno>
#include <csignal>

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace trainwarden::cli {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?25h\x1b[?1049l";
constexpr std::array kFaults = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

// What the terminal was like; read by a signal handler.
termios g_settings;
volatile std::sig_atomic_t g_settings_changed = 0;

// Safe in a signal handler.
void restore_terminal() {
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, kLeave.data(), kLeave.size());
  if (g_settings_changed) ::tcsetattr(STDIN_FILENO, TCSANOW, &g_settings);
  g_settings_changed = 0;
}

// The default action has been put back (SA_RESETHAND): the signal ends the process as it would have.
void on_fault(int signal_number) {
  restore_terminal();
  ::raise(signal_number);
}

void restore_on_faults(bool on) {
  for (const int number : kFaults) {
    struct sigaction action {};
    action.sa_handler = on ? on_fault : SIG_DFL;
    action.sa_flags = on ? static_cast<int>(SA_RESETHAND | SA_NODEFER) : 0;
    ::sigaction(number, &action, nullptr);
  }
}

// Keys come one by one and unseen. Ctrl-Z would leave a shell on our screen, so it is a key like others.
bool take_keyboard() {
  if (::isatty(STDIN_FILENO) != 1 || ::tcgetattr(STDIN_FILENO, &g_settings) != 0) return false;
  termios raw = g_settings;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  raw.c_cc[VSUSP] = _POSIX_VDISABLE;
  if (::tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0) return false;
  g_settings_changed = 1;
  return true;
}

std::optional<Key> key_of(char character) {
  switch (character) {
    case 'q':
    case 'Q': return Key::kQuit;
    case 'k': return Key::kUp;
    case 'j': return Key::kDown;
    case 'h': return Key::kLeft;
    case 'l': return Key::kRight;
    default: return std::nullopt;
  }
}

std::optional<Key> arrow_of(char final_byte) {
  switch (final_byte) {
    case 'A': return Key::kUp;
    case 'B': return Key::kDown;
    case 'C': return Key::kRight;
    case 'D': return Key::kLeft;
    default: return std::nullopt;
  }
}

// How many bytes the escape sequence at the beginning has: 0 when it goes on. ESC [ parameters final, ESC O final.
std::size_t sequence_bytes(std::string_view bytes) {
  if (bytes.size() < 2) return 0;
  if (bytes[1] == 'O') return bytes.size() < 3 ? 0 : 3;
  if (bytes[1] != '[') return 1;
  for (std::size_t i = 2; i < bytes.size(); ++i) {
    if (bytes[i] >= 0x40 && bytes[i] <= 0x7e) return i + 1;
  }
  return 0;
}

}  // namespace

TerminalSize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  constexpr int kMost = 1000;  // whatever a terminal says of itself
  return {std::min<int>(size.ws_row, kMost), std::min<int>(size.ws_col, kMost)};
}

std::optional<Key> take_key(std::string& bytes) {
  constexpr char kEscape = '\x1b';
  while (!bytes.empty()) {
    const std::size_t used = bytes[0] == kEscape ? sequence_bytes(bytes) : 1;
    if (used == 0) return std::nullopt;
    const auto key = bytes[0] != kEscape ? key_of(bytes[0]) : used > 2 ? arrow_of(bytes[used - 1]) : std::nullopt;
    bytes.erase(0, used);
    if (key) return key;
  }
  return std::nullopt;
}

Result<std::unique_ptr<LiveTerminal>> LiveTerminal::open() {
  std::unique_ptr<LiveTerminal> live(new LiveTerminal);
  live->terminal_ = terminal_of(stdout);
  if (!live->terminal_.interactive) {
    live->alive_ = false;
    return Status(Code::kFailedPrecondition, "standard output is no terminal; --once prints one frame, --plain lines");
  }
  live->has_keyboard_ = take_keyboard();
  restore_on_faults(true);
  live->write(kEnter);
  return live;
}

LiveTerminal::~LiveTerminal() {
  if (!terminal_.interactive) return;
  restore_on_faults(false);
  restore_terminal();
}

void LiveTerminal::write(std::string_view bytes) {
  while (!bytes.empty() && alive_) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR && errno != EAGAIN) {
      alive_ = false;
    }
  }
}

void LiveTerminal::show(Screen screen) {
  write(changes(shown_.get(), screen, terminal_));
  shown_ = std::make_unique<Screen>(std::move(screen));
}

std::optional<Key> LiveTerminal::wait_key(std::chrono::milliseconds timeout) {
  if (const auto key = take_key(typed_)) return key;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const int ready = ::poll(&input, has_keyboard_ ? 1 : 0, static_cast<int>(timeout.count()));
  if (ready != 1) return std::nullopt;
  std::array<char, 64> bytes{};
  const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count <= 0 || (input.revents & (POLLHUP | POLLERR)) != 0) {
    alive_ = false;
    return std::nullopt;
  }
  typed_.append(bytes.data(), static_cast<std::size_t>(count));
  return take_key(typed_);
}

}  // namespace trainwarden::cli
