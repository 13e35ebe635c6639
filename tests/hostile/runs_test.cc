// Crafted and mutated run folders, each looked at in all ways by processes of its own with 512 MiB and 20 s: a
// reader's, the page's and a judge's.
//
// A slice of them by default; all with TRAINWARDEN_HOSTILE_RUNS=3000, the number of mutated ones of each kind.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "crafted_run.h"
#include "families.h"
#include "limited_child.h"
#include "look.h"

namespace trainwarden::hostile {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSliceStride = kSanitized ? 50 : 25;
constexpr std::uint64_t kSliceMutated = kSanitized ? 20 : 40;
constexpr std::uint64_t kSliceMutatedSmdebug = kSanitized ? 40 : 100;
constexpr std::size_t kProgramStride = 20;  // how often the program itself is run, which takes longer

std::optional<std::uint64_t> wanted_runs() {
  const char* wanted = std::getenv("TRAINWARDEN_HOSTILE_RUNS");
  if (wanted == nullptr) return std::nullopt;
  return std::strtoull(wanted, nullptr, 10);
}

class HostileRuns : public testing::Test {
 protected:
  HostileRuns() { fs::remove_all(folder_); }
  ~HostileRuns() override {
    fs::remove_all(folder_);
    RecordProperty("runs", static_cast<int>(runs_));
    fmt::print("{} runs, {} programs; at most {} MiB and {:.2f} s\n", runs_, programs_, peak_bytes_ >> 20, cpu_s_);
  }

  void take(const std::string& name, const Ending& outcome) {
    EXPECT_EQ(outcome.fault, "") << name;
    peak_bytes_ = std::max(peak_bytes_, outcome.peak_bytes);
    cpu_s_ = std::max(cpu_s_, outcome.cpu_s);
  }
  // `also` is asked by the reader when nothing else is wrong.
  void look(const std::string& name, const std::function<std::string()>& also) {
    take(name, run_limited([&] {
           const std::string fault = look_at_all(run_, folder_ / "scratch");
           return fault.empty() ? also() : fault;
         }));
    take(name + ": the page", run_limited([&] { return look_at_page(run_); }));
    take(name + ": the page in one file", run_limited([&] { return look_at_one_file_page(run_); }));
    take(name + ": the rules", run_limited([&] { return judge_by_all_rules(run_); }));
    if (runs_++ % kProgramStride == 0) run_programs(name);
  }
  void look_at_mutated(const Mutated& mutated) {
    look(mutated.name,
         [&] { return mutated.data_only ? compare_steps(run_, mutated.golden, mutated.steps) : std::string(); });
  }
  void run_programs(const std::string& name) {
    const std::string run = run_.string();
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{TW_CLI, "ls", folder_.string()},
                                               {TW_CLI, "show", run, "--json"},
                                               {TW_CLI, "rules", run},
                                               {TW_CLI, "doctor", run}}) {
      take(fmt::format("{}: {}", name, arguments[1]), run_limited(arguments));
      ++programs_;
    }
  }

  const fs::path folder_ = fs::temp_directory_path() / fmt::format("trainwarden_hostile_runs_{}", ::getpid());
  const fs::path run_ = folder_ / "run";
  std::size_t runs_ = 0;
  std::size_t programs_ = 0;
  std::uint64_t peak_bytes_ = 0;
  double cpu_s_ = 0;
};

TEST_F(HostileRuns, Crafted) {
  const std::vector<Crafted> all = crafted_runs();
  std::set<std::string> names;
  for (const Crafted& crafted : all) EXPECT_TRUE(names.insert(crafted.name).second) << crafted.name;
  EXPECT_GE(all.size(), 1'000U);
  const std::size_t stride = wanted_runs() ? 1 : kSliceStride;
  for (std::size_t i = 0; i < all.size(); i += stride) {
    const Crafted& crafted = all[i];
    fs::remove_all(folder_);
    write_anchor(run_);
    crafted.make(run_);
    look(crafted.name, [&] { return crafted.keeps_anchor ? look_at_anchor(run_) : std::string(); });
  }
}

TEST_F(HostileRuns, Mutated) {
  for (std::uint64_t seed = 0; seed < wanted_runs().value_or(kSliceMutated); ++seed) {
    look_at_mutated(write_mutated(seed, run_));
  }
}

TEST_F(HostileRuns, MutatedOfSmdebug) {
  const fs::path beside = folder_.string() + "_goldens";
  fs::remove_all(beside);
  const std::vector<fs::path> goldens = write_smdebug_goldens(beside);
  for (std::uint64_t seed = 0; seed < wanted_runs().value_or(kSliceMutatedSmdebug); ++seed) {
    look_at_mutated(write_mutated_smdebug(seed, goldens[seed % goldens.size()], run_));
  }
  fs::remove_all(beside);
}

}  // namespace
}  // namespace trainwarden::hostile
