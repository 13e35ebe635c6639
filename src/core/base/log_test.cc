#include "core/base/log.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <vector>

namespace trainwarden {
namespace {

// Collects lines while it lives.
class LogSink {
 public:
  LogSink() {
    set_log_sink([this](LogLevel level, std::string_view line) {
      levels.push_back(level);
      lines.emplace_back(line);
    });
  }
  ~LogSink() { set_log_sink({}); }

  std::vector<LogLevel> levels;
  std::vector<std::string> lines;
};

// Each runs in a new process, where the log has not yet read its environment.
class LogDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    TearDown();
  }
  void TearDown() override {
    unsetenv("TRAINWARDEN_STRICT");
    unsetenv("TRAINWARDEN_LOG_LEVEL");
    unsetenv("SMDEBUG_LOG_LEVEL");
  }
};

TEST(Log, ParsesLevels) {
  EXPECT_EQ(parse_log_level("debug"), LogLevel::kDebug);
  EXPECT_EQ(parse_log_level(" Warning "), LogLevel::kWarning);
  EXPECT_EQ(parse_log_level("off"), LogLevel::kOff);
  EXPECT_EQ(parse_log_level("critical"), LogLevel::kError);
  EXPECT_EQ(parse_log_level("loud"), std::nullopt);
}

TEST(Log, SinkGetsLevelAndFormattedText) {
  LogSink sink;
  log(LogLevel::kWarning, "{} of {} tensors", 3, 7);
  ASSERT_EQ(sink.lines, std::vector<std::string>{"3 of 7 tensors"});
  EXPECT_EQ(sink.levels[0], LogLevel::kWarning);
}

TEST(Log, RepeatsAreShownThreeTimesThenCounted) {
  LogSink sink;
  for (int i = 0; i < 1000; ++i) log(LogLevel::kWarning, std::string_view("again"));
  log(LogLevel::kWarning, std::string_view("another"));
  const std::vector<std::string> expected = {
      "again",  "again", "again", "again (10 times so far)", "again (100 times so far)", "again (1000 times so far)",
      "another"};
  EXPECT_EQ(sink.lines, expected);
}

TEST(Log, ManyDifferentLinesAreAllShown) {
  LogSink sink;
  for (int i = 0; i < 5000; ++i) log(LogLevel::kWarning, "line {}", i);
  EXPECT_EQ(sink.lines.size(), 5000u);
}

TEST(Log, ThreadsDoNotMixOrLoseLines) {
  LogSink sink;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([t] {
        for (int i = 0; i < 500; ++i) log(LogLevel::kWarning, "thread {} line {}", t, i);
      });
    }
  }
  EXPECT_EQ(sink.lines.size(), 2000u);
}

TEST(Log, ForkedChildCanLogWhileAnotherThreadDoes) {
  LogSink sink;
  std::jthread busy([](std::stop_token stop) {
    for (int i = 0; !stop.stop_requested(); ++i) log(LogLevel::kWarning, "busy {}", i);
  });
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      log(LogLevel::kWarning, std::string_view("from the child"));
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "the child hung and was ended by its alarm";
  }
}

TEST_F(LogDeathTest, WritesOneLineToStandardError) {
  const auto write = [] {
    log(LogLevel::kWarning, std::string_view("name \x1b[31m"));
    std::exit(0);
  };
  EXPECT_EXIT(write(), testing::ExitedWithCode(0), "^trainwarden: warning: name \\\\x1B\\[31m\n$");
}

TEST_F(LogDeathTest, DefaultLevelHidesInfo) {
  const auto write = [] {
    log(LogLevel::kInfo, std::string_view("hidden"));
    std::exit(0);
  };
  EXPECT_EXIT(write(), testing::ExitedWithCode(0), "^$");
}

TEST_F(LogDeathTest, LevelComesFromTheEnvironment) {
  setenv("TRAINWARDEN_LOG_LEVEL", "info", 1);
  const auto write = [] {
    log(LogLevel::kDebug, std::string_view("hidden"));
    log(LogLevel::kInfo, std::string_view("shown"));
    std::exit(0);
  };
  EXPECT_EXIT(write(), testing::ExitedWithCode(0), "^trainwarden: info: shown\n$");
}

TEST_F(LogDeathTest, SmdebugsVariableCountsWhenOursIsNotSet) {
  setenv("SMDEBUG_LOG_LEVEL", "info", 1);
  const auto write = [] {
    log(LogLevel::kInfo, std::string_view("shown"));
    std::exit(0);
  };
  EXPECT_EXIT(write(), testing::ExitedWithCode(0), "^trainwarden: info: shown\n$");
  setenv("TRAINWARDEN_LOG_LEVEL", "off", 1);
  EXPECT_EXIT(write(), testing::ExitedWithCode(0), "^$");
}

TEST_F(LogDeathTest, UnknownLevelIsTold) {
  setenv("TRAINWARDEN_LOG_LEVEL", "loud", 1);
  const auto write = [] {
    log(LogLevel::kDebug, std::string_view("hidden"));
    std::exit(0);
  };
  EXPECT_EXIT(write(), testing::ExitedWithCode(0), "TRAINWARDEN_LOG_LEVEL=loud is none of debug, info");
}

TEST_F(LogDeathTest, StrictAbortsOnErrorOnly) {
  setenv("TRAINWARDEN_STRICT", "1", 1);
  setenv("TRAINWARDEN_LOG_LEVEL", "off", 1);
  const auto write = [] {
    log(LogLevel::kWarning, std::string_view("a warning"));
    log(LogLevel::kError, std::string_view("an error"));
  };
  EXPECT_EXIT(write(), testing::KilledBySignal(SIGABRT), "^trainwarden: error: an error\n$");
}

}  // namespace
}  // namespace trainwarden
