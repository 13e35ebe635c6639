#include <fstream>
#include <set>

#include <signal.h>
#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include "read/transfer/output_claim.h"
#include "read/transfer/transfer_testing.h"
#include "read/trial/run_testing.h"

namespace trainwarden::transfer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TestRun two_workers() {
  TestRun run(2);
  for (std::int64_t step = 0; step < 6; ++step) {
    const Mode mode = step < 4 ? Mode::kTrain : Mode::kEval;
    const std::int64_t mode_step = step < 4 ? step : step - 4;
    for (int worker = 0; worker < 2; ++worker) {
      run.add({.step = step,
               .tensors = {kept("conv.weight", {1.5f, -2.0f}, {"weights"}), scalar("loss", 0.5f, {"losses"})},
               .mode = mode,
               .mode_step = mode_step,
               .worker = worker});
    }
  }
  return run;
}

class ExportRun : public TransferTest {
 protected:
  json exported(Trial& trial, const ExportChoice& choice) {
    export_all(trial, {.format = ExportFormat::kJson, .out = in("out.json"), .choice = choice, .force = true});
    return json::parse(read_text(in("out.json")));
  }

  template <class T>
  static std::set<T> column(const json& document, const char* key) {
    std::set<T> values;
    for (const json& record : document.at("records")) values.insert(record.at(key).get<T>());
    return values;
  }
};

TEST_F(ExportRun, JsonHoldsEveryRecordInOrder) {
  const TestRun run = two_workers();
  const auto trial = run.open();
  const json document = exported(*trial, {});
  ASSERT_EQ(document.at("records").size(), 24u);
  const json& first = document.at("records").at(0);
  EXPECT_EQ(first.at("step"), 0);
  EXPECT_EQ(first.at("worker"), "rank-00000");
  EXPECT_EQ(first.at("tensor"), "conv.weight");
  EXPECT_EQ(first.at("dtype"), "float32");
  EXPECT_EQ(first.at("shape"), json({2}));
  EXPECT_EQ(first.at("elements"), json({1.5, -2.0}));
  const json& second = document.at("records").at(1);
  EXPECT_EQ(second.at("form"), "scalar");
  EXPECT_EQ(second.at("value"), 0.5);
  EXPECT_EQ(document.at("run_ended"), false);
  EXPECT_EQ(document.at("run").at("id"), trial->run_id());
}

TEST_F(ExportRun, TheChoiceNarrows) {
  const TestRun run = two_workers();
  const auto trial = run.open();
  EXPECT_EQ(column<std::string>(exported(*trial, {.include = {"^nothing", "oss$"}}), "tensor"),
            std::set<std::string>({"loss"}));
  EXPECT_EQ(column<std::string>(exported(*trial, {.collection = "weights"}), "tensor"),
            std::set<std::string>({"conv.weight"}));
  EXPECT_EQ(column<int>(exported(*trial, {.modes = {Mode::kEval}}), "step"), std::set<int>({4, 5}));
  EXPECT_EQ(column<int>(exported(*trial, {.steps = {{1, 5, 3}}}), "step"), std::set<int>({1, 4}));
  // Of the modes that are named, steps are theirs.
  EXPECT_EQ(column<int>(exported(*trial, {.modes = {Mode::kEval}, .steps = {{1, 2, 1}}}), "step"), std::set<int>({5}));
  EXPECT_EQ(column<std::string>(exported(*trial, {.workers = {"rank-00001"}}), "worker"),
            std::set<std::string>({"rank-00001"}));
}

TEST_F(ExportRun, AWrongChoiceNamesWhatIsThere) {
  const TestRun run = two_workers();
  const auto trial = run.open();
  const auto bad_pattern = Export::start(*trial, {.out = in("a"), .choice = {.include = {"("}}});
  EXPECT_EQ(bad_pattern.status().code(), Code::kInvalidArgument);
  EXPECT_FALSE(fs::exists(in("a.tmp")));
  auto unknown = Export::start(*trial, {.out = in("a"), .choice = {.workers = {"rank-00007"}}});
  ASSERT_TRUE(unknown.ok());
  const Status status = (*unknown)->poll();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_NE(status.message().find("rank-0000"), std::string::npos) << status.message();
  unknown->reset();
  EXPECT_FALSE(fs::exists(in("a")));
  EXPECT_FALSE(fs::exists(in("a.tmp")));
}

