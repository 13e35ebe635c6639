// Ours to smdebug's format and back, and recorded runs of smdebug's to ours: bit for bit.
#include <bit>
#include <fstream>

#include "data/foreign/smdebug_layout.h"
#include "read/transfer/statistics_fields.h"
#include "read/transfer/transfer_testing.h"
#include "read/trial/run_testing.h"
#include "read/trial/trial_access.h"

namespace trainwarden::transfer {
namespace {

namespace fs = std::filesystem;

bool equal_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

using SmdebugRoundTrip = TransferTest;

std::unique_ptr<Trial> import_to(const fs::path& from, const fs::path& to) {
  const auto report = import_run(from, to);
  EXPECT_TRUE(report.ok()) << report.status().to_string();
  auto trial = Trial::open(to);
  EXPECT_TRUE(trial.ok()) << trial.status().to_string();
  return *std::move(trial);
}

// Texts of other than one dimension come back flattened.
void expect_same_value(Trial& before, Trial& after, const std::string& tensor, std::int64_t step) {
  const auto value = before.value(tensor, step);
  if (!value.ok()) return;
  const auto back = after.value(tensor, step);
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(back->dtype, value->dtype) << tensor;
  EXPECT_EQ(back->shape, value->shape) << tensor;
  EXPECT_EQ(back->data, value->data) << tensor;
  EXPECT_EQ(back->strings, value->strings) << tensor;
}

// A scalar of the name of a value at the same step has no place.
void expect_same_scalar(Trial& before, Trial& after, const std::string& tensor, std::int64_t step) {
  if (before.value(tensor, step).ok()) return;
  const auto scalar = before.scalar(tensor, step);
  if (!scalar.ok()) return;
  const auto back = after.scalar(tensor, step);
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_TRUE(equal_bits(*scalar, *back)) << tensor << ": " << *scalar << " and " << *back;
}

// A tensor with both has single ones first; those of its statistics follow.
void expect_same_reductions(Trial& before, Trial& after, const std::string& tensor, std::int64_t step) {
  const auto saved = before.saved_reductions(tensor, step);
  if (!saved.ok()) return;
  const auto back = after.saved_reductions(tensor, step);
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  for (const SavedReduction& one : *saved) {
    const auto found = after.reduction(tensor, step, one.reduction, one.abs);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    EXPECT_TRUE(equal_bits(one.value, *found)) << tensor << " " << describe(one.reduction, one.abs);
  }
}

void expect_same_run(Trial& before, Trial& after) {
  ASSERT_EQ(after.steps(), before.steps());
  EXPECT_EQ(after.modes(), before.modes());
  for (const std::int64_t step : before.steps()) {
    EXPECT_EQ(after.mode_of(step), before.mode_of(step));
    EXPECT_EQ(after.mode_step_of(step), before.mode_step_of(step));
    const auto names = before.tensor_names({.step = step});
    ASSERT_TRUE(names.ok());
    EXPECT_EQ(after.tensor_names({.step = step}).value_or({}), *names);
    for (const std::string& tensor : *names) {
      expect_same_value(before, after, tensor, step);
      expect_same_scalar(before, after, tensor, step);
      expect_same_reductions(before, after, tensor, step);
    }
  }
}

TEST_F(SmdebugRoundTrip, EveryFormThatItHoldsComesBack) {
  const auto trial = write_sample_run(in("run"));
  for (const bool record_crc : {false, true}) {
    const fs::path out = in(record_crc ? "crc" : "plain");
    const ExportReport report =
        export_all(*trial, {.format = ExportFormat::kSmdebug, .out = out, .record_crc = record_crc});
    EXPECT_TRUE(report.run_ended);
    EXPECT_TRUE(fs::exists(out / foreign::kSmdebugEndMarker));
    EXPECT_TRUE(fs::exists(out / "index/000000001/000000001005_worker_0.json"));
    const auto back = import_to(out, out.string() + "-ours");
    expect_same_run(*trial, *back);
    EXPECT_EQ(back->state(), RunState::kCompleted);
    EXPECT_EQ(back->workers(), std::vector<std::string>{"rank-00000"});
    EXPECT_EQ(back->labels().at("recorder"), "smdebug");
    EXPECT_EQ(back->labels().at("worker.rank-00000"), "worker_0");
    EXPECT_TRUE(back->losses().empty());
  }
}

TEST_F(SmdebugRoundTrip, TheReportNamesWhatSmdebugCannotRead) {
  const auto trial = write_sample_run(in("run"));
  const ExportReport report = export_all(*trial, {.format = ExportFormat::kSmdebug, .out = in("out")});
  for (const char* cause : {"int16, which smdebug does not read", "bfloat16, which smdebug does not read",
                            "int8, which smdebug reads as uint8", "empty tensors, which smdebug does not read"}) {
    const ExportNote* note = find_note(report, cause);
    ASSERT_NE(note, nullptr) << cause;
    EXPECT_FALSE(note->lost);
  }
  for (const char* cause : {"hashes", "histograms", "counts of NaN, infinite and zero elements"}) {
    const ExportNote* note = find_note(report, cause);
    ASSERT_NE(note, nullptr) << cause;
    EXPECT_TRUE(note->lost);
  }
}

TEST_F(SmdebugRoundTrip, WorkersModesTimesAndCollections) {
  Collection weights;
  weights.name = "weights";
  weights.include = {"weight$"};
  TestRun run(12, {weights});
  for (int worker = 0; worker < 12; ++worker) {
    run.add({.step = 3,
             .tensors = {kept("a.weight", {1}), scalar("loss", 2)},
             .mode = Mode::kEval,
             .mode_step = 1,
             .worker = worker});
    run.end(worker);
  }
  const auto trial = run.open();
  export_all(*trial, {.format = ExportFormat::kSmdebug, .out = in("out")});
  EXPECT_TRUE(fs::exists(in("out") / "collections/000000000/worker_11_collections.json"));
  const auto back = import_to(in("out"), in("ours"));
  EXPECT_EQ(back->workers(), trial->workers());
  EXPECT_EQ(back->labels().at("worker.rank-00011"), "worker_11");
  EXPECT_EQ(back->tensor_names({.collection = "weights"}).value_or({}), std::vector<std::string>{"a.weight"});
  EXPECT_EQ(back->global_step(Mode::kEval, 1), 3);
  // smdebug keeps times as seconds in a double.
  EXPECT_NEAR(static_cast<double>(back->last_unix_ns()), static_cast<double>(trial->last_unix_ns()), 1e3);
}

TEST_F(SmdebugRoundTrip, AnUnfinishedSourceIsImportedAsFarAsItGoes) {
  TestRun run;
  run.add({.step = 0, .tensors = {scalar("loss", 2)}});
  const auto trial = run.open();
  export_all(*trial, {.format = ExportFormat::kSmdebug, .out = in("out")});
  EXPECT_FALSE(fs::exists(in("out") / foreign::kSmdebugEndMarker));
  const auto report = import_run(in("out"), in("ours"));
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_FALSE(report->source_ended);
  EXPECT_EQ(report->steps, 1u);
  const auto back = Trial::open(in("ours"));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ((*back)->state(), RunState::kCompleted);
}

TEST_F(SmdebugRoundTrip, DamageCostsARecordAndIsTold) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("a", {1, 2}), kept("b", {3})}});
  run.end();
  const auto trial = run.open();
  export_all(*trial, {.format = ExportFormat::kSmdebug, .out = in("out"), .record_crc = true});
  const fs::path events = in("out") / foreign::smdebug_event_file(0, "worker_0");
  std::string content = read_text(events);
  content[0] ^= 1;  // the length of the first record
  std::ofstream(events, std::ios::binary) << content;

  const auto report = import_run(in("out"), in("ours"));
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_FALSE(report->losses.empty());
  const auto back = Trial::open(in("ours"));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ((*back)->value("b", 0).value_or({}).to_doubles(), std::vector<double>{3});
  EXPECT_FALSE((*back)->value("a", 0).ok());
  ASSERT_EQ((*back)->losses().size(), 1u);
  EXPECT_EQ((*back)->losses()[0].cause, "unreadable_in_source");

  const auto damaged = Trial::open(in("out"));
  ASSERT_TRUE(damaged.ok());
  const ExportReport exported = export_all(**damaged, {.format = ExportFormat::kJson, .out = in("out.json")});
  EXPECT_EQ(exported.damaged, 1u);
  EXPECT_EQ(exported.records, 1u);
  EXPECT_NE(find_note(exported, "damaged in the run"), nullptr);
}

