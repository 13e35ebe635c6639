#include "job_harness.h"

#include <algorithm>
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

std::vector<pid_t> processes_of(const std::filesystem::path& jobs, const std::string& role) {
  std::vector<pid_t> found;
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    const std::string id = process.path().filename().string();
    if (id.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(process.path() / "cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    if (words.size() > 2 && words[1] == "job" && words[2] == role && std::ranges::count(words, jobs.string()) > 0) {
      found.push_back(static_cast<pid_t>(std::stol(id)));
    }
  }
  return found;
}

}  // namespace trainwarden::testing_cli
