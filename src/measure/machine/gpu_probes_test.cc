// NVML as a probe, on a library that passes for it.
#include "measure/machine/gpu_probes.h"

#include <dlfcn.h>

#include <thread>

#include "measure/machine/machine_testing.h"

namespace trainwarden::machine {
namespace {

enum StubBehaviour { kNormal, kNothingSupported, kFailingInit, kNoGpu, kLost };

class GpuProbesTest : public ::testing::Test {
 protected:
  GpuProbesTest() : library_(::dlopen(TW_STUB_NVML, RTLD_NOW | RTLD_LOCAL)) { behave(kNormal); }
  ~GpuProbesTest() override { ::dlclose(library_); }

  template <class Function>
  Function* control(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(library_, name));
  }
  void behave(StubBehaviour how) const { control<void(int)>("stub_nvml_set")(how); }
  int calls() const { return control<int()>("stub_nvml_calls")(); }
  static std::vector<std::unique_ptr<Probe>> open() {
    return open_gpu_probes({.library = TW_STUB_NVML, .least_counting = std::chrono::milliseconds(0)});
  }

  void* library_;
};

TEST_F(GpuProbesTest, ReadsWhatEachGpuSays) {
  const auto probes = open();
  ASSERT_EQ(probes.size(), 1u);
  Reading reading;
  read_tick(probes, reading);
  expect_values(read_tick(probes, reading), {{"gpu.utilisation of GPU-0", 0.75},
                                             {"gpu.memory.utilisation of GPU-0", 0.2},
                                             {"gpu.memory.total of GPU-0", 80'000},
                                             {"gpu.memory.used of GPU-0", 50'000},
                                             {"gpu.power of GPU-0", 350.5},
                                             {"gpu.power.limit of GPU-0", 700},
                                             {"gpu.energy of GPU-0", 123456.789},
                                             {"gpu.temperature of GPU-0", 65},
                                             {"gpu.clock.sm of GPU-0", 1.98e9},
                                             {"gpu.clock.memory of GPU-0", 2.619e9},
                                             {"gpu.throttled.power_cap of GPU-0", 1},
                                             {"gpu.throttled.hardware of GPU-0", 0},
                                             {"gpu.throttled.thermal_software of GPU-0", 0},
                                             {"gpu.throttled.thermal_hardware of GPU-0", 1},
                                             {"gpu.throttled.power_brake of GPU-0", 0},
                                             {"gpu.pcie.generation of GPU-0", 4},
                                             {"gpu.pcie.generation.max of GPU-0", 5},
                                             {"gpu.pcie.width of GPU-0", 8},
                                             {"gpu.pcie.width.max of GPU-0", 16},
                                             {"gpu.pcie.sent of GPU-0", 197},
                                             {"gpu.pcie.received of GPU-0", 198},
                                             {"gpu.nvlink.received of GPU-0", 10240},
                                             {"gpu.ecc.corrected of GPU-0", 7},
                                             {"gpu.ecc.uncorrected of GPU-0", 1},
                                             {"gpu.xid.events of GPU-0", 0},
                                             {"gpu.sm.activity of GPU-0", 0.2},
                                             {"gpu.sm.occupancy of GPU-0", 0.3},
                                             {"gpu.dram.activity of GPU-0", 1},
                                             {"gpu.utilisation of GPU-1", 0.05}});
}

TEST_F(GpuProbesTest, CountsFromOneTickToTheNext) {
  const auto probes = open();
  Reading reading;
  EXPECT_FALSE(read_tick(probes, reading).contains("gpu.sm.activity of GPU-0"));
  EXPECT_TRUE(read_tick(probes, reading).contains("gpu.sm.activity of GPU-0"));
  const auto slow = open_gpu_probes({.library = TW_STUB_NVML, .least_counting = std::chrono::hours(1)});
  read_tick(slow, reading);
  EXPECT_FALSE(read_tick(slow, reading).contains("gpu.sm.activity of GPU-0"));
}

TEST_F(GpuProbesTest, AsksOnceForWhatIsNotSupported) {
  behave(kNothingSupported);
  const auto probes = open();
  Reading reading;
  EXPECT_TRUE(read_tick(probes, reading).empty());
  EXPECT_TRUE(reading.metrics().empty());
  EXPECT_GT(calls(), 0);
  read_tick(probes, reading);
  EXPECT_EQ(calls(), 0);
}

TEST_F(GpuProbesTest, AsksAgainForWhatFailedForNow) {
  const auto probes = open();
  Reading reading;
  behave(kLost);
  EXPECT_FALSE(read_tick(probes, reading).contains("gpu.power of GPU-0"));
  behave(kNormal);
  EXPECT_TRUE(read_tick(probes, reading).contains("gpu.power of GPU-0"));
}

TEST_F(GpuProbesTest, CountsXidEventsAndKeepsTheLast) {
  const auto probes = open();
  Reading reading;
  EXPECT_FALSE(read_tick(probes, reading).contains("gpu.xid.last of GPU-0"));
  control<void(int)>("stub_nvml_report_xid")(3);
  const ValuesByName values = read_tick(probes, reading);
  EXPECT_EQ(values.at("gpu.xid.events of GPU-0"), 3);
  EXPECT_EQ(values.at("gpu.xid.last of GPU-0"), 79);
  EXPECT_EQ(read_tick(probes, reading).at("gpu.xid.events of GPU-0"), 3);
}

TEST_F(GpuProbesTest, HasNoProbeWithoutDriverOrGpu) {
  EXPECT_TRUE(open_gpu_probes({.library = "libthere-is-no-such-library.so.1"}).empty());
  EXPECT_TRUE(open_gpu_probes({.library = "libc.so.6"}).empty());
  behave(kFailingInit);
  EXPECT_TRUE(open().empty());
  behave(kNoGpu);
  EXPECT_TRUE(open().empty());
}

// A driver that hangs holds up the thread that reads it, and nothing else: another probe reads on meanwhile.
TEST_F(GpuProbesTest, HoldsUpItsOwnThreadAloneWhenTheDriverHangs) {
  const auto gpus = open();
  Reading of_gpus;
  control<void(int)>("stub_nvml_hold")(1);
  std::thread reader([&] { read_tick(gpus, of_gpus); });
  while (control<int()>("stub_nvml_waiting")() == 0) std::this_thread::yield();
  Reading of_host;
  const auto host = host_probes({.root = recorded_machine("container_v2"), .host = "node7", .roots = {}});
  EXPECT_TRUE(read_tick(host, of_host).contains("cpu.busy"));
  control<void(int)>("stub_nvml_hold")(0);
  reader.join();
  EXPECT_TRUE(values_by_name(of_gpus).contains("gpu.power of GPU-0"));
}

}  // namespace
}  // namespace trainwarden::machine
