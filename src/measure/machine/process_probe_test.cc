// The training's processes: found, named, summed, ended.
#include "measure/machine/process_probe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <ctime>

#include "measure/machine/machine_testing.h"

namespace trainwarden::machine {
namespace {

HostPlan plan_with(const TestMachine& machine, std::vector<pid_t> roots) {
  return {.root = machine.root(), .host = "node7", .roots = [roots] { return roots; }};
}

void write_children(const TestMachine& machine, pid_t id, const std::string& children) {
  machine.write(fmt::format("proc/{0}/task/{0}/children", id), children);
}

TEST(ProcessProbeTest, KeepsInItsSumsWhatEndedProcessesUsed) {
  const TestMachine machine;
  machine.write_process(10, "root", 1, 100, 5);
  machine.write_process(11, "worker", 10, 40, 6);
  write_children(machine, 10, "11 ");
  ProcessProbe probe(plan_with(machine, {10}));
  Reading reading;
  EXPECT_DOUBLE_EQ(read_tick(probe, reading).at("tree.cpu.user"), 1.4);
  machine.write_process(11, "worker", 10, 50, 6, 'Z');
  ValuesByName values = read_tick(probe, reading);
  EXPECT_EQ(values.at("tree.cpu.user"), 1.5);
  EXPECT_EQ(values.at("tree.processes"), 1);
  EXPECT_FALSE(values.contains("process.cpu.user of 11 worker"));
  machine.remove("proc/11");
  write_children(machine, 10, "");
  EXPECT_EQ(read_tick(probe, reading).at("tree.cpu.user"), 1.5);
  machine.remove("proc/10");
  values = read_tick(probe, reading);
  EXPECT_EQ(values.at("tree.cpu.user"), 1.5);
  EXPECT_EQ(values.at("tree.processes"), 0);
}

TEST(ProcessProbeTest, TakesAReusedNumberForAnotherProcess) {
  const TestMachine machine;
  machine.write_process(10, "root", 1, 0, 5);
  machine.write_process(11, "worker", 10, 400, 6);
  write_children(machine, 10, "11 ");
  ProcessProbe probe(plan_with(machine, {10}));
  Reading reading;
  EXPECT_EQ(read_tick(probe, reading).at("process.cpu.user of 11 worker"), 4);
  machine.write_process(11, "worker", 10, 10, 7);
  const ValuesByName values = read_tick(probe, reading);
  EXPECT_FALSE(values.contains("process.cpu.user of 11 worker"));
  EXPECT_EQ(values.at("process.cpu.user of 11 worker #2"), 0.1);
  EXPECT_EQ(values.at("tree.cpu.user"), 4.1);
}

TEST(ProcessProbeTest, KeepsTheNameThatAProcessHadFirst) {
  const TestMachine machine;
  machine.write_process(10, "python3", 1, 1, 5);
  ProcessProbe probe(plan_with(machine, {10}));
  Reading reading;
  read_tick(probe, reading);
  machine.write_process(10, "renamed) (S", 1, 2, 5);
  EXPECT_EQ(read_tick(probe, reading).at("process.cpu.user of 10 python3"), 0.02);
}

TEST(ProcessProbeTest, GoesOnWithWhoseParentEnded) {
  const TestMachine machine;
  machine.write_process(10, "root", 1, 100, 5);
  machine.write_process(11, "daemon", 10, 40, 6);
  write_children(machine, 10, "11 ");
  ProcessProbe probe(plan_with(machine, {10}));
  Reading reading;
  read_tick(probe, reading);
  machine.remove("proc/10");
  machine.write_process(11, "daemon", 1, 60, 6);
  const ValuesByName values = read_tick(probe, reading);
  EXPECT_EQ(values.at("process.cpu.user of 11 daemon"), 0.6);
  EXPECT_EQ(values.at("tree.cpu.user"), 1.6);
}

TEST(ProcessProbeTest, LeavesOutTheTickAtWhichAProcessCannotBeRead) {
  const TestMachine machine;
  machine.write_process(10, "root", 1, 100, 5);
  ProcessProbe probe(plan_with(machine, {10}));
  Reading reading;
  read_tick(probe, reading);
  machine.write("proc/10/stat", "10 (root) S 1 0 0");
  const ValuesByName values = read_tick(probe, reading);
  EXPECT_FALSE(values.contains("process.cpu.user of 10 root"));
  EXPECT_EQ(values.at("tree.cpu.user"), 1);
  machine.write_process(10, "root", 1, 200, 5);
  EXPECT_EQ(read_tick(probe, reading).at("process.cpu.user of 10 root"), 2);
}

// A file that can be opened and not read, as those of other users: here a folder.
TEST(ProcessProbeTest, LeavesOutFilesThatMayNotBeRead) {
  const TestMachine machine;
  machine.write_process(10, "root", 1, 100, 5);
  machine.write("proc/10/io/none", "");
  machine.write("proc/10/schedstat", "5 2000000000 1\n");
  ProcessProbe probe(plan_with(machine, {10}));
  Reading reading;
  const ValuesByName values = read_tick(probe, reading);
  EXPECT_FALSE(values.contains("process.io.read of 10 root"));
  EXPECT_FALSE(values.contains("tree.io.read"));
  EXPECT_EQ(values.at("process.cpu.waited of 10 root"), 2);
}

TEST(ProcessProbeTest, FollowsRootsThatChange) {
  const TestMachine machine;
  machine.write_process(10, "first", 1, 100, 5);
  machine.write_process(20, "second", 1, 200, 5);
  std::vector<pid_t> roots;
  ProcessProbe probe({.root = machine.root(), .host = "node7", .roots = [&roots] { return roots; }});
  Reading reading;
  EXPECT_TRUE(read_tick(probe, reading).empty());
  roots = {10, -1, 0, 4711};
  EXPECT_EQ(read_tick(probe, reading).at("tree.processes"), 1);
  roots = {20};
  EXPECT_EQ(read_tick(probe, reading).at("tree.processes"), 2);  // the first has not ended
}

TEST(ProcessProbeTest, GivesMetricsToThoseWithTheMostProcessorTime) {
  const TestMachine machine;
  machine.write_process(10, "root", 1, 0, 5);
  std::string children;
  for (pid_t id = 100; id < 200; ++id) {
    machine.write_process(id, "worker", 10, static_cast<std::uint64_t>(id), 6);
    children += fmt::format("{} ", id);
  }
  write_children(machine, 10, children);
  ProcessProbe probe(plan_with(machine, {10}));
  Reading reading;
  const ValuesByName values = read_tick(probe, reading);
  std::size_t named = 0;
  for (const auto& [name, value] : values) named += name.starts_with("process.cpu.user") ? 1 : 0;
  EXPECT_EQ(named, ProcessProbe::kMaxChosen);
  EXPECT_TRUE(values.contains("process.cpu.user of 136 worker"));
  EXPECT_FALSE(values.contains("process.cpu.user of 135 worker"));
  EXPECT_EQ(values.at("tree.processes"), 101);
  EXPECT_DOUBLE_EQ(values.at("tree.cpu.user"), 149.5);
}

// Workers that are started anew each epoch: their sums go on when there are no more metrics for each.
TEST(ProcessProbeTest, NamesNoMoreProcessesThanThereIsRoomFor) {
  const TestMachine machine;
  machine.write_process(10, "root", 1, 0, 5);
  ProcessProbe probe(plan_with(machine, {10}));
  Reading reading;
  for (int epoch = 0; epoch < 12; ++epoch) {
    std::string children;
    const pid_t first = 1000 + epoch * 50;
    for (pid_t id = first; id < first + 50; ++id) {
      machine.write_process(id, "worker", 10, 100, 6);
      children += fmt::format("{} ", id);
    }
    write_children(machine, 10, children);
    for (std::size_t look = 0; look <= ProcessProbe::kMostLooksToWalk; ++look) read_tick(probe, reading);
    for (pid_t id = first; id < first + 50; ++id) machine.remove(fmt::format("proc/{}", id));
  }
  EXPECT_EQ(read_tick(probe, reading).at("tree.cpu.user"), 600);
  std::size_t named = 0;
  for (const Metric& metric : reading.metrics()) named += metric.name == "process.cpu.user" ? 1 : 0;
  EXPECT_EQ(named, ProcessProbe::kMaxNamed);
}

double thread_seconds_of(const std::function<void()>& what) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double begin = now();
  what();
  return now() - begin;
}

// Of 10,000 processes 4096 are followed, and those behind them not even looked at; between walks a tick is of 64 alone.
TEST(ProcessProbeTest, FollowsAsManyOf10000ProcessesAsItsLimitSays) {
  const TestMachine machine;
  machine.write_process(10, "root", 1, 0, 5);
  std::string children;
  machine.write_process(1000, "worker", 10, 100, 6);
  for (pid_t id = 1000; id < 11000; ++id) {
    children += fmt::format("{} ", id);
    if (id > 1000 && id < 1000 + static_cast<pid_t>(ProcessTree::kMaxProcesses)) {
      std::filesystem::create_directory_symlink("1000", machine.root() / "proc" / std::to_string(id));
    }
  }
  write_children(machine, 10, children);
  ProcessProbe probe(plan_with(machine, {10}));
  Reading reading;
  ValuesByName values;
  const double walk = thread_seconds_of([&] { values = read_tick(probe, reading); });
  EXPECT_EQ(values.at("tree.processes"), ProcessTree::kMaxProcesses);
  const double tick = thread_seconds_of([&] { values = read_tick(probe, reading); });
  EXPECT_EQ(values.at("tree.processes"), ProcessTree::kMaxProcesses);
  EXPECT_LT(tick, walk / 4);
}

TEST(ProcessTreeTest, FindsTheChildrenOfAllThreads) {
  const TestMachine machine;
  machine.write("proc/10/task/10/children", "11 12 \n");
  machine.write("proc/10/task/14/children", "15 ");
  machine.write("proc/12/task/12/children", "10 12 x 99999999999 0 16");
  ProcessTree tree(machine.root());
  EXPECT_EQ(tree.walk({10}), (std::vector<pid_t>{10, 11, 12, 15, 16}));
  EXPECT_TRUE(tree.walk({}).empty());
}

TEST(ProcessTreeTest, FindsChildrenByTheirParentsWhereThereAreNoLists) {
  ProcessTree tree(recorded_machine("old_kernel"));
  EXPECT_EQ(tree.walk({50}), (std::vector<pid_t>{50, 51, 52}));
}

// Where there are no lists, what was found to be another's is not opened again, and what is new is.
TEST(ProcessTreeTest, LooksAtStrangersOnce) {
  const TestMachine machine;
  machine.write_process(10, "root", 1, 0, 5);
  for (pid_t id = 100; id < 150; ++id) machine.write_process(id, "other", 1, 0, 5);
  ProcessTree tree(machine.root());
  EXPECT_EQ(tree.walk({10}), (std::vector<pid_t>{10}));
  const std::size_t first = tree.cost();
  machine.write_process(11, "worker", 10, 0, 6);
  EXPECT_EQ(tree.walk({10}), (std::vector<pid_t>{10, 11}));
  EXPECT_LT(tree.cost(), first / 3);
  machine.write_process(120, "worker", 11, 0, 7);  // a number that is given again
  std::vector<pid_t> found;
  for (int walk = 0; walk <= ProcessTree::kWholeEvery; ++walk) found = tree.walk({10});
  EXPECT_EQ(found, (std::vector<pid_t>{10, 11, 120}));
  machine.write_process(12, "worker", 100, 0, 8);
  EXPECT_EQ(tree.walk({100}), (std::vector<pid_t>{100, 12})) << "other roots: all are looked at";
}

TEST(ProcessTreeTest, KnowsWhetherAnyProcessWasStarted) {
  const TestMachine machine;
  machine.write_process(10, "root", 1, 0, 5);
  ProcessTree tree(machine.root());
  EXPECT_FALSE(tree.nothing_started());
  tree.walk({10});
  EXPECT_FALSE(tree.nothing_started()) << "the kernel does not say";
  machine.write("proc/loadavg", "0.20 0.18 0.12 1/80 11206\n");
  tree.walk({10});
  EXPECT_TRUE(tree.nothing_started());
  machine.write("proc/loadavg", "0.20 0.18 0.12 1/80 11207\n");
  EXPECT_FALSE(tree.nothing_started());
}

TEST(ProcessProbeTest, FindsWhatIsStartedLater) {
  const TestMachine machine;
  machine.write("proc/loadavg", "0.20 0.18 0.12 1/80 10\n");
  machine.write_process(10, "root", 1, 0, 5);
  ProcessProbe probe(plan_with(machine, {10}));
  Reading reading;
  for (int look = 0; look < 100; ++look) read_tick(probe, reading);
  machine.write("proc/loadavg", "0.20 0.18 0.12 1/80 11\n");
  machine.write_process(11, "worker", 10, 7, 6);
  std::size_t looks = 1;
  while (read_tick(probe, reading).at("tree.processes") != 2) ASSERT_LE(++looks, ProcessProbe::kMostLooksToWalk + 1);
  EXPECT_TRUE(values_by_name(reading).contains("process.cpu.user of 11 worker"));
}

// Of those that are not among the busiest each has its turn, and none is forgotten.
TEST(ProcessProbeTest, ReadsEachInItsTurn) {
  const TestMachine machine;
  machine.write_process(10, "root", 1, 0, 5);
  std::string children;
  for (pid_t id = 100; id < 130; ++id) {
    machine.write_process(id, "worker", 10, 1, 6);
    children += fmt::format("{} ", id);
  }
  write_children(machine, 10, children);
  ProcessProbe probe(plan_with(machine, {10}));
  Reading reading;
  EXPECT_DOUBLE_EQ(read_tick(probe, reading).at("tree.cpu.user"), 0.3);
  for (pid_t id = 100; id < 130; ++id) machine.write_process(id, "worker", 10, 101, 6);
  const double next = read_tick(probe, reading).at("tree.cpu.user");
  EXPECT_GT(next, 0.3);
  EXPECT_LT(next, 30.3) << "16 at a look";
  read_tick(probe, reading);
  EXPECT_DOUBLE_EQ(read_tick(probe, reading).at("tree.cpu.user"), 30.3);
}

TEST(ProcessProbeTest, ReadsMemoryFromTheShorterFile) {
  const TestMachine machine;
  machine.write_process(10, "root", 1, 0, 5);
  machine.write("proc/10/status", "VmRSS: 999 kB\nRssAnon: 99 kB\nvoluntary_ctxt_switches: 7\n");
  machine.write("proc/10/statm", "400 300 50 1 0 100 0\n");
  ProcessProbe probe(plan_with(machine, {10}));
  Reading reading;
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  ValuesByName values = read_tick(probe, reading);
  EXPECT_EQ(values.at("process.memory.rss of 10 root"), 300 * page);
  EXPECT_EQ(values.at("process.memory.anonymous of 10 root"), 250 * page);
  EXPECT_EQ(values.at("process.switches.voluntary of 10 root"), 7);
  values = read_tick(probe, reading);
  EXPECT_FALSE(values.contains("process.switches.voluntary of 10 root")) << "what was not read is no sample";
  machine.write("proc/10/statm", "400 300");
  EXPECT_EQ(read_tick(probe, reading).at("process.memory.rss of 10 root"), 999 * 1024.0);
}

TEST(ProcessTreeTest, ReadsTheNumbersBehindAnyName) {
  for (const std::string name : {"a", "a b", "a) S 8 (", "\n", ""}) {
    const auto stat = parse_process_stat("5 (" + name + ") S 7 1 1 1 1 1 1 1 1 1 12 13 1 1 20 0 3 0 99 1\n");
    ASSERT_TRUE(stat.has_value()) << name;
    EXPECT_EQ(stat->name, name);
    EXPECT_EQ(stat->parent, 7);
    EXPECT_EQ(stat->user_ticks, 12u);
    EXPECT_EQ(stat->system_ticks, 13u);
    EXPECT_EQ(stat->threads, 3u);
    EXPECT_EQ(stat->start_ticks, 99u);
    EXPECT_FALSE(stat->ended);
  }
  for (const char* cut : {"", "5", "5 (a", "5 (a)", "5 (a) S 7", "5 (a) S 7 1 1 1 1 1 1 1 1 1 12 13 1 1 20 0 3 0\n",
                          "5 (a) S 7 1 1 1 1 1 1 1 1 1 12 13 1 1 20 0 3 0 99", ")(\n"}) {
    EXPECT_FALSE(parse_process_stat(cut).has_value()) << cut;
  }
}

}  // namespace
}  // namespace trainwarden::machine
