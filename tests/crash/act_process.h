// ActProcess: a child that judges or delivers, and how it ended.
#pragma once

#include <string>
#include <vector>

#include <signal.h>
#include <sys/types.h>

namespace trainwarden::act {

class ActProcess {
 public:
  // Arguments as act_child has them.
  explicit ActProcess(const std::vector<std::string>& arguments);
  ~ActProcess();  // kills it, if it still runs
  ActProcess(const ActProcess&) = delete;
  ActProcess& operator=(const ActProcess&) = delete;

  // kill -9. False when it had ended by itself before.
  bool kill();
  // Waits for its end: its exit code, 128 + N when signal N ended it.
  int wait();

 private:
  pid_t pid_ = -1;
};

}  // namespace trainwarden::act
