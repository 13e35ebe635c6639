#include "measure/machine/process_tree.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "measure/machine/words.h"

namespace trainwarden::machine {
namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxThreads = 4096;    // of a process, whose children are looked for
constexpr std::size_t kMaxOpened = 1 << 17;  // in a walk

std::optional<pid_t> to_process(std::string_view word) {
  const auto number = to_number(word);
  if (!number || *number == 0 || *number > static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max()))
    return std::nullopt;
  return static_cast<pid_t>(*number);
}

// Rising; `limit` at most.
std::vector<pid_t> process_numbers(const std::filesystem::path& proc, std::size_t limit) {
  std::vector<pid_t> numbers;
  for_each_name(proc, [&](std::string_view name) {
    if (const auto process = to_process(name)) numbers.push_back(*process);
    return numbers.size() < limit;
  });
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace

// "4711 (name) S 1 ...", fields by their numbers in proc_pid_stat(5). A name may hold brackets, blanks and ends of
// lines: it ends with the last bracket.
std::optional<StatLine> parse_process_stat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  std::string_view rest = text.substr(close + 1);
  auto line = next_line(rest);
  if (!line) return std::nullopt;
  StatLine stat;
  stat.name = text.substr(open + 1, std::min(close - open - 1, kMaxNameBytes));
  constexpr int kFirst = 3;
  constexpr int kState = 3, kParent = 4, kUser = 14, kSystem = 15, kThreads = 20, kStart = 22;
  int found = 0;
  const auto take = [&](std::string_view word, std::uint64_t& value) {
    const auto number = to_number(word);
    if (number) value = *number;
    found += number ? 1 : 0;
  };
  for (int field = kFirst; field <= kStart; ++field) {
    const std::string_view word = next_word(*line);
    std::uint64_t parent = 0;
    if (field == kState) stat.ended = word == "Z" || word == "X";
    if (field == kParent) {
      take(word, parent);
      stat.parent = to_process(word).value_or(0);
    }
    if (field == kUser) take(word, stat.user_ticks);
    if (field == kSystem) take(word, stat.system_ticks);
    if (field == kThreads) take(word, stat.threads);
    if (field == kStart) take(word, stat.start_ticks);
  }
  return found == 5 ? std::optional(stat) : std::nullopt;
}

// The file is there where the kernel was built with it (CONFIG_PROC_CHILDREN).
bool ProcessTree::has_lists(pid_t process) {
  const std::string id = std::to_string(process);
  return KernelFile(proc_ / id / "task" / id / "children").is_there();
}

// Each thread has a list of what it started: "12 34 ", without an end of line.
void ProcessTree::add_children(pid_t process, std::vector<pid_t>& found) {
  const std::filesystem::path tasks = proc_ / std::to_string(process) / "task";
  for (const std::string& task : names_in(tasks, kMaxThreads)) {
    ++opened_files_;
    const auto text = KernelFile(tasks / task / "children").read_once(buffer_);
    if (!text) continue;
    std::string_view rest = *text;
    for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
      if (!word.empty() && word.back() == '\n') word.remove_suffix(1);
      if (const auto child = to_process(word)) found.push_back(*child);
    }
  }
}

// A process's parent changes only to one above it, so that a stranger stays one as long as it lives.
void ProcessTree::add_by_parents(std::vector<pid_t>& found) {
  const bool whole = walks_to_whole_-- <= 0;
  if (whole) {
    walks_to_whole_ = kWholeEvery;
    strangers_.clear();
  }
  std::unordered_map<pid_t, std::vector<pid_t>> children;
  std::vector<pid_t> looked_at, still_there;
  for (const pid_t process : process_numbers(proc_, kMaxOpened)) {
    ++listed_;
    if (std::binary_search(strangers_.begin(), strangers_.end(), process)) {
      still_there.push_back(process);
      continue;
    }
    ++opened_files_;
    const auto text = KernelFile(proc_ / std::to_string(process) / "stat").read_once(buffer_);
    const auto stat = text ? parse_process_stat(*text) : std::nullopt;
    if (!stat) continue;
    children[stat->parent].push_back(process);
    looked_at.push_back(process);
  }
  std::unordered_set<pid_t> known(found.begin(), found.end());
  for (std::size_t next = 0; next < found.size(); ++next) {
    for (const pid_t child : children[found[next]]) {
      if (found.size() < kMaxProcesses && known.insert(child).second) found.push_back(child);
    }
  }
  std::erase_if(looked_at, [&known](pid_t process) { return known.contains(process); });
  strangers_.clear();
  std::merge(looked_at.begin(), looked_at.end(), still_there.begin(), still_there.end(),
             std::back_inserter(strangers_));
}

// "0.20 0.18 0.12 1/80 11206": the last number that a process or a thread got.
std::optional<std::uint64_t> ProcessTree::last_started() {
  const auto text = loadavg_.read(buffer_);
  if (!text) return std::nullopt;
  constexpr int kLastNumber = 4;
  std::string_view rest = *text;
  return to_number(nth_word(next_line(rest).value_or(""), kLastNumber));
}

bool ProcessTree::nothing_started() {
  return last_started_ && last_started() == last_started_;
}

std::vector<pid_t> ProcessTree::walk(const std::vector<pid_t>& roots) {
  opened_files_ = listed_ = 0;
  last_started_ = last_started();  // before anything is looked at
  if (roots != roots_) walks_to_whole_ = 0;
  roots_ = roots;
  std::vector<pid_t> found;
  std::unordered_set<pid_t> known;
  const auto add = [&](pid_t process) {
    if (process > 0 && found.size() < kMaxProcesses && known.insert(process).second) found.push_back(process);
  };
  for (const pid_t root : roots) add(root);
  if (std::none_of(found.begin(), found.end(), [this](pid_t root) { return has_lists(root); })) {
    if (!found.empty()) add_by_parents(found);
    return found;
  }
  std::vector<pid_t> children;
  for (std::size_t next = 0; next < found.size() && opened_files_ < kMaxOpened; ++next) {
    children.clear();
    add_children(found[next], children);
    for (const pid_t child : children) add(child);
  }
  return found;
}

}  // namespace trainwarden::machine
