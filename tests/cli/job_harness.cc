#include "job_harness.h"

#include <sstream>

namespace trainwarden::testing_cli {

ProcessStat stat_of(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string text;
  std::getline(file, text);
  ProcessStat stat;
  if (const std::size_t name_end = text.rfind(')'); name_end != std::string::npos) {
    std::istringstream(text.substr(name_end + 1)) >> stat.state >> stat.parent;
  }
  return stat;
}

bool is_running(pid_t id) {
  return stat_of(id).state != 'Z';
}

bool ends_soon(pid_t id) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (is_running(id) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return !is_running(id);
}

}  // namespace trainwarden::testing_cli
