// Traces of PyTorch's profiler as runs: steps, phases that sum to them, calls on their tracks; recorded ones, whose
// answers are known.
#include "read/transfer/kineto_import.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "read/profile/step_phases.h"
#include "read/transfer/kineto_steps.h"
#include "read/transfer/transfer_testing.h"
#include "trainwarden/transfer.h"

namespace trainwarden::transfer {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kBeginUs = 1'606'910'596'000'000;

std::string traced(std::string_view category, std::string_view name, std::int64_t at_us, std::int64_t us,
                   std::string_view thread = "1", std::string_view arguments = "") {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": "{}", "ts": {}, "dur": {}, "args": {{{}}}}},)"
      "\n",
      category, name, thread, kBeginUs + at_us, us, arguments);
}

// Two steps of 1 ms: 300 µs of waiting, a copy, forward, zero_grad, backward on another thread, the optimizer.
std::string two_steps() {
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  text += traced("cpu_op", "aten::before", -50, 10);
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t at = step * 1000;
    text += traced("user_annotation", fmt::format("ProfilerStep#{}", 5 + step), at, 990);
    text += traced("cpu_op", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 10, 300);
    text += traced("cpu_op", "aten::stack", at + 20, 100);
    text += traced("cpu_op", "aten::to", at + 320, 30);
    text += traced("cpu_op", "aten::linear", at + 360, 100, "1", R"("Sequence number": 7)");
    text += traced("cpu_op", "aten::mse_loss", at + 470, 30, "1", R"("Sequence number": 8)");
    text += traced("cpu_op", "Optimizer.zero_grad#SGD.zero_grad", at + 510, 20);
    text += traced("cpu_op", "aten::ones_like", at + 535, 2);
    text += traced("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", at + 540, 200, "2");
    text += traced("kernel", "gemm", at + 700, 400, "7", R"("device": 0, "stream": 7)");
    text += traced("cpu_op", "Optimizer.step#SGD.step", at + 800, 100);
  }
  text += R"({"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1606910596000400, "args": {"Device Type": 1,
             "Device Id": 0, "Bytes": 512, "Total Allocated": 1024}},)";
  text += R"({"ph": "M", "name": "process_name", "pid": 1}]})";
  return text;
}

class KinetoImport : public TransferTest {
 protected:
  fs::path file_of(const std::string& text, const std::string& name = "trace.json") const {
    std::ofstream(in(name)) << text;
    return in(name);
  }
  std::unique_ptr<Trial> imported(const fs::path& file) const {
    const auto report = import_run(file, in("run"));
    EXPECT_TRUE(report.ok()) << report.status().to_string();
    if (!report.ok()) return nullptr;
    auto trial = Trial::open(in("run"));
    EXPECT_TRUE(trial.ok()) << trial.status().to_string();
    return trial.ok() ? *std::move(trial) : nullptr;
  }
};

std::map<std::string, double> shares_of(Trial& trial) {
  std::map<std::string, double> shares;
  const auto workers = profile::step_phases(trial);
  EXPECT_TRUE(workers.ok()) << workers.status().to_string();
  if (!workers.ok() || workers->size() != 1) return shares;
  for (const profile::PhaseTime& phase : workers->front().phases) shares[phase.phase] = phase.share;
  return shares;
}

