// The commands that draw: top, on a terminal and off it, and plot.
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

// A command on a terminal of its own.
class OnATerminal {
 public:
  explicit OnATerminal(const std::vector<std::string>& command) {
    winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    child_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ != 0) return;
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  ~OnATerminal() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(terminal_);
  }
  OnATerminal(const OnATerminal&) = delete;
  OnATerminal& operator=(const OnATerminal&) = delete;

  // Reads until the text has come behind what was awaited before, a minute at most; what was drawn is in drawn(). False
  // when the program ended before.
  bool await(const std::string& text) {
    std::size_t found = std::string::npos;
    while ((found = drawn_.find(text, awaited_)) == std::string::npos) {
      if (!read_some()) return false;
    }
    awaited_ = found + text.size();
    return true;
  }
  void type(const std::string& keys) const {
    EXPECT_EQ(write(terminal_, keys.data(), keys.size()), ssize_t(keys.size()));
  }
  void resize(unsigned short rows, unsigned short columns) const {
    winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(ioctl(terminal_, TIOCSWINSZ, &size), 0);
  }
  void send(int signal_number) const { kill(child_, signal_number); }
  // The exit code once it has ended by itself.
  int end() {
    while (read_some()) {
    }
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  const std::string& drawn() const { return drawn_; }
  bool echoes() const {
    termios settings{};
    return tcgetattr(terminal_, &settings) == 0 && (settings.c_lflag & ECHO) != 0;
  }

 private:
  bool read_some() {
    pollfd ready{terminal_, POLLIN, 0};
    constexpr int kMostMs = 60'000;
    char bytes[4096];
    if (poll(&ready, 1, kMostMs) != 1) return false;
    const ssize_t count = read(terminal_, bytes, sizeof bytes);
    if (count <= 0) return false;
    drawn_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }
  int terminal_ = -1;
  pid_t child_ = -1;
  std::string drawn_;
  std::size_t awaited_ = 0;
};

constexpr const char* kLoss = "CrossEntropyLoss_output_0";
constexpr const char* kLeave = "\x1b[?25h\x1b[?1049l";

class TopCommand : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    train("first", {"--steps", "12"});
  }
};

TEST_F(TopCommand, PrintsOneFrame) {
  const Outcome frame = cli({"top", "first", "--once"});
  EXPECT_EQ(frame.exit_code, 0) << frame.err;
  for (const char* part :
       {"first  completed", "Losses and scalars", "train CrossEntropyLoss", "Rules", "Tensors", "Events"}) {
    EXPECT_NE(frame.out.find(part), std::string::npos) << part << " in\n" << frame.out;
  }
  EXPECT_EQ(frame.out.find('\x1b'), std::string::npos) << "no colours in a pipe";
}

TEST_F(TopCommand, PrintsItInAsciiWhereTheLocaleIsNotUtf8) {
  const Outcome frame = shell("LC_ALL=C $TW top first --once");
  EXPECT_EQ(frame.exit_code, 0) << frame.err;
  for (const char character : frame.out) EXPECT_LT(static_cast<unsigned char>(character), 0x80) << frame.out;
}

TEST_F(TopCommand, TakesTheNewestRunWhenNoneIsNamed) {
  train("second", {"--steps", "3"});
  EXPECT_EQ(cli({"top", "--json"}).json().at("run"), "second");
}

TEST_F(TopCommand, TellsTheSameInJson) {
  const auto facts = cli({"top", "first", "--json"}).json();
  EXPECT_EQ(facts.at("steps"), 12);
  EXPECT_EQ(facts.at("running"), false);
  EXPECT_TRUE(facts.at("eta_seconds").is_null());
  EXPECT_TRUE(facts.at("process").is_null());
  EXPECT_FALSE(facts.at("losses").empty());
  EXPECT_FALSE(facts.at("tensors").empty());
}

TEST_F(TopCommand, WritesLinesIntoAPipeUntilTheRunEnds) {
  const Outcome lines = cli({"top", "first"});
  EXPECT_EQ(lines.exit_code, 0) << lines.err;
  EXPECT_EQ(lines.out.find("completed  step 11 (train 11)"), 0u) << lines.out;
}

