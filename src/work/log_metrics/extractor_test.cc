#include "work/log_metrics/extractor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace trainwarden::log_metrics {
namespace {

using Values = std::vector<std::pair<std::string, double>>;

Values values_of(const std::optional<Extraction>& extraction) {
  Values values;
  if (!extraction) return values;
  for (const Extracted& one : extraction->values) values.emplace_back(one.name, one.value);
  return values;
}

// Records as the libraries print them (Keras 2.9 and 3.5, TensorFlow 1.15, transformers 4.40 and 5.1, tqdm 4.66,
// Lightning 2.4), which they are read from one after the other.
TEST(Extractor, Keras) {
  Extractor extractor;
  EXPECT_EQ(extractor.read("Epoch 1/10"), std::nullopt);
  auto bar = extractor.read("120/469 [======>.......................] - ETA: 3s - loss: 0.4100 - accuracy: 0.8512");
  ASSERT_TRUE(bar);
  EXPECT_EQ(bar->style, LogStyle::kKeras);
  EXPECT_EQ(values_of(bar), (Values{{"loss", 0.41}, {"accuracy", 0.8512}}));
  EXPECT_EQ(bar->step, 120);
  bar = extractor.read("469/469 [==============================] - 4s 8ms/step - loss: nan - val_loss: 1.2e-05");
  ASSERT_EQ(values_of(bar).size(), 2u);
  EXPECT_TRUE(std::isnan(bar->values[0].value));
  EXPECT_EQ(bar->values[1].value, 1.2e-05);
  extractor.read("Epoch 2/10");
  bar = extractor.read("469/469 ━━━━━━━━━━━━━━━━━━━━ 3s 5ms/step - accuracy: 0.8852 - loss: -0.5");
  EXPECT_EQ(values_of(bar), (Values{{"accuracy", 0.8852}, {"loss", -0.5}}));
  EXPECT_EQ(bar->step, 938);
  bar = extractor.read("     12/Unknown - 1s 5ms/step - loss: 0.5");
  EXPECT_EQ(values_of(bar), (Values{{"loss", 0.5}}));
  EXPECT_EQ(bar->step, 12);
  bar = extractor.read("60000/60000 - 3s - loss: 0.4 - val_acc: 0.86");
  EXPECT_EQ(values_of(bar), (Values{{"loss", 0.4}, {"val_acc", 0.86}}));
}

TEST(Extractor, Estimator) {
  Extractor extractor;
  auto line = extractor.read("INFO:tensorflow:loss = 5.86, step = 10 (0.512 sec)");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->style, LogStyle::kEstimator);
  EXPECT_EQ(values_of(line), (Values{{"loss", 5.86}}));
  EXPECT_EQ(line->step, 10);
  line = extractor.read("Loss = 5.86, Step = 10");
  EXPECT_EQ(values_of(line), (Values{{"Loss", 5.86}}));
  EXPECT_EQ(line->step, 10);
  line = extractor.read("INFO:tensorflow:global_step/sec: 31.25");
  EXPECT_EQ(values_of(line), (Values{{"global_step/sec", 31.25}}));
  EXPECT_EQ(line->step, std::nullopt);
  line =
      extractor.read("INFO:tensorflow:Saving dict for global step 200: accuracy = 0.91, global_step = 200, loss = 0.3");
  EXPECT_EQ(values_of(line), (Values{{"accuracy", 0.91}, {"loss", 0.3}}));
  EXPECT_EQ(line->step, 200);
}

TEST(Extractor, HuggingFace) {
  Extractor extractor;
  auto line = extractor.read("{'loss': 2.31, 'grad_norm': 1.25, 'learning_rate': 5e-05, 'epoch': 0.1}");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->style, LogStyle::kHuggingFace);
  EXPECT_EQ(values_of(line), (Values{{"loss", 2.31}, {"grad_norm", 1.25}, {"learning_rate", 5e-05}, {"epoch", 0.1}}));
  line = extractor.read("{'loss': '2.31', 'learning_rate': '5e-05', 'note': 'none'}");
  EXPECT_EQ(values_of(line), (Values{{"loss", 2.31}, {"learning_rate", 5e-05}}));
  line = extractor.read("{'eval_loss': nan, 'eval_runtime': 1.5}");
  ASSERT_EQ(values_of(line).size(), 2u);
  EXPECT_TRUE(std::isnan(line->values[0].value));
}