TEST_F(KinetoImport, StepsPhasesAndCallsAreThoseOfTheTrace) {
  const auto trial = imported(file_of(two_steps()));
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->steps(Mode::kTrain), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(trial->operator_steps("rank-00000"), (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(trial->labels().at("steps"), "by ProfilerStep");
  const auto shares = shares_of(*trial);
  // 1000 and 990 µs of steps.
  const double whole = 1990;
  EXPECT_NEAR(shares.at("data_wait"), 600 / whole, 1e-9);
  EXPECT_NEAR(shares.at("forward"), 2 * 140 / whole, 1e-9);
  EXPECT_NEAR(shares.at("zero_grad"), 40 / whole, 1e-9);
  EXPECT_NEAR(shares.at("backward"), 400 / whole, 1e-9);
  EXPECT_NEAR(shares.at("optimizer"), 200 / whole, 1e-9);
  EXPECT_NEAR(shares.at("rest"), (whole - 600 - 280 - 40 - 400 - 200) / whole, 1e-9);

  const auto batch = trial->operators("rank-00000", 5);
  ASSERT_TRUE(batch.ok()) << batch.status().to_string();
  EXPECT_EQ(batch->calls.size(), 11u);
  std::map<std::string, OperatorCall> calls;
  for (const OperatorCall& call : batch->calls) calls[batch->names[call.name]] = call;
  EXPECT_FALSE(calls.contains("aten::before"));
  const OperatorCall kernel = calls.at("gemm");
  EXPECT_EQ(kernel.kind, OperatorKind::kKernel);
  EXPECT_EQ(kernel.start_unix_ns, (kBeginUs + 700) * 1000);
  EXPECT_EQ(batch->tracks[kernel.track], (OperatorTrack{"GPU-0 stream 7", 7, true}));
  EXPECT_EQ(calls.at("autograd::engine::evaluate_function: AddmmBackward0").kind, OperatorKind::kBackward);
  EXPECT_EQ(calls.at("aten::linear").sequence, 7);
  ASSERT_EQ(batch->memory.size(), 1u);
  EXPECT_EQ(batch->memory[0], (MemoryChange{(kBeginUs + 400) * 1000, 512, 1024, 0}));
}

TEST_F(KinetoImport, ACompressedTraceIsTheSame) {
  gzFile file = ::gzopen(in("trace.json.gz").c_str(), "wb");
  const std::string text = two_steps();
  ASSERT_EQ(::gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  ASSERT_EQ(::gzclose(file), Z_OK);
  const auto trial = imported(in("trace.json.gz"));
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->operator_steps("rank-00000").size(), 2u);
}

TEST_F(KinetoImport, WithoutMarksBatchesBeginSteps) {
  std::string text = "[";
  for (std::int64_t step = 0; step < 3; ++step) {
    text += traced("Operator", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", step * 100, 20);
    if (step < 2) text += traced("Operator", "Optimizer.step#SGD.step", step * 100 + 60, 20);
  }
  text += traced("Operator", "aten::after", 300, 500) + "{}]";
  const auto trial = imported(file_of(text));
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->operator_steps("rank-00000"), (std::vector<std::int64_t>{0, 1})) << "no batch followed the second";
  EXPECT_NEAR(shares_of(*trial).at("data_wait"), 0.2, 1e-9);
}

TEST_F(KinetoImport, ATraceWithAClockOfItsOwnEndsWhenItWasWritten) {
  const fs::path file =
      file_of(R"([{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 5000, "dur": 10}])");
  const auto trial = imported(file);
  ASSERT_NE(trial, nullptr);
  EXPECT_TRUE(trial->labels().contains("times"));
  EXPECT_GT(trial->created_unix_ns(), 1'700'000'000'000'000'000);
  const auto workers = profile::step_phases(*trial);
  ASSERT_TRUE(workers.ok());
  EXPECT_TRUE(workers->empty()) << "no thread is known to train";
}

TEST_F(KinetoImport, WhatIsNoTraceLeavesNothing) {
  for (const std::string& text :
       {std::string("no trace"), std::string("[]"), std::string("\x1F\x8B\x08 cut"), two_steps().substr(0, 700)}) {
    const auto report = import_run(file_of(text), in("run"));
    EXPECT_EQ(report.status().code(), Code::kDataLoss) << text.substr(0, 30);
    EXPECT_FALSE(fs::exists(in("run")));
    EXPECT_FALSE(fs::exists(in("run.importing")));
  }
}

// Traces that PyTorch's and Kineto's repositories have: with no workers the loader is what takes the time.
class RecordedTraces : public KinetoImport, public testing::WithParamInterface<std::pair<const char*, bool>> {
 protected:
  void SetUp() override {
    const char* root = std::getenv("TRAINWARDEN_SHARED_DATA");
    const fs::path data = root != nullptr ? root : TW_SOURCE_DIR "/../shared/data";
    file_ = data / "telemetry/kineto_tb_samples" / GetParam().first;
    if (!fs::exists(file_)) GTEST_SKIP() << "recorded traces are not on this machine: " << file_;
  }
  fs::path file_;
};

TEST_P(RecordedTraces, SayWhetherDataWereWaitedFor) {
  const auto trial = imported(file_);
  ASSERT_NE(trial, nullptr);
  EXPECT_GE(trial->operator_steps("rank-00000").size(), 5u);
  const auto shares = shares_of(*trial);
  double sum = 0;
  std::string text;
  for (const auto& [phase, share] : shares) sum += share, text += fmt::format("{} {:.3f}  ", phase, share);
  EXPECT_NEAR(sum, 1, 1e-6);
  // The first step of some of them has the compiling of kernels: the median step is as all others are.
  std::vector<double> waits;
  for (const std::int64_t step : trial->operator_steps("rank-00000")) {
    const auto wait = trial->scalar("phase/data_wait", step);
    const auto whole = trial->scalar("phase/step", step);
    ASSERT_TRUE(wait.ok() && whole.ok()) << wait.status().to_string();
    waits.push_back(*wait / *whole);
  }
  std::sort(waits.begin(), waits.end());
  const double median = waits[waits.size() / 2];
  if (GetParam().second) {
    EXPECT_GT(median, 0.2) << text;
  } else {
    EXPECT_LT(median, 0.05) << text;
  }
  for (const char* phase : {"forward", "backward", "optimizer", "zero_grad"})
    EXPECT_TRUE(shares.contains(phase)) << text;
}

std::vector<std::pair<const char*, bool>> recorded_traces() {
  std::vector<std::pair<const char*, bool>> traces = {
      {"769c3eb__resnet50_num_workers_0__worker0.1623143089861.pt.trace.json.gz", true},
      {"7bd25bd__resnet50_num_workers_4__worker0.pt.trace.json.gz", false}};
#if !defined(TW_SANITIZED)  // under which each takes a minute
  traces.insert(traces.end(), {{"2d19c63__resnet50_num_workers_0__worker0.pt.trace.json.gz", true},
                               {"383a066__resnet50_num_workers_0__worker0.1623143566756.pt.trace.json.gz", true},
                               {"4a9c9ae__resnet50_autograd_api_num_workers_0__worker0.pt.trace.json.gz", true},
                               {"69df692__resnet50_autograd_api_num_workers_4__worker0.pt.trace.json.gz", false}});
#endif
  return traces;
}

INSTANTIATE_TEST_SUITE_P(All, RecordedTraces, testing::ValuesIn(recorded_traces()));

}  // namespace
}  // namespace trainwarden::transfer
