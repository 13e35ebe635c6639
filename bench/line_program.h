// A program that answers lines: started once, so that its start is not measured.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace trainwarden::bench {

// One thread at a time. Exceptions: std::runtime_error when the program cannot be started, or says nothing.
class LineProgram {
 public:
  explicit LineProgram(const std::vector<std::string>& command);
  ~LineProgram();  // ends it
  LineProgram(const LineProgram&) = delete;
  LineProgram& operator=(const LineProgram&) = delete;

  std::string ask(const std::string& line);
  std::string read_line();

 private:
  pid_t process_ = -1;
  FILE* in_ = nullptr;
  FILE* out_ = nullptr;
};

}  // namespace trainwarden::bench