TEST_F(ExportRun, FollowsALiveRun) {
  TestRun run;
  run.add({.step = 0, .tensors = {scalar("loss", 1.0f)}});
  const auto trial = run.open();
  const auto exported = Export::start(*trial, {.format = ExportFormat::kCsv, .out = in("live.csv")});
  ASSERT_TRUE(exported.ok());
  ASSERT_TRUE((*exported)->poll().ok());
  EXPECT_FALSE((*exported)->run_ended());
  EXPECT_FALSE(fs::exists(in("live.csv")));  // it has its name when it is whole
  run.add({.step = 1, .tensors = {scalar("loss", 0.25f)}});
  run.end();
  ASSERT_TRUE((*exported)->poll().ok());
  EXPECT_TRUE((*exported)->run_ended());
  const auto report = (*exported)->finish();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->steps, 2u);
  EXPECT_EQ(report->records, 2u);
  const std::string text = read_text(in("live.csv"));
  EXPECT_NE(text.find("0,global,0,"), std::string::npos);
  EXPECT_NE(text.find(",rank-00000,loss,value,,1\r\n"), std::string::npos) << text;
  EXPECT_NE(text.find(",rank-00000,loss,value,,0.25\r\n"), std::string::npos) << text;
}

TEST_F(ExportRun, CsvQuotesAndNotesWhatItCannotHold) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("a,\"b\"", {1e-45f, 0.1f}), strings("words", {"x,y", "line\nend"})}});
  const auto trial = run.open();
  const ExportReport report = export_all(*trial, {.format = ExportFormat::kCsv, .out = in("out.csv")});
  const std::string text = read_text(in("out.csv"));
  EXPECT_NE(text.find(",\"a,\"\"b\"\"\",value,0,1e-45\r\n"), std::string::npos) << text;
  EXPECT_NE(text.find(",value,1,0.1\r\n"), std::string::npos) << text;
  EXPECT_NE(text.find(",words,value,0,\"x,y\"\r\n"), std::string::npos) << text;
  EXPECT_NE(text.find(",words,value,1,\"line\nend\"\r\n"), std::string::npos) << text;
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_FALSE(report.notes[0].lost);
  EXPECT_EQ(report.notes[0].count, 2u);
}

TEST_F(ExportRun, HistogramsAndHashesAreCountedAsLostInCsv) {
  const auto trial = write_sample_run(in("run"));
  const ExportReport report = export_all(*trial, {.format = ExportFormat::kCsv, .out = in("out.csv")});
  const ExportNote* histograms = find_note(report, "histograms");
  ASSERT_NE(histograms, nullptr);
  EXPECT_TRUE(histograms->lost);
  EXPECT_GT(histograms->count, 0u);
  EXPECT_NE(histograms->first.find(" at step 0"), std::string::npos) << histograms->first;
  EXPECT_NE(find_note(report, "hashes"), nullptr);
}

TEST_F(ExportRun, WhatIsThereIsNotOverwrittenUnasked) {
  const TestRun run = two_workers();
  const auto trial = run.open();
  std::ofstream(in("out.csv")) << "mine";
  const auto refused = Export::start(*trial, {.format = ExportFormat::kCsv, .out = in("out.csv")});
  EXPECT_EQ(refused.status().code(), Code::kAlreadyExists);
  EXPECT_EQ(read_text(in("out.csv")), "mine");
  fs::create_directory(in("folder"));
  std::ofstream(in("folder") / "notes.txt") << "mine";
  for (const ExportFormat format : {ExportFormat::kSmdebug, ExportFormat::kTensorBoard, ExportFormat::kNpz,
                                    ExportFormat::kSafetensors, ExportFormat::kCsv}) {
    EXPECT_EQ(Export::start(*trial, {.format = format, .out = in("folder")}).status().code(), Code::kAlreadyExists);
  }
  export_all(*trial, {.format = ExportFormat::kNpz, .out = in("folder"), .force = true});
  EXPECT_EQ(read_text(in("folder") / "notes.txt"), "mine");
}

// A library that wrote "s3:/bucket" in the working folder would only seem to have done it.
TEST_F(ExportRun, ABucketIsNoFolder) {
  const TestRun run = two_workers();
  const auto trial = run.open();
  const auto refused = Export::start(*trial, {.format = ExportFormat::kCsv, .out = "s3://bucket/out.csv"});
  EXPECT_EQ(refused.status().code(), Code::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("`trainwarden cp`"), std::string::npos);
  EXPECT_FALSE(fs::exists("s3:"));
}

TEST_F(ExportRun, AnOddNameEndsNoArchive) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("odd\x1b[31m\n", {1.0f}), kept("bytes\xff", {2.0f}), kept("plain", {3.0f})}});
  const auto trial = run.open();
  const ExportReport report = export_all(*trial, {.format = ExportFormat::kNpz, .out = in("arrays")});
  EXPECT_EQ(report.records, 3u);
  const ExportNote* note = find_note(report, "names that are not UTF-8 or have control characters, escaped");
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(note->count, 2u);
  EXPECT_FALSE(note->lost);
  const std::string archive = read_text(in("arrays") / "rank-00000" / "000000000000.npz");
  for (const char* member : {"odd%1B[31m%0A.npy", "bytes%FF.npy", "plain.npy"}) {
    EXPECT_NE(archive.find(member), std::string::npos) << member;
  }
}

