#include "ui/cli/terminal/live_terminal.h"

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

std::vector<Key> keys_of(std::string bytes) {
  std::vector<Key> keys;
  while (const auto key = take_key(bytes)) keys.push_back(*key);
  return keys;
}

TEST(LiveTerminalKeysTest, KnowsArrowsAndLetters) {
  EXPECT_EQ(keys_of("\x1b[A\x1b[Bjk"), (std::vector{Key::kUp, Key::kDown, Key::kDown, Key::kUp}));
  EXPECT_EQ(keys_of("\x1bOC\x1bODhlq"), (std::vector{Key::kRight, Key::kLeft, Key::kLeft, Key::kRight, Key::kQuit}));
}
TEST(LiveTerminalKeysTest, PassesOverOtherKeys) {
  EXPECT_EQ(keys_of("x\x1b[15~\x1b[1;5H\n\xffq"), std::vector{Key::kQuit});
}
TEST(LiveTerminalKeysTest, WaitsForTheRestOfASequence) {
  std::string bytes = "\x1b[";
  EXPECT_FALSE(take_key(bytes).has_value());
  bytes += "A";
  EXPECT_EQ(take_key(bytes), Key::kUp);
  EXPECT_EQ(bytes, "");
}

// A child that has a terminal of its own and does `what` there; what it wrote, and how it ended.
struct Ended {
  std::string output;
  int status = 0;
  bool echoes_again = false;  // the terminal is as it was
};
template <class What>
Ended on_a_terminal(const What& what) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    what();
    _exit(0);
  }
  Ended ended;
  std::array<char, 4096> bytes{};
  for (ssize_t count = 0; (count = read(terminal, bytes.data(), bytes.size())) > 0;) {
    ended.output.append(bytes.data(), static_cast<std::size_t>(count));
    if (ended.output.ends_with("?1049l")) break;
  }
  waitpid(child, &ended.status, 0);
  termios settings{};
  ended.echoes_again = tcgetattr(terminal, &settings) == 0 && (settings.c_lflag & ECHO) != 0;
  close(terminal);
  return ended;
}

void show_one_frame() {
  const auto live = LiveTerminal::open();
  if (!live.ok()) _exit(7);
  Screen screen(4, 20);
  screen.put(0, 0, "frame");
  (*live)->show(std::move(screen));
}

TEST(LiveTerminalTest, GivesTheTerminalBack) {
  const Ended ended = on_a_terminal(show_one_frame);
  EXPECT_EQ(ended.status, 0);
  EXPECT_TRUE(ended.output.starts_with("\x1b[?1049h\x1b[?25l")) << ended.output;
  EXPECT_NE(ended.output.find("frame"), std::string::npos);
  EXPECT_TRUE(ended.output.ends_with("\x1b[?25h\x1b[?1049l"));
  EXPECT_TRUE(ended.echoes_again);
}

TEST(LiveTerminalTest, GivesTheTerminalBackWhenTheProgramDiesOfAFault) {
  for (const int fault : {SIGSEGV, SIGABRT}) {
    const Ended ended = on_a_terminal([fault] {
      const auto live = LiveTerminal::open();
      if (!live.ok()) _exit(7);
      ::signal(SIGALRM, SIG_DFL);
      ::raise(fault);
    });
    EXPECT_TRUE(ended.output.ends_with("\x1b[?25h\x1b[?1049l"));
    EXPECT_TRUE(WIFSIGNALED(ended.status) && WTERMSIG(ended.status) == fault) << ended.status;
    EXPECT_TRUE(ended.echoes_again);
  }
}

TEST(LiveTerminalTest, RefusesWhatIsNoTerminal) {
  const int saved = dup(STDOUT_FILENO);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  fflush(stdout);
  dup2(pipe_ends[1], STDOUT_FILENO);
  const auto live = LiveTerminal::open();
  dup2(saved, STDOUT_FILENO);
  EXPECT_EQ(live.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(live.status().message().find("--plain"), std::string::npos);
  for (const int end : {saved, pipe_ends[0], pipe_ends[1]}) close(end);
}

}  // namespace
}  // namespace trainwarden::cli