TEST_F(TopCommand, SaysThatThereIsNoSuchRun) {
  EXPECT_EQ(cli({"top", "frist"}).exit_code, 1);
  const Outcome none = cli({"top", "--runs", folder_.string()});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("there is no run in"), std::string::npos) << none.err;
}

TEST_F(TopCommand, DrawsOnATerminalUntilQIsPressed) {
  OnATerminal top(cli_command({"top", "first"}));
  ASSERT_TRUE(top.await("q quit")) << top.drawn();
  EXPECT_TRUE(top.drawn().starts_with("\x1b[?1049h\x1b[?25l"));
  top.type("q");
  EXPECT_EQ(top.end(), 0);
  EXPECT_TRUE(top.drawn().ends_with(kLeave));
  EXPECT_TRUE(top.echoes());
}

TEST_F(TopCommand, GivesTheTerminalBackOnASignal) {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    OnATerminal top(cli_command({"top", "first"}));
    ASSERT_TRUE(top.await("q quit")) << top.drawn();
    top.send(signal_number);
    EXPECT_EQ(top.end(), 0);
    EXPECT_TRUE(top.drawn().ends_with(kLeave)) << signal_number;
  }
}

TEST_F(TopCommand, DrawsAnewWhenTheWindowIsAnotherSize) {
  OnATerminal top(cli_command({"top", "first"}));
  ASSERT_TRUE(top.await("q quit"));
  top.resize(40, 120);
  EXPECT_TRUE(top.await("\x1b[2J") && top.await("\x1b[40;1H")) << "the keys are in the last row";
  top.resize(5, 20);
  EXPECT_TRUE(top.await("make"));
}

TEST_F(TopCommand, GoesToAnotherRun) {
  train("second", {"--steps", "3"});
  OnATerminal top(cli_command({"top"}));
  ASSERT_TRUE(top.await("another"));
  top.type("\x1b[C");
  EXPECT_TRUE(top.await("first")) << top.drawn();
}

class PlotCommand : public TopCommand {};

TEST_F(PlotCommand, DrawsALossAndSaysItsNumbers) {
  const Outcome plot = shell("LC_ALL=C.UTF-8 $TW plot first CrossEntropyLoss_output_0 --width 100 --height 8");
  EXPECT_EQ(plot.exit_code, 0) << plot.err;
  EXPECT_NE(plot.out.find("train CrossEntropyLoss"), std::string::npos) << plot.out;
  EXPECT_NE(plot.out.find("steps 12"), std::string::npos) << plot.out;
  EXPECT_NE(plot.out.find("global step"), std::string::npos) << plot.out;
  EXPECT_EQ(std::count(plot.out.begin(), plot.out.end(), '\n'), 9);
}

TEST_F(PlotCommand, GivesEachPointInJson) {
  const auto series = cli({"plot", "first", kLoss, "--smooth", "0.5", "--json"}).json().at("series").at(0);
  EXPECT_EQ(series.at("of"), "scalar");
  EXPECT_EQ(series.at("count"), 12);
  ASSERT_EQ(series.at("points").size(), 12u);
  EXPECT_EQ(series.at("points")[0].at("value"), series.at("points")[0].at("drawn"));
  EXPECT_NE(series.at("points")[3].at("value"), series.at("points")[3].at("drawn"));
}

TEST_F(PlotCommand, RefusesWhatItCannotDraw) {
  const Outcome missing = cli({"plot", "first", "lost"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("lost"), std::string::npos);
  EXPECT_EQ(cli({"plot", "first", kLoss, "--of", "rubbish"}).exit_code, 2);
  EXPECT_EQ(cli({"plot", "first", kLoss, "--smooth", "1"}).exit_code, 2);
  EXPECT_EQ(cli({"plot", "first"}).exit_code, 2);
}

}  // namespace
}  // namespace trainwarden::testing_cli
