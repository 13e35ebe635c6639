// Readers that are not ours on what is exported: smdebug, TensorBoard, safetensors and NumPy. The JSON of the same run
// says what they must find.
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <test_paths.h>

#include "read/transfer/transfer_testing.h"
#include "read/trial/run_testing.h"

namespace trainwarden::transfer {
namespace {

namespace fs = std::filesystem;

class ForeignReaders : public TransferTest {
 protected:
  void SetUp() override {
    python_ = std::getenv("TRAINWARDEN_RIVALS_PYTHON");
    if (python_ == nullptr) GTEST_SKIP() << "TRAINWARDEN_RIVALS_PYTHON names no Python with the foreign readers";
  }

  // The script's verdict on the export of `trial`.
  void expect_agreement(Trial& trial, ExportOptions options) {
    options.out = in("out");
    export_all(trial, options);
    export_all(trial, {.format = ExportFormat::kJson, .out = in("truth.json"), .choice = options.choice});
    const std::string log = in("log").string();
    const std::string command = fmt::format(
        "SMDEBUG_TRAINING_END_DELAY_REFRESH=0 SMDEBUG_LOG_LEVEL=error '{}' '{}/src/read/transfer/foreign_readers.py' "
        "{} "
        "'{}' '{}' > '{}' 2>&1",
        python_, TW_SOURCE_DIR, name(options.format), options.out.string(), in("truth.json").string(), log);
    EXPECT_EQ(std::system(command.c_str()), 0) << read_text(log);
  }

 private:
  const char* python_ = nullptr;
};

// Two workers, and the last step in another mode.
TestRun workers_and_modes() {
  TestRun run(2);
  for (std::int64_t step = 0; step < 3; ++step) {
    for (int worker = 0; worker < 2; ++worker) {
      const float base = static_cast<float>(step * 10 + worker);
      run.add({.step = step,
               .tensors = {kept("weight", {base, -base, 0.25f, 0.5f}), scalar("loss", 1.0f / (base + 1.0f)),
                           reduced("gradient", {base, 2, 3}), strings("words", {"grüße", "", "日本"})},
               .mode = step == 2 ? Mode::kEval : Mode::kTrain,
               .mode_step = step == 2 ? 0 : step,
               .worker = worker});
    }
  }
  run.end(0);
  run.end(1);
  return run;
}

class EachFormat : public ForeignReaders, public testing::WithParamInterface<ExportFormat> {};

TEST_P(EachFormat, EveryTypeAndForm) {
  const auto trial = write_sample_run(in("run"));
  expect_agreement(*trial, {.format = GetParam(), .images = {"layer5"}});
}

TEST_P(EachFormat, WorkersAndModes) {
  const TestRun run = workers_and_modes();
  const auto trial = run.open();
  expect_agreement(*trial, {.format = GetParam()});
}

INSTANTIATE_TEST_SUITE_P(Formats, EachFormat,
                         testing::Values(ExportFormat::kSmdebug, ExportFormat::kTensorBoard, ExportFormat::kSafetensors,
                                         ExportFormat::kNpz, ExportFormat::kCsv),
                         [](const auto& format) { return std::string(name(format.param)); });

TEST_F(ForeignReaders, SmdebugFindsInItsOwnRunsAfterUsWhatItFoundBefore) {
  const fs::path recorded = recorded_smdebug_runs();
  if (recorded.empty()) GTEST_SKIP() << "no recorded runs of smdebug here; TRAINWARDEN_SHARED_DATA names their folder";
  for (const char* run : {"cnn_reductions", "mlp_modes_scalar"}) {
    const auto imported = import_run(recorded / run, in(run));
    ASSERT_TRUE(imported.ok()) << imported.status().to_string();
    const auto trial = Trial::open(in(run));
    ASSERT_TRUE(trial.ok());
    fs::remove_all(in("out"));
    fs::remove(in("truth.json"));
    expect_agreement(**trial, {.format = ExportFormat::kSmdebug});
  }
}

}  // namespace
}  // namespace trainwarden::transfer
