#include "core/process/program.h"

#include <algorithm>

#include <unistd.h>

namespace trainwarden::process {

std::vector<std::string> environment_with(const EnvironmentChanges& changes) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    const bool removed = std::find(changes.removed.begin(), changes.removed.end(), name) != changes.removed.end();
    if (!removed && !changes.set.contains(name)) entries.push_back(text);
  }
  for (const auto& [name, value] : changes.set) entries.push_back(name + "=" + value);
  return entries;
}

SignalStart::SignalStart() {
  sigemptyset(&blocked);
  sigemptyset(&reset);
}

SignalStart SignalStart::all_default() {
  SignalStart start;
  sigfillset(&start.reset);
  return start;
}

SignalStart SignalStart::usual() {
  SignalStart start;
  for (const int number : {SIGPIPE, SIGXFSZ, SIGCHLD}) sigaddset(&start.reset, number);
  return start;
}

}  // namespace trainwarden::process