TEST_F(SmdebugRoundTrip, ARunOfOursAndATakenFolderAreRefused) {
  const auto trial = write_sample_run(in("run"));
  EXPECT_EQ(import_run(in("run"), in("new")).status().code(), Code::kInvalidArgument);
  EXPECT_FALSE(fs::exists(in("new")));
  EXPECT_EQ(import_run(in("nowhere"), in("new")).status().code(), Code::kNotFound);
  export_all(*trial, {.format = ExportFormat::kSmdebug, .out = in("out")});
  const Status taken = import_run(in("out"), in("run")).status();
  EXPECT_EQ(taken.code(), Code::kAlreadyExists);
  EXPECT_FALSE(fs::exists(in("run.importing")));
}

TEST_F(SmdebugRoundTrip, RecordedRunsBecomeOurs) {
  const fs::path recorded = recorded_smdebug_runs();
  if (recorded.empty()) GTEST_SKIP() << "no recorded runs of smdebug here; TRAINWARDEN_SHARED_DATA names their folder";
  int count = 0;
  for (const auto& entry : fs::directory_iterator(recorded)) {
    if (!entry.is_directory()) continue;
    const auto source = Trial::open(entry.path());
    ASSERT_TRUE(source.ok()) << source.status().to_string();
    const auto ours = import_to(entry.path(), in(entry.path().filename()));
    expect_same_run(**source, *ours);
    for (const std::string& collection : (*source)->collections()) {
      EXPECT_EQ(ours->tensor_names({.collection = collection}).value_or({}),
                (*source)->tensor_names({.collection = collection}).value_or({"?"}))
          << collection;
    }
    ++count;
  }
  EXPECT_GE(count, 4);
}

}  // namespace
}  // namespace trainwarden::transfer
