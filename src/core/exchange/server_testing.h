// TestServer: a server of tests/servers as a process, killed at its end; and the certificates that they use.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <test_paths.h>
#include <nlohmann/json.hpp>

namespace trainwarden::exchange {

// Needs the definitions TW_SOURCE_DIR and TW_PYTHON.
class TestServer {
 public:
  // `program`: "http_server.py" or "smtp_server.py". What it receives is written to `record`. Ends the test program
  // when the server does not start.
  TestServer(const std::string& program, const std::filesystem::path& record, std::vector<std::string> arguments = {})
      : record_(record) {
    arguments.insert(arguments.begin(), {TW_PYTHON, TW_SOURCE_DIR "/tests/servers/" + program, "--record", record});
    start(arguments);
  }
  // Any program that prints "port N" once it listens, by its path.
  explicit TestServer(const std::vector<std::string>& command) { start(command); }
  ~TestServer() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::string port() const { return port_; }
  // What it has received so far. A line that has no end yet is still being written.
  std::vector<nlohmann::json> received() const {
    std::vector<nlohmann::json> lines;
    std::ifstream file(record_);
    for (std::string line; std::getline(file, line) && !file.eof();) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

 private:
  void start(const std::vector<std::string>& arguments) {
    std::vector<char*> words;
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    int ends[2];
    if (::pipe(ends) != 0) fail("no pipe");
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      ::execv(words[0], words.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    std::string line;
    for (char byte = 0; ::read(ends[0], &byte, 1) == 1 && byte != '\n';) line += byte;
    ::close(ends[0]);
    if (process_ < 0 || !line.starts_with("port ")) fail(arguments[1]);
    port_ = line.substr(5);
  }

  [[noreturn]] static void fail(const std::string& what) {
    std::fprintf(stderr, "a server of the tests did not start: %s\n", what.c_str());
    std::abort();
  }

  std::filesystem::path record_;
  std::string port_;
  pid_t process_ = -1;
};

// ca.pem, server.pem, server.key, ... in `folder` (tests/servers/certificates.sh).
inline bool make_certificates(const std::filesystem::path& folder) {
  return std::system((TW_SOURCE_DIR "/tests/servers/certificates.sh '" + folder.string() + "'").c_str()) == 0;
}

}  // namespace trainwarden::exchange