TEST_F(ExportRun, TextsAreLeftOutWhenAskedFor) {
  const auto trial = write_sample_run(in("run"));
  const ExportReport whole = export_all(*trial, {.format = ExportFormat::kJson, .out = in("whole.json")});
  const ExportReport without =
      export_all(*trial, {.format = ExportFormat::kJson, .out = in("without.json"), .texts = false});
  const ExportNote* note = find_note(without, "texts, as was asked for");
  ASSERT_NE(note, nullptr);
  EXPECT_TRUE(note->lost);
  EXPECT_EQ(without.records + note->count, whole.records);
  const json document = json::parse(read_text(in("without.json")));
  EXPECT_EQ(document.at("run").at("path"), "");
  EXPECT_EQ(document.at("run").at("labels"), json::object());
  EXPECT_EQ(document.at("records").size(), without.records);
}

TEST_F(ExportRun, ATableHasNoFormulas) {
  TestRun run;
  run.add({.step = 0, .tensors = {scalar("=cmd|' /C calc'!A0", -0.5f), scalar("-1", 0.25f)}});
  const auto trial = run.open();
  const ExportReport report = export_all(*trial, {.format = ExportFormat::kCsv, .out = in("out.csv")});
  const std::string table = read_text(in("out.csv"));
  EXPECT_NE(table.find(",'=cmd|' /C calc'!A0,value,,-0.5\r\n"), std::string::npos) << table;
  EXPECT_NE(table.find(",-1,value,,0.25\r\n"), std::string::npos) << table;
  EXPECT_NE(find_note(report, "texts that a spreadsheet would take for a formula, with ' before"), nullptr);
}

TEST_F(ExportRun, AnUnfinishedFolderGoesOnWhereItWas) {
  TestRun run;
  run.add({.step = 0, .tensors = {scalar("loss", 1.0f)}});
  const ExportOptions options{.format = ExportFormat::kNpz, .out = in("arrays")};
  {
    const auto trial = run.open();
    const auto exported = Export::start(*trial, options);
    ASSERT_TRUE(exported.ok());
    ASSERT_TRUE((*exported)->poll().ok());
    // Two at a time would write everything twice.
    EXPECT_EQ(Export::start(*trial, options).status().code(), Code::kAlreadyExists);
  }
  run.add({.step = 1, .tensors = {scalar("loss", 0.5f)}});
  run.end();
  const auto trial = run.open();
  ExportOptions another = options;
  another.choice.include = {"other"};
  EXPECT_EQ(Export::start(*trial, another).status().code(), Code::kAlreadyExists);
  EXPECT_EQ(export_all(*trial, options).steps, 1u);
  EXPECT_TRUE(fs::exists(in("arrays") / "rank-00000" / "000000000000.npz"));
  EXPECT_TRUE(fs::exists(in("arrays") / "rank-00000" / "000000000001.npz"));
  EXPECT_EQ(Export::start(*trial, options).status().code(), Code::kAlreadyExists);  // it is finished
}

// Writing past `limit_bytes` fails with EFBIG, as a full disk does with ENOSPC.
class FileLimit {
 public:
  explicit FileLimit(rlim_t limit_bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{limit_bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(ExportRun, AFailingWriteIsAnErrorAndLeavesNothingHalfNamed) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("large", std::vector<float>(200'000, 0.1f))}});
  run.end();
  const auto trial = run.open();
  for (const ExportFormat format : {ExportFormat::kSmdebug, ExportFormat::kTensorBoard, ExportFormat::kSafetensors,
                                    ExportFormat::kNpz, ExportFormat::kCsv, ExportFormat::kJson}) {
    if (format == ExportFormat::kTensorBoard) continue;  // its histogram is small
    const fs::path out = in(std::string(name(format)));
    Status status;
    {
      const FileLimit limit(100'000);
      const auto exported = Export::start(*trial, {.format = format, .out = out});
      ASSERT_TRUE(exported.ok()) << exported.status().to_string();
      status = (*exported)->poll();
      if (status.ok()) status = (*exported)->finish().status();
    }
    EXPECT_EQ(status.code(), Code::kResourceExhausted) << name(format) << ": " << status.to_string();
    EXPECT_NE(status.message().find(out.string()), std::string::npos) << status.message();
    if (writes_one_file(format)) {
      EXPECT_FALSE(fs::exists(out));
      EXPECT_FALSE(fs::exists(out.string() + ".tmp"));
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(out)) {
      const std::string file = entry.path().filename();
      EXPECT_TRUE(entry.is_directory() || file == kClaimFile || file == kClaimLock) << entry.path();
    }
  }
}

TEST_F(ExportRun, StopsAfterAWholeStepWhenAsked) {
  const TestRun run = two_workers();
  const auto trial = run.open();
  std::stop_source stop;
  ExportOptions options{.format = ExportFormat::kNpz, .out = in("arrays"), .stop = stop.get_token()};
  options.on_step = [&](std::int64_t step) {
    if (step == 2) stop.request_stop();
  };
  const ExportReport report = export_all(*trial, options);
  EXPECT_EQ(report.steps, 6u);  // of two workers
  EXPECT_FALSE(report.run_ended);
}

}  // namespace
}  // namespace trainwarden::transfer
