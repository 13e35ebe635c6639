#include "line_program.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace trainwarden::bench {

LineProgram::LineProgram(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int to[2], from[2];
  if (::pipe(to) != 0 || ::pipe(from) != 0) throw std::runtime_error("no pipe");
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(to[0], STDIN_FILENO);
    ::dup2(from[1], STDOUT_FILENO);
    for (const int end : {to[0], to[1], from[0], from[1]}) ::close(end);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  in_ = ::fdopen(to[1], "w");
  out_ = ::fdopen(from[0], "r");
  if (process_ < 0 || in_ == nullptr || out_ == nullptr) throw std::runtime_error("cannot start " + command[0]);
}

LineProgram::~LineProgram() {
  std::fclose(in_);
  std::fclose(out_);
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

std::string LineProgram::ask(const std::string& line) {
  std::fputs((line + "\n").c_str(), in_);
  std::fflush(in_);
  return read_line();
}

std::string LineProgram::read_line() {
  char text[4096];
  if (std::fgets(text, sizeof text, out_) == nullptr) throw std::runtime_error("a program beside us has ended");
  std::string line(text);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

}  // namespace trainwarden::bench
