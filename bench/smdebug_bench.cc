// Figures of runs that smdebug recorded: opening one and reading it, here and with smdebug itself.
//
// A run in smdebug's layout is made, then opened by fresh processes that take turns: our Trial (smdebug_reader.cc), our
// package `smdebug` and smdebug 1.0.34, the last two with smdebug_reader.py. What they read must be equal. The Pythons
// are named by TRAINWARDEN_PACKAGE_PYTHON and TRAINWARDEN_RIVALS_PYTHON.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench.h"
#include "smdebug_run_maker.h"
#include "temporary_folder.h"

namespace trainwarden::bench {
namespace {

namespace fs = std::filesystem;

enum Arm : std::size_t { kCpp, kPackage, kRival };
constexpr std::array<std::string_view, 3> kArmNames = {"smdebug_reader", "the package smdebug", "smdebug"};

std::string python_of(const char* variable) {
  const char* python = std::getenv(variable);
  if (python != nullptr) return python;
  throw std::runtime_error(fmt::format("{} is not set; `./dev bench smdebug` sets it", variable));
}

// The command that reads a run with this arm, but for its arguments.
std::string reader_of(Arm arm) {
  if (arm == kCpp) return fmt::format("'{}'", TW_SMDEBUG_READER);
  const bool rival = arm == kRival;
  const std::string python = python_of(rival ? "TRAINWARDEN_RIVALS_PYTHON" : "TRAINWARDEN_PACKAGE_PYTHON");
  // smdebug would sleep for a second when the run has ended, and write a line for each thing it does. A PYTHONPATH with
  // our package would make it a rival of itself.
  return fmt::format("{}SMDEBUG_TRAINING_END_DELAY_REFRESH=0 SMDEBUG_LOG_LEVEL=off OMP_NUM_THREADS=1 '{}' '{}'",
                     rival ? "PYTHONPATH= " : "", python, TW_SMDEBUG_READER_PY);
}

struct Reading {
  double open_ns = 0;
  double read_ns = 0;
  double peak_kib = 0;
  std::string content;  // names, steps and values
};

// Opens the run in a fresh process, and reads `tensor` at all steps unless it is empty.
Reading read_run(Arm arm, const fs::path& run, std::string_view tensor) {
  const fs::path result = fs::path(run).concat(".result");
  const std::string command = fmt::format("{} '{}' '{}' {}", reader_of(arm), run.string(), result.string(), tensor);
  if (std::system(command.c_str()) != 0) throw std::runtime_error(fmt::format("failed: {}", command));
  std::ifstream file(result);
  Reading reading;
  file >> reading.open_ns >> reading.read_ns >> reading.peak_kib;
  reading.content.assign(std::istreambuf_iterator<char>(file), {});
  if (!file || reading.content.empty()) throw std::runtime_error(fmt::format("no result of: {}", command));
  return reading;
}

// What the arms measured, a round after the other.
struct Rounds {
  std::vector<std::vector<double>> open_ns;
  std::vector<std::vector<double>> read_ns;
  std::vector<std::vector<double>> peak_kib;
};

// Every arm once a round, the first arm a different one each round, after one round that is not counted.
Rounds measure_rounds(int rounds, const fs::path& run, std::string_view tensor, const std::vector<Arm>& arms) {
  const auto empty = std::vector<std::vector<double>>(arms.size());
  Rounds measured{empty, empty, empty};
  std::string content;
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < arms.size(); ++turn) {
      const std::size_t i = (turn + static_cast<std::size_t>(round + 1)) % arms.size();
      const Reading reading = read_run(arms[i], run, tensor);
      if (content.empty()) content = reading.content;
      if (reading.content != content) {
        throw std::runtime_error(fmt::format("{} read other names, steps or values", kArmNames[arms[i]]));
      }
      if (round < 0) continue;
      measured.open_ns[i].push_back(reading.open_ns);
      measured.read_ns[i].push_back(reading.read_ns);
      measured.peak_kib[i].push_back(reading.peak_kib);
    }
  }
  return measured;
}

Spread scaled(Spread spread, double factor) {
  return {spread.low * factor, spread.median * factor, spread.high * factor};
}

// --- smdebug.open_speedup, smdebug.read_speedup
// -----------------------------------------------------------------------

constexpr int kSpeedupSteps = 10'000;
constexpr int kSpeedupRounds = 5;

// Both figures are of the same readings.
const Rounds& speedup_rounds() {
  static const Rounds rounds = [] {
    const TemporaryFolder folder;
    make_smdebug_run(folder.path() / "run", kSpeedupSteps, EventFiles::kWritten);
    return measure_rounds(kSpeedupRounds, folder.path() / "run", kRunTensor, {kCpp, kPackage, kRival});
  }();
  return rounds;
}

std::vector<Figure> speedup_figures(const std::string& name, const PairedRuns& runs, Goal goal,
                                    const std::string& limit) {
  return {
      {name, runs.ratio(kRival, kPackage), "ratio", goal, limit},
      {name + ".cpp", runs.ratio(kRival, kCpp), "ratio", {}, "the same without Python"},
      {name + ".package_ms", scaled(runs.ns(kPackage), 1e-6), "ms", {}, "our package"},
      {name + ".cpp_ms", scaled(runs.ns(kCpp), 1e-6), "ms", {}, "our Trial"},
      {name + ".smdebug_ms", scaled(runs.ns(kRival), 1e-6), "ms", {}, "the rival"},
  };
}

Result<std::vector<Figure>> measure_open() {
  return speedup_figures("smdebug.open_speedup", PairedRuns(speedup_rounds().open_ns), at_least(10),
                         "10,000 index files opened, read and parsed, with 50,000 records");
}

Result<std::vector<Figure>> measure_read() {
  return speedup_figures("smdebug.read_speedup", PairedRuns(speedup_rounds().read_ns), at_least(3),
                         "one tensor of 64 bytes from each of 10,000 event files");
}

// --- smdebug.open_100k_ms -------------------------------------------------------------------------------------------

constexpr int kLongSteps = 100'000;
constexpr int kLongRounds = 5;

Result<std::vector<Figure>> measure_long() {
  const TemporaryFolder folder;
  make_smdebug_run(folder.path() / "run", kLongSteps, EventFiles::kLeftOut);
  const Rounds rounds = measure_rounds(kLongRounds, folder.path() / "run", "", {kCpp, kPackage});
  const PairedRuns open(rounds.open_ns);
  const std::string name = "smdebug.open_100k_ms";
  constexpr double kMbOfKib = 1024 / 1e6;
  return std::vector<Figure>{
      {name, scaled(open.ns(kCpp), 1e-6), "ms", at_most(1000), "opening 100,000 index files"},
      {name + ".peak_mb", scaled(spread_of(rounds.peak_kib[kCpp]), kMbOfKib), "MB", at_most(200), "500,000 records"},
      {name + ".package", scaled(open.ns(kPackage), 1e-6), "ms", at_most(1000), "the same in Python"},
      {name + ".package_peak_mb", scaled(spread_of(rounds.peak_kib[kPackage]), kMbOfKib), "MB", at_most(200),
       "the same, NumPy and the interpreter"},
  };
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {
      {"smdebug.open_speedup", measure_open},
      {"smdebug.read_speedup", measure_read},
      {"smdebug.open_100k_ms", measure_long},
  };
}

}  // namespace trainwarden::bench
