// Findings: a run folder with an anchor, to which a test adds what harms, and what all who look at it must then hold.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "crafted_run.h"
#include "limited_child.h"
#include "look.h"
#include "trainwarden/trial.h"

namespace trainwarden::hostile {

// How many of what takes time.
constexpr int many(int count) {
  return kSanitized ? count / 100 : count;
}

class Findings : public testing::Test {
 protected:
  Findings() {
    std::filesystem::remove_all(folder_);
    write_anchor(run_);
  }
  ~Findings() override { std::filesystem::remove_all(folder_); }

  // Within the limits for a reader, the page and a judge, with the anchor where it was.
  void expect_bounded(bool with_anchor = true) const {
    expect_bounded("reader", [&] {
      const std::string fault = look_at_all(run_, folder_ / "scratch");
      return fault.empty() && with_anchor ? look_at_anchor(run_) : fault;
    });
    expect_bounded("page", [&] { return look_at_page(run_); });
    if (!kSanitized) expect_bounded("one_file_page", [&] { return look_at_one_file_page(run_); });
    expect_bounded("judge", [&] { return judge_by_all_rules(run_); });
  }
  static void expect_bounded(const std::string& who, const std::function<std::string()>& work) {
    const Ending outcome = run_limited(work);
    EXPECT_EQ(outcome.fault, "") << who;
    RecordProperty(who + "_peak_mib", static_cast<int>(outcome.peak_bytes >> 20));
    RecordProperty(who + "_cpu_ms", static_cast<int>(outcome.cpu_s * 1000));
  }

  // One of the run's losses says this.
  void expect_loss(std::string_view cause) const {
    const Ending outcome = run_limited([&]() -> std::string {
      const auto trial = Trial::open(run_);
      if (!trial.ok()) return trial.status().to_string();
      (void)(*trial)->tensor_names({.include = {}, .collection = {}, .mode = {}, .step = 9});
      std::string all;
      for (const RunLoss& loss : (*trial)->losses()) all += loss.cause + "\n";
      return all.find(cause) != std::string::npos ? ""
                                                  : fmt::format("no loss says \"{}\":\n{}", cause, all.substr(0, 500));
    });
    EXPECT_EQ(outcome.fault, "");
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("trainwarden_hostile_{}", ::getpid());
  const std::filesystem::path run_ = folder_ / "run";
};

}  // namespace trainwarden::hostile
