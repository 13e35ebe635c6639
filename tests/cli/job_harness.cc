#include "job_harness.h"

#include <algorithm>

namespace trainwarden::testing_cli {

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
