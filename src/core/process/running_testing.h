// Whether processes run, whoever has started them.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <sstream>
#include <string>

#include "core/base/await_testing.h"

namespace trainwarden::process {

// A process as /proc has it.
struct ProcStat {
  char state = 'Z';  // also of one that is gone
  pid_t parent = -1;
};

inline ProcStat stat_of(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string text;
  std::getline(file, text);
  ProcStat stat;
  if (const std::size_t name_end = text.rfind(')'); name_end != std::string::npos) {
    std::istringstream(text.substr(name_end + 1)) >> stat.state >> stat.parent;
  }
  return stat;
}

// A zombie that nobody has waited for yet does not.
inline bool is_running(pid_t id) {
  const char state = stat_of(id).state;
  return state != 'Z' && state != 'X';
}

// Who is killed is gone a moment later. False when it still runs after a minute.
inline bool ends_soon(pid_t id) {
  return await([id] { return !is_running(id); });
}

}  // namespace trainwarden::process
