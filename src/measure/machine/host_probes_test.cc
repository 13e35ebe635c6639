// Recorded machines of many kinds: what is read of each, and what is not there.
#include "measure/machine/host_probes.h"

#include <unistd.h>

#include <fstream>

#include "measure/machine/machine_testing.h"

namespace trainwarden::machine {
namespace {

HostPlan plan_of(const std::filesystem::path& root, std::vector<pid_t> roots = {}) {
  HostPlan plan{.root = root, .host = "node7", .roots = {}};
  if (!roots.empty()) plan.roots = [roots] { return roots; };
  return plan;
}

ValuesByName read_machine(const std::string& kind, std::vector<pid_t> roots = {}) {
  Reading reading;
  return read_tick(host_probes(plan_of(recorded_machine(kind), std::move(roots))), reading);
}

ValuesByName those_named(const ValuesByName& values, std::string_view start) {
  ValuesByName found;
  for (const auto& [name, value] : values) {
    if (name.starts_with(start)) found[name] = value;
  }
  return found;
}

TEST(HostProbesTest, ReadsAVirtualMachineWithGroupsOfBothVersions) {
  const double page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  expect_values(read_machine("vm_hybrid"), {{"cpu.busy", 13.8},
                                            {"cpu.user", 10.2},
                                            {"cpu.system", 3.3},
                                            {"cpu.iowait", 5},
                                            {"cpu.steal", 0.3},
                                            {"cpu.0.busy", 8.39},
                                            {"cpu.0.user", 6.1},
                                            {"cpu.0.system", 2.19},
                                            {"cpu.0.iowait", 3},
                                            {"cpu.0.steal", 0.1},
                                            {"cpu.1.busy", 5.41},
                                            {"cpu.1.user", 4.1},
                                            {"cpu.1.system", 1.11},
                                            {"cpu.1.iowait", 2},
                                            {"cpu.1.steal", 0.2},
                                            {"cpu.online", 2},
                                            {"cpu.effective", 1.5},
                                            {"load.1m", 1.25},
                                            {"queue.running", 3},
                                            {"queue.blocked", 1},
                                            {"memory.total", 8192000000},
                                            {"memory.available", 6144000000},
                                            {"memory.used", 2048000000},
                                            {"memory.cached", 3072000000},
                                            {"swap.total", 2048000000},
                                            {"swap.used", 512000000},
                                            {"paging.major_faults", 345},
                                            {"paging.swapped_in", 7 * page},
                                            {"paging.swapped_out", 11 * page},
                                            {"paging.oom_kills", 2},
                                            {"disk.vda.read", 20000.0 * 512},
                                            {"disk.vda.written", 50000.0 * 512},
                                            {"disk.vda.reads", 1000},
                                            {"disk.vda.writes", 2000},
                                            {"disk.vda.busy", 1.5},
                                            {"disk.vda.waited", 2.0},
                                            {"net.eth0.received", 123456},
                                            {"net.eth0.sent", 654321},
                                            {"net.eth0.receive_errors", 1},
                                            {"net.eth0.send_errors", 2},
                                            {"pressure.cpu.some", 1.5},
                                            {"pressure.cpu.full", 0},
                                            {"pressure.io.some", 2.5},
                                            {"pressure.io.full", 1.25},
                                            {"pressure.memory.some", 1e-5},
                                            {"pressure.memory.full", 5e-6},
                                            {"cgroup.cpu.usage", 123.456789},
                                            {"cgroup.cpu.quota", 1.5},
                                            {"cgroup.cpu.periods", 400},
                                            {"cgroup.cpu.throttled_periods", 40},
                                            {"cgroup.cpu.throttled", 2.5},
                                            {"cgroup.memory.current", 3e9},
                                            {"cgroup.memory.working_set", 2.5e9},
                                            {"cgroup.memory.limit", 4294967296},
                                            {"cgroup.memory.oom_kills", 3},
                                            {"cgroup.io.read", 4096},
                                            {"cgroup.io.written", 8192}});
}

TEST(HostProbesTest, ReadsTheGroupOfTheTrainingInAContainer) {
  const ValuesByName values = read_machine("container_v2", {17});
  expect_values(those_named(values, "cgroup."), {{"cgroup.cpu.usage", 5},
                                                 {"cgroup.cpu.quota", 2.5},
                                                 {"cgroup.cpu.periods", 1000},
                                                 {"cgroup.cpu.throttled_periods", 250},
                                                 {"cgroup.cpu.throttled", 7.5},
                                                 {"cgroup.memory.current", 2147483648.0},
                                                 {"cgroup.memory.working_set", 2e9},
                                                 {"cgroup.memory.limit", 4294967296},
                                                 {"cgroup.memory.oom_kills", 1},
                                                 {"cgroup.io.read", 1048576},
                                                 {"cgroup.io.written", 2097152},
                                                 {"cgroup.pressure.cpu.some", 3},
                                                 {"cgroup.pressure.cpu.full", 2},
                                                 {"cgroup.pressure.io.some", 4e-6},
                                                 {"cgroup.pressure.io.full", 2e-6},
                                                 {"cgroup.pressure.memory.some", 6},
                                                 {"cgroup.pressure.memory.full", 1e-6}});
  EXPECT_EQ(values.at("cpu.online"), 4);
  EXPECT_EQ(values.at("cpu.effective"), 2.5);
  EXPECT_TRUE(those_named(values, "disk.").empty());
  EXPECT_TRUE(those_named(values, "pressure.").empty());
  EXPECT_EQ(those_named(values, "net.").size(), 4u);
}

TEST(HostProbesTest, ReadsEachProcessOfTheTrainingAndTheirSums) {
  const ValuesByName values = read_machine("container_v2", {17});
  expect_values(those_named(values, "tree."), {{"tree.processes", 4},
                                               {"tree.threads", 39},
                                               {"tree.cpu.user", 129.07},
                                               {"tree.cpu.system", 6.93},
                                               {"tree.memory.rss", 2200010.0 * 1024},
                                               {"tree.memory.anonymous", 1620005.0 * 1024},
                                               {"tree.io.read", 4396},
                                               {"tree.io.written", 8193}});
  EXPECT_EQ(values.at("process.cpu.user of 17 python3"), 120);
  EXPECT_EQ(values.at("process.cpu.system of 17 python3"), 6);
  EXPECT_EQ(values.at("process.memory.rss of 17 python3"), 2000000.0 * 1024);
  EXPECT_EQ(values.at("process.memory.anonymous of 17 python3"), 1500000.0 * 1024);
  EXPECT_EQ(values.at("process.threads of 17 python3"), 34);
  EXPECT_EQ(values.at("process.io.read of 17 python3"), 4096);
  EXPECT_EQ(values.at("process.io.written of 17 python3"), 8192);
  EXPECT_EQ(values.at("process.cpu.waited of 17 python3"), 0.25);
  EXPECT_EQ(values.at("process.switches.voluntary of 17 python3"), 1000);
  EXPECT_EQ(values.at("process.switches.involuntary of 17 python3"), 200);
  EXPECT_EQ(values.at("process.cpu.user of 19 pt (data) worker"), 4);
  EXPECT_TRUE(values.contains("process.threads of 20 nccl"));   // started by another thread than the first
  EXPECT_FALSE(values.contains("process.threads of 21 gone"));  // ended, and not waited for
  EXPECT_FALSE(values.contains("process.threads of 99 other"));
}

TEST(HostProbesTest, ReadsAHostOf256Processors) {
  const ValuesByName values = read_machine("host_256");
  EXPECT_EQ(values.at("cpu.online"), 256);
  EXPECT_EQ(values.at("cpu.effective"), 128);  // its affinity
  EXPECT_DOUBLE_EQ(values.at("cpu.255.busy"), (355 + 50) / 100.0);
  EXPECT_EQ(values.at("queue.running"), 200);
  EXPECT_EQ(values.at("disk.nvme23n1.read"), 23 * 8 * 512.0);
  EXPECT_FALSE(values.contains("disk.nvme23n1p1.read"));
  expect_values(those_named(values, "rdma."), {{"rdma.mlx5_0.1.received", 4000},
                                               {"rdma.mlx5_0.1.sent", 8000},
                                               {"rdma.mlx5_1.1.received", 12000},
                                               {"rdma.mlx5_1.1.sent", 16000}});
  EXPECT_EQ(values.at("net.ib0.sent"), 22);
  EXPECT_EQ(values.at("pressure.cpu.some"), 5);
  EXPECT_FALSE(values.contains("pressure.cpu.full"));
  // Its own group has no limit, the one around it has.
  expect_values(those_named(values, "cgroup."), {{"cgroup.cpu.usage", 1},
                                                 {"cgroup.memory.current", 5000},
                                                 {"cgroup.memory.working_set", 4000},
                                                 {"cgroup.memory.limit", 1099511627776},
                                                 {"cgroup.memory.oom_kills", 0}});
}

TEST(HostProbesTest, LeavesOutWhatMayNotBeRead) {
  const ValuesByName values = read_machine("hidepid", {300});
  EXPECT_EQ(values.at("tree.processes"), 2);  // 301 is another user's
  EXPECT_EQ(values.at("tree.cpu.user"), 0.11);
  EXPECT_FALSE(values.contains("tree.io.read"));
  EXPECT_FALSE(values.contains("process.io.read of 300 train"));
  EXPECT_TRUE(values.contains("process.cpu.waited of 302 worker"));
  EXPECT_FALSE(values.contains("memory.total"));
}

TEST(HostProbesTest, ReadsAnOldKernel) {
  const ValuesByName values = read_machine("old_kernel", {50});
  EXPECT_EQ(values.at("tree.processes"), 3);  // found by the parents of all
  EXPECT_EQ(values.at("tree.cpu.user"), 0.17);
  EXPECT_FALSE(values.contains("tree.memory.anonymous"));
  EXPECT_FALSE(values.contains("process.cpu.waited of 50 trainer"));
  EXPECT_TRUE(values.contains("memory.total"));
  EXPECT_FALSE(values.contains("memory.used"));
  EXPECT_FALSE(values.contains("paging.oom_kills"));
  EXPECT_EQ(values.at("net.eth0.received"), 4294967295.0);
  EXPECT_TRUE(those_named(values, "pressure.").empty());
  EXPECT_TRUE(those_named(values, "cgroup.").empty());
  EXPECT_EQ(values.at("disk.sda.busy"), 0.007);
}

TEST(HostProbesTest, ReadsNothingFromGarbage) {
  expect_values(read_machine("garbage", {77}), {{"cpu.online", 4},
                                                {"cpu.3.busy", 0.3},
                                                {"cpu.3.user", 0.1},
                                                {"cpu.3.system", 0.15},
                                                {"cpu.3.iowait", 0.05},
                                                {"cpu.3.steal", 0.05},
                                                {"memory.available", 5120},
                                                {"swap.total", 5120}});
}

TEST(HostProbesTest, HasNoProbeOfWhatTheMachineHasNot) {
  const TestMachine machine;
  Reading reading;
  const auto probes = host_probes(plan_of(machine.root()));
  EXPECT_EQ(probes.size(), 1u);  // of groups, which may come
  EXPECT_TRUE(read_tick(probes, reading).empty());
  EXPECT_TRUE(reading.metrics().empty());
}

TEST(HostProbesTest, LeavesOutWhatVanishes) {
  const TestMachine machine;
  machine.copy("container_v2");
  Reading reading;
  const auto probes = host_probes(plan_of(machine.root(), {17}));
  const ValuesByName before = read_tick(probes, reading);
  for (const char* gone : {"proc/stat", "proc/net", "proc/17/io", "proc/18", "sys/fs/cgroup/memory.stat"})
    machine.remove(gone);
  std::ofstream(machine.root() / "proc/meminfo", std::ios::trunc) << "MemTotal:       16000000 kB\nMemAvail";
  const ValuesByName after = read_tick(probes, reading);
  EXPECT_FALSE(after.contains("cpu.busy"));
  EXPECT_FALSE(after.contains("net.eth0.sent"));
  EXPECT_FALSE(after.contains("memory.available"));
  EXPECT_EQ(after.at("memory.total"), before.at("memory.total"));
  EXPECT_FALSE(after.contains("process.io.read of 17 python3"));
  EXPECT_FALSE(after.contains("process.threads of 18 pt_data_worker"));
  EXPECT_FALSE(after.contains("cgroup.memory.working_set"));
  EXPECT_EQ(after.at("cgroup.memory.current"), before.at("cgroup.memory.current"));
}

TEST(HostProbesTest, ReadsWhatIsNewInTheSameFile) {
  const TestMachine machine;
  machine.write("proc/loadavg", "1.00 1 1 1/1 1\n");
  machine.write("proc/stat", "procs_running 1\n");
  Reading reading;
  const auto probes = host_probes(plan_of(machine.root()));
  EXPECT_EQ(read_tick(probes, reading).at("queue.running"), 1);
  machine.write("proc/loadavg", "2.50 1 1 1/1 1\n");
  machine.write("proc/stat", "procs_running 2\n");
  ValuesByName values = read_tick(probes, reading);
  EXPECT_EQ(values.at("queue.running"), 2);
  EXPECT_FALSE(values.contains("load.1m")) << "it is read at each tenth look: what was not read is no sample";
  for (int look = 2; look <= Probe::kRarely; ++look) values = read_tick(probes, reading);
  EXPECT_EQ(values.at("load.1m"), 2.5);
}

TEST(HostProbesTest, ReadsFilesOfAMebibyteAndNoneOfEight) {
  const TestMachine machine;
  std::string text = "intr";
  text.resize(std::size_t{1} << 20, '1');
  machine.write("proc/stat", text + "\nprocs_running 5\n");
  text.resize(std::size_t{8} << 20, '1');
  machine.write("proc/meminfo", "MemTotal: 5 kB\n" + text + "\n");
  Reading reading;
  expect_values(read_tick(host_probes(plan_of(machine.root())), reading), {{"queue.running", 5}});
}

TEST(HostProbesTest, WaitsForTheTraining) {
  const TestMachine machine;
  machine.copy("container_v2");
  std::vector<pid_t> roots;
  HostPlan plan{.root = machine.root(), .host = "node7", .roots = [&roots] { return roots; }};
  const auto probes = host_probes(plan);
  Reading reading;
  const ValuesByName before = read_tick(probes, reading);
  EXPECT_TRUE(those_named(before, "cgroup.").empty());
  EXPECT_TRUE(those_named(before, "tree.").empty());
  roots = {17};
  const ValuesByName after = read_tick(probes, reading);
  EXPECT_EQ(after.at("cgroup.cpu.quota"), 2.5);
  EXPECT_EQ(after.at("tree.processes"), 4);
}

// Whatever this machine is: no test can know more of it than this.
TEST(HostProbesTest, ReadsThisMachine) {
  Reading reading;
  HostPlan plan = plan_of("/", {::getpid()});
  const auto probes = host_probes(plan);
  const ValuesByName values = read_tick(probes, reading);
  EXPECT_GE(values.at("cpu.online"), 1);
  EXPECT_GT(values.at("cpu.busy"), 0);
  EXPECT_GT(values.at("memory.total"), values.at("memory.used"));
  EXPECT_GE(values.at("cpu.effective"), 0.01);
  EXPECT_GE(values.at("tree.processes"), 1);
  EXPECT_GT(values.at("tree.memory.rss"), 0);
  for (const Metric& metric : reading.metrics()) EXPECT_FALSE(metric.instance.empty()) << metric.name;
}

}  // namespace
}  // namespace trainwarden::machine
