#include "measure/machine/process_probe.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "measure/machine/words.h"

namespace trainwarden::machine {
namespace {

constexpr double kKibibyte = 1024;
constexpr double kNanosecond = 1e-9;
constexpr std::size_t kOpenedForATick = 64;  // files that a walk may open for each tick until the next
// The training needs descriptors itself, and many systems give a process 1024: four files of these stay open.
constexpr std::size_t kKeptOpen = 16;

double seconds_per_tick() {
  static const double seconds = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return seconds;
}

double or_zero(const std::optional<std::uint64_t>& number) {
  return static_cast<double>(number.value_or(0));
}

std::uint64_t cpu_ticks(const StatLine& stat) {
  return stat.user_ticks + stat.system_ticks;
}

}  // namespace

ProcessStatus parse_process_status(std::string_view text) {
  ProcessStatus status;
  while (auto line = next_line(text)) {
    const std::string_view word = next_word(*line);
    if (word == "VmRSS:") status.rss_kib = next_number(*line);
    if (word == "RssAnon:") status.anonymous_kib = next_number(*line);
    if (word == "voluntary_ctxt_switches:") status.voluntary_switches = next_number(*line);
    if (word == "nonvoluntary_ctxt_switches:") status.involuntary_switches = next_number(*line);
  }
  return status;
}

ProcessProbe::Process::Process(const std::filesystem::path& folder, pid_t number, const StatLine& first)
    : id(number),
      numbers(first),
      stat_file(folder / "stat"),
      status_file(folder / "status"),
      io_file(folder / "io"),
      schedstat_file(folder / "schedstat") {}

ProcessProbe::ProcessProbe(const HostPlan& plan)
    : proc_(plan.root / "proc"), roots_(plan.roots), tree_(plan.host), processes_below_(plan.root) {}

void ProcessProbe::read(Reading& reading) {
  std::vector<pid_t> roots = roots_();
  const bool walks = ticks_to_walk_ == 0 || roots != last_roots_;
  for (auto next = processes_.begin(); next != processes_.end();) {
    const auto process = next++;
    if ((walks || process->second.chosen) && !update(process->second)) end(process);
  }
  if (walks) {
    walk(roots);
    last_roots_ = std::move(roots);
    choose();
  } else {
    --ticks_to_walk_;
  }
  for (auto& [id, process] : processes_) {
    if (!process.chosen && !walks) continue;
    update_rest(process);
    if (process.chosen && process.metrics && process.is_read && !process.numbers.ended) set_one(process, reading);
  }
  if (seen_any_) set_sums(reading);
}

void ProcessProbe::walk(const std::vector<pid_t>& roots) {
  for (const pid_t id : processes_below_.walk(roots)) {
    if (!processes_.contains(id)) add(id);
  }
  ticks_to_walk_ = (processes_below_.opened_files() + processes_.size()) / kOpenedForATick;
}

void ProcessProbe::add(pid_t id) {
  if (processes_.size() >= ProcessTree::kMaxProcesses) return;
  const std::filesystem::path folder = proc_ / std::to_string(id);
  const auto text = KernelFile(folder / "stat").read_once(buffer_);
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  if (!stat) return;
  processes_.try_emplace(id, folder, id, *stat);
  seen_any_ = true;
}

std::optional<std::string_view> ProcessProbe::text_of(KernelFile& file, bool keeps_open) {
  return keeps_open ? file.read(buffer_) : file.read_once(buffer_);
}

// Whether it is still there, and still the same. What cannot be read for another reason (no descriptor is left) has not
// ended: its numbers are missing at this tick.
bool ProcessProbe::update(Process& process) {
  const auto text = text_of(process.stat_file, process.keeps_open);
  auto stat = text ? parse_process_stat(*text) : std::nullopt;
  process.is_read = stat.has_value();
  if (!stat) return process.stat_file.is_there();
  if (stat->start_ticks != process.numbers.start_ticks) return false;
  process.numbers = std::move(*stat);
  return true;
}

// What is known of it besides. Who may not read a file finds the same again: what was known stays.
void ProcessProbe::update_rest(Process& process) {
  if (process.numbers.ended) return;
  if (const auto text = text_of(process.status_file, process.keeps_open)) process.status = parse_process_status(*text);
  if (const auto text = text_of(process.io_file, process.keeps_open)) {
    process.read_bytes = number_behind(*text, "read_bytes:");
    process.written_bytes = number_behind(*text, "write_bytes:");
  }
  if (const auto text = text_of(process.schedstat_file, process.keeps_open)) {
    std::string_view rest = *text;
    process.waited_ns = to_number(nth_word(next_line(rest).value_or(""), 1));
  }
}

void ProcessProbe::end(Processes::iterator process) {
  const Process& ended = process->second;
  ended_.user_ticks += static_cast<double>(ended.numbers.user_ticks);
  ended_.system_ticks += static_cast<double>(ended.numbers.system_ticks);
  ended_.read_bytes += or_zero(ended.read_bytes);
  ended_.written_bytes += or_zero(ended.written_bytes);
  ended_.reads_known = ended_.reads_known || ended.read_bytes;
  ended_.writes_known = ended_.writes_known || ended.written_bytes;
  processes_.erase(process);
}

// Those with the most processor time; among equals the older ones, so that they stay the same.
void ProcessProbe::choose() {
  std::vector<Process*> order;
  for (auto& [id, process] : processes_) {
    if (!process.numbers.ended) order.push_back(&process);
    process.chosen = process.keeps_open = false;
  }
  const std::size_t count = std::min(order.size(), kMaxChosen);
  const auto comes_first = [](const Process* a, const Process* b) {
    if (cpu_ticks(a->numbers) != cpu_ticks(b->numbers)) return cpu_ticks(a->numbers) > cpu_ticks(b->numbers);
    return std::pair(a->numbers.start_ticks, a->id) < std::pair(b->numbers.start_ticks, b->id);
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), comes_first);
  for (std::size_t rank = 0; rank < count; ++rank) {
    order[rank]->chosen = true;
    order[rank]->keeps_open = rank < kKeptOpen;
    name(*order[rank]);
  }
  for (auto& [id, process] : processes_) {
    if (process.keeps_open) continue;
    for (KernelFile* file : {&process.stat_file, &process.status_file, &process.io_file, &process.schedstat_file})
      file->close();
  }
}

