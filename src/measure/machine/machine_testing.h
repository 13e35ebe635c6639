// What tests of probes share: recorded machines, made ones, and the values of a tick by name.
#pragma once

#include <gtest/gtest.h>
#include <test_paths.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/folder_testing.h"
#include "measure/machine/host_probes.h"
#include "measure/machine/reading.h"

namespace trainwarden::machine {

// A tree of testdata/machines.
inline std::filesystem::path recorded_machine(const std::string& kind) {
  return std::filesystem::path(TW_SOURCE_DIR) / "testdata/machines" / kind;
}

// A machine that changes during a test.
class TestMachine {
 public:
  const std::filesystem::path& root() const { return folder_.path(); }
  void write(const std::string& path, std::string_view text) const {
    std::filesystem::create_directories((root() / path).parent_path());
    std::ofstream(root() / path, std::ios::binary | std::ios::trunc) << text;
  }
  void copy(const std::string& kind) const {
    std::filesystem::copy(recorded_machine(kind), root(), std::filesystem::copy_options::recursive);
  }
  // Files that are still open have no text any more, as those of the kernel.
  void remove(const std::string& path) const {
    std::error_code ignored;
    std::filesystem::resize_file(root() / path, 0, ignored);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root() / path, ignored)) {
      if (entry.is_regular_file()) std::filesystem::resize_file(entry, 0, ignored);
    }
    std::filesystem::remove_all(root() / path);
  }
  // A process with what of it counts here.
  void write_process(pid_t id, std::string_view name, pid_t parent, std::uint64_t user, std::uint64_t start,
                     char state = 'S') const {
    std::string fields;
    for (int field = 5; field <= 13; ++field) fields += " 0";
    write("proc/" + std::to_string(id) + "/stat", std::to_string(id) + " (" + std::string(name) + ") " + state + " " +
                                                      std::to_string(parent) + fields + " " + std::to_string(user) +
                                                      " 0 0 0 20 0 1 0 " + std::to_string(start) + " 0 0\n");
  }

 private:
  TestFolder folder_;
};

// "cpu.busy", and "process.threads of 17 python3" where the metric has an instance that is not the host's.
using ValuesByName = std::map<std::string, double>;
inline ValuesByName values_by_name(const Reading& reading) {
  ValuesByName values;
  for (const Reading::Value& value : reading.values()) {
    const Metric& metric = reading.metrics()[value.metric];
    values[metric.source == MetricSource::kHost ? metric.name : metric.name + " of " + metric.instance] = value.value;
  }
  return values;
}

inline ValuesByName read_tick(const std::vector<std::unique_ptr<Probe>>& probes, Reading& reading) {
  reading.begin_tick();
  for (const auto& probe : probes) probe->read(reading);
  return values_by_name(reading);
}

inline ValuesByName read_tick(Probe& probe, Reading& reading) {
  reading.begin_tick();
  probe.read(reading);
  return values_by_name(reading);
}

// The same names, and of each the same value but for rounding.
inline void expect_values(const ValuesByName& found, const ValuesByName& expected) {
  for (const auto& [name, value] : expected) {
    if (found.contains(name)) {
      EXPECT_DOUBLE_EQ(found.at(name), value) << name;
    } else {
      ADD_FAILURE() << name << " is missing";
    }
  }
  for (const auto& [name, value] : found) EXPECT_TRUE(expected.contains(name)) << name << " = " << value;
}

}  // namespace trainwarden::machine
