#include "measure/machine/process_probe.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "measure/machine/words.h"

namespace trainwarden::machine {
namespace {

constexpr double kKibibyte = 1024;
constexpr std::size_t kCostForALook = 2;  // of a walk, in files opened, until the next
constexpr std::size_t kLooksToChoose = 20;
constexpr std::uint64_t kStatusEvery = 10;  // reads
// The training needs descriptors itself, and many systems give a process 1024: five files of these stay open.
constexpr std::size_t kKeptOpen = 16;

Per ticks() {
  static const auto per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return {per_second};
}

double bytes_of(std::uint64_t pages) {
  static const auto page_bytes = static_cast<double>(::sysconf(_SC_PAGESIZE));
  return static_cast<double>(pages) * page_bytes;
}

std::optional<double> kibibytes(std::optional<std::uint64_t> number) {
  return number ? std::optional(static_cast<double>(*number) * kKibibyte) : std::nullopt;
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

// "1234 567 89 ...": all of its memory, what of it is resident, what of that is of files or shared.
std::optional<ProcessPages> parse_process_pages(std::string_view text) {
  auto line = next_line(text);
  if (!line || !next_number(*line)) return std::nullopt;
  const auto resident = next_number(*line);
  const auto shared = next_number(*line);
  if (!resident || !shared || *shared > *resident) return std::nullopt;
  return ProcessPages{*resident, *shared};
}

ProcessProbe::Process::Process(const std::filesystem::path& folder, pid_t number, const StatLine& first)
    : id(number),
      numbers(first),
      stat_file(folder / "stat"),
      status_file(folder / "status"),
      statm_file(folder / "statm"),
      io_file(folder / "io"),
      schedstat_file(folder / "schedstat") {}

ProcessProbe::ProcessProbe(const HostPlan& plan)
    : proc_(plan.root / "proc"), roots_(plan.roots), tree_(plan.host), processes_below_(plan.root) {}

void ProcessProbe::read(Reading& reading) {
  std::vector<pid_t> roots = roots_();
  const bool replaced = update_due();
  if (replaced || roots != last_roots_ || walk_is_due()) {
    walk(roots);
    last_roots_ = std::move(roots);
  } else if (looks_to_walk_ > 0) {
    --looks_to_walk_;
  }
  if (looks_to_choose_-- == 0) choose();
  for (Process* const process : due_) {
    update_rest(*process);
    if (process->chosen && process->metrics && process->is_read && !process->numbers.ended) set_one(*process, reading);
  }
  if (seen_any_) set_sums(reading);
}

// Those whose turn it is; those of them that ended are forgotten. Whether another has the number of one.
bool ProcessProbe::update_due() {
  due_.clear();
  bool replaced = false;
  const auto look_at = [&](pid_t id) {
    const auto process = processes_.find(id);
    if (process == processes_.end()) return;
    if (update(process->second)) {
      due_.push_back(&process->second);
      return;
    }
    replaced = replaced || process->second.is_read;
    end(process);
  };
  const std::size_t first = std::min(order_.size(), kAtEachLook);
  for (std::size_t i = 0; i < first; ++i) look_at(order_[i]);
  const std::size_t others = order_.size() - first;
  const std::size_t turns = std::min(others, std::max(kAtEachLook, (others + kTurnLooks - 1) / kTurnLooks));
  for (std::size_t i = 0; i < turns; ++i) look_at(order_[first + (turn_ + i) % others]);
  turn_ = others == 0 ? 0 : (turn_ + turns) % others;
  return replaced;
}

bool ProcessProbe::walk_is_due() {
  return looks_to_walk_ == 0 && !processes_below_.nothing_started();
}

void ProcessProbe::walk(const std::vector<pid_t>& roots) {
  const std::size_t before = processes_.size();
  for (const pid_t id : processes_below_.walk(roots)) {
    if (!processes_.contains(id)) add(id);
  }
  // Where some were started there will be more.
  wait_ = processes_.size() > before ? 0 : std::min(wait_ * 2 + 1, kMostLooksToWalk);
  looks_to_walk_ = std::min(std::max(wait_, processes_below_.cost() / kCostForALook), kMostLooksToWalk);
  if (processes_.size() > before) make_room();
}

// New workers come where old ones went, whose turn to be found ended may be seconds away: they would keep their places
// among the chosen.
void ProcessProbe::make_room() {
  looks_to_choose_ = 0;
  for (auto next = processes_.begin(); next != processes_.end();) {
    const auto process = next++;
    const bool looked_at = std::find(due_.begin(), due_.end(), &process->second) != due_.end();
    if (process->second.chosen && !looked_at && !update(process->second)) end(process);
  }
}

void ProcessProbe::add(pid_t id) {
  if (processes_.size() >= ProcessTree::kMaxProcesses) return;
  const std::filesystem::path folder = proc_ / std::to_string(id);
  const auto text = KernelFile(folder / "stat").read_once(buffer_);
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  if (!stat) return;
  due_.push_back(&processes_.try_emplace(id, folder, id, *stat).first->second);
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
  update_memory(process);
  if (const auto text = text_of(process.io_file, process.keeps_open)) {
    process.read_bytes = number_behind(*text, "read_bytes:");
    process.written_bytes = number_behind(*text, "write_bytes:");
  }
  if (const auto text = text_of(process.schedstat_file, process.keeps_open)) {
    std::string_view rest = *text;
    process.waited_ns = to_number(nth_word(next_line(rest).value_or(""), 1));
  }
  ++process.reads;
}

void ProcessProbe::update_memory(Process& process) {
  const auto small = text_of(process.statm_file, process.keeps_open);
  const auto pages = small ? parse_process_pages(*small) : std::nullopt;
  if (pages) {
    process.rss_bytes = bytes_of(pages->resident);
    process.anonymous_bytes = bytes_of(pages->resident - pages->shared);
    if (process.reads % kStatusEvery != 0) return;
  }
  const auto text = text_of(process.status_file, process.keeps_open);
  if (!text) return;
  const ProcessStatus status = parse_process_status(*text);
  process.voluntary_switches = status.voluntary_switches;
  process.involuntary_switches = status.involuntary_switches;
  if (pages) return;
  process.rss_bytes = kibibytes(status.rss_kib);
  process.anonymous_bytes = kibibytes(status.anonymous_kib);
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
  looks_to_choose_ = kLooksToChoose;
  std::vector<Process*> order;
  for (auto& [id, process] : processes_) {
    order.push_back(&process);
    process.chosen = process.keeps_open = false;
  }
  std::sort(order.begin(), order.end(), [](const Process* a, const Process* b) {
    if (a->numbers.ended != b->numbers.ended) return b->numbers.ended;
    if (cpu_ticks(a->numbers) != cpu_ticks(b->numbers)) return cpu_ticks(a->numbers) > cpu_ticks(b->numbers);
    return a->numbers.start_ticks != b->numbers.start_ticks ? a->numbers.start_ticks < b->numbers.start_ticks
                                                            : a->id < b->id;
  });
  order_.clear();
  for (Process* const process : order) {
    const std::size_t rank = order_.size();
    order_.push_back(process->id);
    if (process->numbers.ended || rank >= kMaxChosen) continue;
    process->chosen = true;
    process->keeps_open = rank < kKeptOpen;
    name(*process);
  }
  for (Process* const process : order) {
    if (process->keeps_open) continue;
    for (KernelFile* file : {&process->stat_file, &process->status_file, &process->statm_file, &process->io_file,
                             &process->schedstat_file})
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

// Switches are read more seldom than the rest: what was known before is no sample of this look.
void ProcessProbe::set_one(Process& process, Reading& reading) {
  MetricSet& set = *process.metrics;
  set.set_if(reading, "process.cpu.user", std::optional(process.numbers.user_ticks), ticks());
  set.set_if(reading, "process.cpu.system", std::optional(process.numbers.system_ticks), ticks());
  set.set(reading, "process.threads", static_cast<double>(process.numbers.threads));
  set.set_if(reading, "process.memory.rss", process.rss_bytes);
  set.set_if(reading, "process.memory.anonymous", process.anonymous_bytes);
  set.set_if(reading, "process.switches.voluntary", std::exchange(process.voluntary_switches, std::nullopt));
  set.set_if(reading, "process.switches.involuntary", std::exchange(process.involuntary_switches, std::nullopt));
  set.set_if(reading, "process.io.read", process.read_bytes);
  set.set_if(reading, "process.io.written", process.written_bytes);
  set.set_if(reading, "process.cpu.waited", process.waited_ns, kNanoseconds);
}

void ProcessProbe::set_sums(Reading& reading) {
  Sums sums = ended_;
  double living = 0, threads = 0, rss_bytes = 0, anonymous_bytes = 0;
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
    rss_bytes += process.rss_bytes.value_or(0);
    anonymous_bytes += process.anonymous_bytes.value_or(0);
    rss_known = rss_known || process.rss_bytes;
    anonymous_known = anonymous_known || process.anonymous_bytes;
  }
  tree_.set(reading, "tree.processes", living);
  tree_.set(reading, "tree.threads", threads);
  tree_.set_if(reading, "tree.cpu.user", std::optional(sums.user_ticks), ticks());
  tree_.set_if(reading, "tree.cpu.system", std::optional(sums.system_ticks), ticks());
  if (rss_known) tree_.set(reading, "tree.memory.rss", rss_bytes);
  if (anonymous_known) tree_.set(reading, "tree.memory.anonymous", anonymous_bytes);
  if (sums.reads_known) tree_.set(reading, "tree.io.read", sums.read_bytes);
  if (sums.writes_known) tree_.set(reading, "tree.io.written", sums.written_bytes);
}

}  // namespace trainwarden::machine