// Its name of now, for all of its life. A number that is given again, to a process of the same name, gets "#2".
void ProcessProbe::name(Process& process) {
  if (process.metrics || named_ >= kMaxNamed) return;
  ++named_;
  std::string instance = fmt::format("{} {}", process.id, process.numbers.name);
  const int times = ++instances_[instance];
  if (times > 1) instance += fmt::format(" #{}", times);
  process.metrics.emplace(std::move(instance));
}

void ProcessProbe::set_one(Process& process, Reading& reading) {
  MetricSet& set = *process.metrics;
  set.set(reading, "process.cpu.user", static_cast<double>(process.numbers.user_ticks) * seconds_per_tick());
  set.set(reading, "process.cpu.system", static_cast<double>(process.numbers.system_ticks) * seconds_per_tick());
  set.set(reading, "process.threads", static_cast<double>(process.numbers.threads));
  set.set_if(reading, "process.memory.rss", process.status.rss_kib, kKibibyte);
  set.set_if(reading, "process.memory.anonymous", process.status.anonymous_kib, kKibibyte);
  set.set_if(reading, "process.switches.voluntary", process.status.voluntary_switches);
  set.set_if(reading, "process.switches.involuntary", process.status.involuntary_switches);
  set.set_if(reading, "process.io.read", process.read_bytes);
  set.set_if(reading, "process.io.written", process.written_bytes);
  set.set_if(reading, "process.cpu.waited", process.waited_ns, kNanosecond);
}

void ProcessProbe::set_sums(Reading& reading) {
  Sums sums = ended_;
  double living = 0, threads = 0, rss_kib = 0, anonymous_kib = 0;
  bool rss_known = false, anonymous_known = false;
  for (const auto& [id, process] : processes_) {
    sums.user_ticks += static_cast<double>(process.numbers.user_ticks);
    sums.system_ticks += static_cast<double>(process.numbers.system_ticks);
    sums.read_bytes += or_zero(process.read_bytes);
    sums.written_bytes += or_zero(process.written_bytes);
    sums.reads_known = sums.reads_known || process.read_bytes;
    sums.writes_known = sums.writes_known || process.written_bytes;
    if (process.numbers.ended) continue;
    ++living;
    threads += static_cast<double>(process.numbers.threads);
    rss_kib += or_zero(process.status.rss_kib);
    anonymous_kib += or_zero(process.status.anonymous_kib);
    rss_known = rss_known || process.status.rss_kib;
    anonymous_known = anonymous_known || process.status.anonymous_kib;
  }
  tree_.set(reading, "tree.processes", living);
  tree_.set(reading, "tree.threads", threads);
  tree_.set(reading, "tree.cpu.user", sums.user_ticks * seconds_per_tick());
  tree_.set(reading, "tree.cpu.system", sums.system_ticks * seconds_per_tick());
  if (rss_known) tree_.set(reading, "tree.memory.rss", rss_kib * kKibibyte);
  if (anonymous_known) tree_.set(reading, "tree.memory.anonymous", anonymous_kib * kKibibyte);
  if (sums.reads_known) tree_.set(reading, "tree.io.read", sums.read_bytes);
  if (sums.writes_known) tree_.set(reading, "tree.io.written", sums.written_bytes);
}

}  // namespace trainwarden::machine