TEST(Extractor, Tqdm) {
  Extractor extractor;
  auto bar = extractor.read("train:  45%|####5     | 45/100 [00:03<00:04, 12.10it/s, loss=0.41, lr=1e-3, stage=warm]");
  ASSERT_TRUE(bar);
  EXPECT_EQ(bar->style, LogStyle::kTqdm);
  EXPECT_EQ(values_of(bar), (Values{{"loss", 0.41}, {"lr", 1e-3}}));
  EXPECT_EQ(bar->step, 45);
  bar = extractor.read(" 45%|####5     | 45.0k/100k [00:03<00:04, 12.1kit/s, loss=0.4]");
  EXPECT_EQ(values_of(bar), (Values{{"loss", 0.4}}));
  EXPECT_EQ(bar->step, std::nullopt);
  bar = extractor.read("Epoch 0:  50%|█████     | 50/100 [00:01<00:01, 45.20it/s, v_num=0, train_loss_step=0.312]");
  EXPECT_EQ(values_of(bar), (Values{{"train_loss_step", 0.312}}));
  EXPECT_EQ(extractor.read("100%|##########| 100/100 [00:08<00:00, 12.1it/s]"), std::nullopt);
  bar = extractor.read("Epoch 0/9 ━━━━━━━━━━ 50/100 0:00:01 • 0:00:01 45.20it/s v_num: 0.000 loss: 0.31");
  EXPECT_EQ(values_of(bar), (Values{{"loss", 0.31}}));
  EXPECT_EQ(bar->step, 50);
  bar = extractor.read("Epoch 2/2  ━━━━━━━━━━━━━━━━ 40/40 0:00:00 • 0:00:00 578.62it/s train_loss: 0.710");
  EXPECT_EQ(bar.value().step, 120);
}

TEST(Extractor, ABarThatBeginsAgainGoesOn) {
  Extractor extractor;
  const auto step = [&](const std::string& title, int count) {
    const std::string counts = std::to_string(count) + "/100 [00:03<00:04, 12.1it/s, loss=0.4]";
    return extractor.read(title + " 45%|####5     | " + counts).value().step;
  };
  EXPECT_EQ(step("Epoch 0:", 50), 50);
  EXPECT_EQ(step("Validation 0:", 7), 7);
  EXPECT_EQ(step("Epoch 0:", 99), 99);
  EXPECT_EQ(step("Epoch 1:", 10), 110) << "the last of the epoch before was not printed";
  EXPECT_EQ(step("Validation 1:", 5), 105);
  EXPECT_EQ(step("Epoch 1:", 20), 120);
  EXPECT_EQ(step("Epoch 12:", 1), 201);
}

TEST(Extractor, StepsOfBarsStayNumbers) {
  Extractor extractor;
  const std::string end = "/9223372036854775807 [00:03<00:04, 12.1it/s, loss=0.4]";
  for (int i = 0; i < 20'000; ++i) {
    const auto bar = extractor.read(" 4%|#  | " + std::string(i % 2 == 0 ? "999999999999999" : "1") + end);
    ASSERT_GT(bar.value().step.value(), 0);
  }
}

TEST(Extractor, OtherTextIsNoMetric) {
  Extractor extractor;
  for (const char* record : {"", "loss is what we feel", "2026-11-23 10:00:00 INFO - worker: 3", "12/25 - the party",
                             "{'a': {'b': 1}}", "{'name': 'bert', 'layers': []}", "100%|", "x = 3", "Epoch 1/10",
                             "downloading: 45%|####5     | 45/100 [00:03<00:04]"}) {
    EXPECT_EQ(extractor.read(record), std::nullopt) << record;
  }
}

TEST(Extractor, ARecordOfManyValuesIsCutOff) {
  Extractor extractor;
  std::string record = "{'a0': 1";
  for (int i = 1; i < 1000; ++i) record += ", 'a" + std::to_string(i) + "': 1";
  EXPECT_EQ(values_of(extractor.read(record + "}")).size(), 64u);
}

}  // namespace
}  // namespace trainwarden::log_metrics
