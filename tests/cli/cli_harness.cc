#include "cli_harness.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/await_testing.h"

namespace trainwarden::testing_cli {
namespace {

namespace fs = std::filesystem;

// exec with standard output and error in files.
pid_t start(const std::vector<std::string>& command, const fs::path& out, const fs::path& err) {
  const pid_t id = fork();
  if (id != 0) return id;
  const auto redirect = [](const fs::path& file, int descriptor) {
    dup2(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), descriptor);
  };
  redirect(out, STDOUT_FILENO);
  redirect(err, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

int await_exit(pid_t id) {
  int status = 0;
  while (waitpid(id, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::string read_file(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

fs::path cli_binary() {
  return TW_CLI;
}
fs::path tiny_training() {
  return TW_TINY_TRAINING;
}

Background::Background(const std::vector<std::string>& command, const fs::path& folder) {
  static int count = 0;
  const std::string name = "program-" + std::to_string(count++);
  out_file_ = folder / (name + ".out");
  err_file_ = folder / (name + ".err");
  id_ = start(command, out_file_, err_file_);
}

Background::~Background() {
  if (id_ <= 0) return;
  kill(id_, SIGKILL);
  await_exit(id_);
}

std::string Background::out_so_far() const {
  return read_file(out_file_);
}

void Background::await_output(const std::string& text) const {
  ASSERT_TRUE(trainwarden::await([&] { return out_so_far().find(text) != std::string::npos; }))
      << "waited for \"" << text << "\", saw: " << out_so_far();
}

void Background::await_nap() const {
  // The call of the system that it is in.
  const std::string call = "/proc/" + std::to_string(id_) + "/syscall";
  const auto sleeps = [&] {
    long number = -1;
    return std::istringstream(read_file(call)) >> number && (number == SYS_nanosleep || number == SYS_clock_nanosleep);
  };
  ASSERT_TRUE(trainwarden::await(sleeps)) << call << ": " << read_file(call);
}

Outcome Background::wait() {
  Outcome outcome;
  outcome.exit_code = await_exit(id_);
  id_ = -1;
  outcome.out = read_file(out_file_);
  outcome.err = read_file(err_file_);
  return outcome;
}

void CliTest::SetUp() {
  std::string pattern = (fs::temp_directory_path() / "trainwarden-cli-XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
  runs_ = folder_ / "runs";
  fs::create_directories(runs_);
  setenv("TRAINWARDEN_RUNS", runs_.c_str(), 1);
  for (const char* name : {"NO_COLOR", "COLORTERM", "TRAINWARDEN_CONFIG", "TRAINWARDEN_RUN_DIR"}) unsetenv(name);
}

void CliTest::TearDown() {
  unsetenv("TRAINWARDEN_RUN_DIR");
  fs::remove_all(folder_);
}

std::vector<std::string> CliTest::cli_command(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), cli_binary().string());
  return arguments;
}

Outcome CliTest::cli(std::vector<std::string> arguments) const {
  return Background(cli_command(std::move(arguments)), folder_).wait();
}

Outcome CliTest::shell(const std::string& script) const {
  setenv("TW", cli_binary().c_str(), 1);
  return Background({"bash", "-c", script}, folder_).wait();
}

void CliTest::train(const std::string& name, std::vector<std::string> options) const {
  setenv("TRAINWARDEN_RUN_DIR", run_path(name).c_str(), 1);
  options.insert(options.begin(), tiny_training().string());
  const Outcome outcome = Background(options, folder_).wait();
  unsetenv("TRAINWARDEN_RUN_DIR");
  ASSERT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 128 + SIGKILL) << outcome.err;
}

void CliTest::await(const std::function<bool()>& is_so) {
  ASSERT_TRUE(trainwarden::await(is_so));
}

void CliTest::await_file(const fs::path& file, std::uintmax_t min_bytes) {
  ASSERT_TRUE(trainwarden::await([&] { return fs::exists(file) && fs::file_size(file) >= min_bytes; })) << file;
}

}  // namespace trainwarden::testing_cli
