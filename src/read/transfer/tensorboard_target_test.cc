// TensorBoard's files read back with our own reader of its format.
#include <cmath>

#include "data/foreign/tf_event.h"
#include "data/foreign/tf_record.h"
#include "read/transfer/transfer_testing.h"
#include "read/trial/run_testing.h"

namespace trainwarden::transfer {
namespace {

namespace fs = std::filesystem;
using foreign::TfEvent;

class TensorBoardFiles : public TransferTest {
 protected:
  // The events of the one file in the folder, without the first.
  static std::vector<TfEvent> events_of(const fs::path& folder) {
    std::vector<TfEvent> events;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string content = read_text(entry.path());
      foreign::RecordWalk walk(as_bytes(content));
      for (auto record = walk.next(); record.ok() && record->has_value(); record = walk.next()) {
        auto event = foreign::decode_event(**record);
        EXPECT_TRUE(event.ok()) << event.status().to_string();
        events.push_back(*std::move(event));
      }
      EXPECT_EQ(walk.offset(), content.size());
      EXPECT_FALSE(walk.torn());
    }
    EXPECT_EQ(events.front().file_version, "brain.Event:2");
    events.erase(events.begin());
    return events;
  }

  static const foreign::TfValue* find(const std::vector<TfEvent>& events, std::int64_t step, std::string_view tag) {
    for (const TfEvent& event : events) {
      if (event.step == step && event.values.at(0).tag == tag) return &event.values[0];
    }
    return nullptr;
  }
};

TEST_F(TensorBoardFiles, HoldScalarsHistogramsAndTextsByModeAndWorker) {
  TestRun run(2);
  for (int worker = 0; worker < 2; ++worker) {
    run.add({.step = 0,
             .tensors = {kept("weight", {0.5f, -3.0f, NAN}), kept("loss", {0.1f}), reduced("gradient", {1, 2, 3}),
                         scalar("rate", 1e-3f), strings("words", {"a", "b"})},
             .mode = Mode::kTrain,
             .worker = worker});
    run.add({.step = 1, .tensors = {kept("loss", {0.25f})}, .mode = Mode::kEval, .mode_step = 0, .worker = worker});
    run.end(worker);
  }
  const auto trial = run.open();
  const ExportReport report = export_all(*trial, {.format = ExportFormat::kTensorBoard, .out = in("board")});
  EXPECT_EQ(report.files, 4u);
  for (const char* folder : {"train", "rank-00001/train"}) {
    const auto events = events_of(in("board") / folder);
    ASSERT_NE(find(events, 0, "loss"), nullptr);
    EXPECT_EQ(find(events, 0, "loss")->simple_value, 0.1f);
    EXPECT_EQ(find(events, 0, "rate")->simple_value, 1e-3f);
    EXPECT_EQ(find(events, 0, "stats/gradient/mean")->simple_value, 2.0f);
    EXPECT_EQ(find(events, 0, "weight")->histogram->num, 2);
    EXPECT_EQ(find(events, 0, "words")->tensor->strings, std::vector<std::string>({"a", "b"}));
  }
  EXPECT_EQ(find(events_of(in("board") / "eval"), 1, "loss")->simple_value, 0.25f);
  const ExportNote* not_finite = find_note(report, "NaN and infinite elements of histograms");
  ASSERT_NE(not_finite, nullptr);
  EXPECT_EQ(not_finite->count, 2u);
  EXPECT_TRUE(not_finite->lost);
}

TEST_F(TensorBoardFiles, ImagesAreThereWhenAskedFor) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("kernel", {0, 1, 2, 3})}});
  run.end();
  const auto trial = run.open();
  const ExportReport report =
      export_all(*trial, {.format = ExportFormat::kTensorBoard, .out = in("board"), .images = {"kernel"}});
  EXPECT_EQ(find(events_of(in("board") / "global"), 0, "images/kernel"), nullptr);  // one dimension is no picture
  EXPECT_NE(find_note(report, "images of tensors that are none, or too large"), nullptr);

  const auto sample = write_sample_run(in("run"));
  export_all(*sample, {.format = ExportFormat::kTensorBoard, .out = in("sample"), .images = {"layer5"}});
  const auto events = events_of(in("sample") / "train");
  const foreign::TfValue* image = find(events, 0, "images/layer5.weight");
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->image->width, 3);
  EXPECT_EQ(image->image->height, 2);
  EXPECT_EQ(image->image->channels, 1);
}

}  // namespace
}  // namespace trainwarden::transfer
