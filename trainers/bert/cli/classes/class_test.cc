// `bert prepare-classes` and `bert train-classes` as a user runs them, on a DistilBERT of two small layers.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "cli/program_testing.h"
#include "trainwarden/trial.h"
#include "weights/safetensors.h"

namespace bert {
namespace {

using nlohmann::json;

class ClassProgram : public BertProgram {
 protected:
  void SetUp() override {
    BertProgram::SetUp();
    put_model<BertForMaskedWords>("model", ModelType::kDistilBert, Head::kMaskedWords);
    put_texts("train", 60);
    put_texts("validation", 12);
    put_texts("test", 6);
  }

  // The class is that of the first word, as a number: 1, 2 and 10.
  void put_texts(const std::string& part, int count) const {
    std::vector<std::string> lines;
    for (int i = 0; i < count; ++i) {
      constexpr const char* kLabels[] = {"1", "2", "10"};
      lines.push_back(
          json{{"text", word(i % 3) + " " + word(3 + 7 * i) + " " + word(3 + 5 * i)}, {"label", kLabels[i % 3]}}
              .dump());
    }
    put_lines(folder_ / part / "part-1.jsonl", lines);
  }

  // The same text for nine of the class "a" and one of "b".
  void put_texts_that_say_nothing(const std::string& part) const {
    std::vector<std::string> lines;
    for (int i = 0; i < 40; ++i) lines.push_back(json{{"text", "aword"}, {"label", i % 10 == 0 ? "b" : "a"}}.dump());
    put_lines(folder_ / part / "part-1.jsonl", lines);
  }

  Outcome train(const std::string& more, const std::string& environment = "") const {
    const auto at = [&](const char* name) { return (folder_ / name).string(); };
    return run(environment + " " + BERT_PROGRAM + " train-classes --model " + at("model") + " --train " + at("train") +
               " --validation " + at("validation") + " --out " + at("out") +
               " --threads 1 --deterministic --checkpoint-interval 0 --learning-rate 0.01 " +
               (more.find("--batch-size") == std::string::npos ? "--batch-size 12 " : "") + more);
  }

  TensorsByName trained() const { return read_safetensors(folder_ / "out/model/model.safetensors"); }
  bool is_as_before(const TensorsByName& after, const std::string& name) const {
    return torch::equal(after.at(name), read_safetensors(folder_ / "model/model.safetensors").at(name));
  }
};

constexpr const char* kOfEncoder = "distilbert.transformer.layer.0.ffn.lin1.weight";

TEST_F(ClassProgram, LearnsAndLeavesAModelThatKnowsItsClasses) {
  const Outcome ended = train("--epochs 20 --no-hook --test " + (folder_ / "test").string());
  ASSERT_EQ(ended.code, 0) << ended.text;
  const json found = result();
  EXPECT_LT(found.at("before").at("accuracy"), 0.7);
  EXPECT_EQ(found.at("after").at("accuracy"), 1.0) << ended.text;
  EXPECT_EQ(found.at("after").at("quadratic_kappa"), 1.0);
  EXPECT_EQ(found.at("after").at("confusion"), json::parse("[[4,0,0],[0,4,0],[0,0,4]]"));
  EXPECT_EQ(found.at("test").at("texts"), 6);
  EXPECT_EQ(found.at("classes"), json::parse(R"(["1", "2", "10"])"));
  const json config = json_in(folder_ / "out/model/config.json");
  EXPECT_EQ(config.at("architectures"), json::parse(R"(["DistilBertForSequenceClassification"])"));
  EXPECT_EQ(config.at("id2label"), json::parse(R"({"0": "1", "1": "2", "2": "10"})"));

  const fs::path first = folder_ / "out/model";
  const Outcome again =
      run(std::string(BERT_PROGRAM) + " train-classes --no-hook --max-steps 1 --learning-rate 1e-9" + " --model " +
          first.string() + " --train " + (folder_ / "train").string() + " --validation " +
          (folder_ / "validation").string() + " --out " + (folder_ / "again").string());
  EXPECT_EQ(json_in(folder_ / "again/result.json").at("before").at("accuracy"), 1.0)
      << "a head for the same classes is kept: " << again.text;
}

TEST_F(ClassProgram, TakesEveryHyperparameterOfSageMakersClassifier) {
  const Outcome ended =
      run(std::string(BERT_PROGRAM) + " train-classes --model " + (folder_ / "model").string() + " --train " +
          (folder_ / "train").string() + " --validation " + (folder_ / "validation").string() + " --test " +
          (folder_ / "test").string() + " --out " + (folder_ / "out").string() +
          " --epochs 3 --learning_rate 1e-05 --epsilon 1e-08 --train_batch_size 4 --validation_batch_size 3 "
          "--test_batch_size 2 --train_steps_per_epoch 2 --validation_steps 3 --test_steps 2 --use_xla False --use_amp "
          "True "
          "--max_seq_length 16 --freeze_bert_layer False --enable_sagemaker_debugger True --enable_checkpointing False "
          "--enable_tensorboard True --run_validation True --run_test True --run_sample_predictions True");
  ASSERT_EQ(ended.code, 0) << ended.text;
  const json found = result();
  EXPECT_EQ(found.at("steps"), 3 * 2);
  EXPECT_EQ(found.at("after").at("texts"), 3 * 3);
  EXPECT_EQ(found.at("test").at("texts"), 2 * 2);
  EXPECT_EQ(found.at("precision"), "bfloat16");
  EXPECT_NE(ended.text.find("predicted \""), std::string::npos) << ended.text;
  EXPECT_FALSE(fs::exists(folder_ / "out/checkpoints"));
  EXPECT_NE(ended.text.find("after step      4  loss: "), std::string::npos) << "after each epoch: " << ended.text;
}

TEST_F(ClassProgram, HyperparametersThatCannotBeAreErrors) {
  const auto is_told = [&](const std::string& options, const char* message) {
    const Outcome ended = train(options);
    EXPECT_EQ(ended.code, 2) << options;
    EXPECT_NE(ended.text.find(message), std::string::npos) << ended.text;
    EXPECT_FALSE(fs::exists(folder_ / "out/model"));
  };
  is_told("--use_xla True", "XLA compiles graphs of TensorFlow");
  is_told("--use_amp maybe", "--use_amp");
  is_told("--run_test True", "give --test");
  is_told("--enable_tensorboard True --enable_sagemaker_debugger False", "nothing is to be captured");
}

TEST_F(ClassProgram, AJobsHyperparametersAreRead) {
  const std::string given = R"(SM_HPS='{"epochs": 2, "train_steps_per_epoch": 1, "use_amp": true}' SM_HP_EPOCHS=2 )"
                            "SM_HP_TRAIN_STEPS_PER_EPOCH=1 SM_HP_USE_AMP=true";
  ASSERT_EQ(train("--no-hook", given).code, 0);
  EXPECT_EQ(result().at("steps"), 2);
  EXPECT_EQ(result().at("precision"), "bfloat16");
  ASSERT_EQ(train("--no-hook --epochs 3 --use_amp False", given).code, 0);
  EXPECT_EQ(result().at("steps"), 3) << "the command line comes first";
  EXPECT_EQ(result().at("precision"), "float32");
  const Outcome misspelt = train("--no-hook", R"(SM_HPS='{"epoch": 2}' SM_HP_EPOCH=2)");
  EXPECT_EQ(misspelt.code, 2);
  EXPECT_NE(misspelt.text.find("\"epoch\" is no hyper-parameter"), std::string::npos) << misspelt.text;
  EXPECT_NE(misspelt.text.find("unset SM_HPS"), std::string::npos) << misspelt.text;
}

TEST_F(ClassProgram, FoldersOfAJobAreTaken) {
  const auto at = [&](const char* name) { return (folder_ / name).string(); };
  const Outcome ended = run("SM_CHANNEL_TRAIN=" + at("train") + " SM_CHANNEL_VALIDATION=" + at("validation") +
                            " TRAINWARDEN_MODEL_DIR=" + at("made") + " TRAINWARDEN_OUTPUT_DIR=" + at("out") + " " +
                            BERT_PROGRAM + " train-classes --no-hook --max-steps 1 --model " + at("model"));
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_TRUE(fs::exists(folder_ / "made/model.safetensors"));
  EXPECT_TRUE(fs::exists(folder_ / "out/result.json"));
}

TEST_F(ClassProgram, AFrozenEncoderStaysAsItWas) {
  ASSERT_EQ(train("--no-hook --epochs 1 --freeze_bert_layer True").code, 0);
  const TensorsByName frozen = trained();
  int encoders = 0;
  for (const auto& [name, tensor] : frozen) {
    if (!name.starts_with("distilbert.")) continue;
    EXPECT_TRUE(is_as_before(frozen, name)) << name;
    ++encoders;
  }
  EXPECT_GT(encoders, 30);
  ASSERT_EQ(train("--no-hook --epochs 1 --freeze_bert_layer False").code, 0);
  EXPECT_FALSE(is_as_before(trained(), kOfEncoder));
  EXPECT_FALSE(torch::equal(frozen.at("classifier.weight"), trained().at("classifier.weight")));
}

TEST_F(ClassProgram, MixedPrecisionComputesOtherNumbers) {
  ASSERT_EQ(train("--no-hook --epochs 1 --use_amp True").code, 0);
  const TensorsByName mixed = trained();
  const double loss = result().at("after").at("loss");
  ASSERT_EQ(train("--no-hook --epochs 1 --use_amp False").code, 0);
  EXPECT_FALSE(torch::equal(mixed.at(kOfEncoder), trained().at(kOfEncoder)));
  EXPECT_NEAR(loss, result().at("after").at("loss"), 0.1) << "but not far from them";
}

TEST_F(ClassProgram, TensorBoardsFilesAreWritten) {
  ASSERT_EQ(train("--epochs 1").code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "out/tensorboard"));
  fs::remove_all(folder_ / "out");
  ASSERT_EQ(train("--epochs 1 --enable_tensorboard True").code, 0);
  const auto events_of = [&](const char* mode) {
    std::string bytes;
    for (const auto& entry : fs::directory_iterator(folder_ / "out/tensorboard" / mode))
      bytes += bytes_of(entry.path());
    return bytes;
  };
  EXPECT_NE(events_of("train").find("ClassLoss_output_0"), std::string::npos);
  EXPECT_NE(events_of("eval").find("val_accuracy"), std::string::npos);
}

// Texts that say nothing: without weights a model learns how often each class is, with weights that each is as likely.
TEST_F(ClassProgram, BalancedWeightsMakeRareClassesCount) {
  for (const char* part : {"train", "validation"}) put_texts_that_say_nothing(part);
  const auto loss_after = [&](const char* weights) {
    EXPECT_EQ(train(std::string("--no-hook --max-steps 60 --batch-size 40 --class-weights ") + weights).code, 0);
    return result().at("after").at("loss").get<double>();
  };
  EXPECT_NEAR(loss_after("none"), -(0.9 * std::log(0.9) + 0.1 * std::log(0.1)), 0.03);
  EXPECT_NEAR(loss_after("balanced"), std::log(2.0), 0.03);
}

TEST_F(ClassProgram, CapturesWhatAConfusionMatrixIsCountedFrom) {
  ASSERT_EQ(train("--epochs 2").code, 0);
  auto trial = trainwarden::Trial::open(folder_ / "out/run");
  ASSERT_TRUE(trial.ok()) << trial.status().to_string();
  const auto steps = (*trial)->steps_of("labels", trainwarden::Mode::kEval, trainwarden::Kept::kValue);
  ASSERT_EQ(steps.size(), 3u) << "before, after each epoch";
  const auto labels = (*trial)->value("labels", steps.back(), trainwarden::Mode::kEval);
  ASSERT_TRUE(labels.ok());
  EXPECT_EQ(labels->shape, trainwarden::Shape({12}));
  const auto predictions = (*trial)->value("predictions", steps.back(), trainwarden::Mode::kEval);
  ASSERT_TRUE(predictions.ok());
  EXPECT_EQ(predictions->shape, trainwarden::Shape({12, 3}));
  const auto names = (*trial)->value("class_names", steps.back(), trainwarden::Mode::kEval);
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(names->strings, (std::vector<std::string>{"1", "2", "10"}));
}

// With the notebook's own definitions, which read "val_loss: " as the training's loss where it stands alone.
TEST_F(ClassProgram, ItsLogGivesTheFourMetricsOfSageMakersNotebook) {
  const Outcome ended = train("--epochs 2 --no-hook");
  ASSERT_EQ(ended.code, 0) << ended.text;
  put_lines(folder_ / "log", {ended.text});
  put_lines(folder_ / "metrics.json", {R"json([{"Name": "train:loss", "Regex": "loss: ([0-9\\.]+)"},
    {"Name": "train:accuracy", "Regex": "accuracy: ([0-9\\.]+)"},
    {"Name": "validation:loss", "Regex": "val_loss: ([0-9\\.]+)"},
    {"Name": "validation:accuracy", "Regex": "val_accuracy: ([0-9\\.]+)"}])json"});
  const Outcome tried = run(std::string(TRAINWARDEN_PROGRAM) + " metrics try --json --definitions " +
                            (folder_ / "metrics.json").string() + " " + (folder_ / "log").string());
  ASSERT_EQ(tried.code, 0) << tried.text;
  std::map<std::string, std::vector<double>> values;
  const json told = json::parse(tried.text);
  for (const json& value : told.at("first_values"))
    values[value.at("metric")].push_back(value.at("value").get<double>());
  for (const auto& [name, of_name] : values) EXPECT_EQ(of_name.size(), 2u) << name << ": one after each epoch";
  const json after = result().at("after");
  EXPECT_NEAR(values["validation:loss"].back(), after.at("loss"), 1e-6);
  EXPECT_NEAR(values["validation:accuracy"].back(), after.at("accuracy"), 1e-6);
  EXPECT_NE(values["train:loss"].back(), values["validation:loss"].back()) << ended.text;
  EXPECT_GT(values["train:accuracy"].back(), values["train:accuracy"].front());
}

TEST_F(ClassProgram, WithoutValidationOnlyTheTrainingIsTold) {
  const Outcome ended = train("--epochs 1 --no-hook --run_validation False");
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_NE(ended.text.find("loss: "), std::string::npos) << ended.text;
  EXPECT_EQ(ended.text.find("val_loss"), std::string::npos) << ended.text;
  EXPECT_FALSE(result().contains("after"));
}

TEST_F(ClassProgram, TextsThatDoNotFitAreTold) {
  const auto is_told = [&](int code, const char* message) {
    const Outcome ended = train("--no-hook");
    EXPECT_EQ(ended.code, code) << ended.text;
    EXPECT_NE(ended.text.find(message), std::string::npos) << ended.text;
    EXPECT_FALSE(fs::exists(folder_ / "out/model"));
  };
  put_lines(folder_ / "validation/part-1.jsonl", {R"({"text": "aword", "label": 3})"});
  is_told(1, "it has the class \"3\", which is not trained on");
  put_lines(folder_ / "train/part-1.jsonl", {R"({"text": "aword", "label": 3})"});
  is_told(1, "expected texts of two classes or more, found only \"3\"");
  put_lines(folder_ / "train/part-1.jsonl", {});
  is_told(1, "expected texts with labels");
}

TEST_F(ClassProgram, PartsWhatItPrepares) {
  std::vector<std::string> lines = {"Stars,Review"};
  for (int i = 0; i < 40; ++i) lines.push_back(std::to_string(1 + i % 2) + ",\"" + word(i) + ", " + word(i + 3) + "\"");
  lines.push_back("2,");
  put_lines(folder_ / "reviews.csv", lines);
  const std::string command = std::string(BERT_PROGRAM) + " prepare-classes --data " +
                              (folder_ / "reviews.csv").string() + " --text-column Review --label-column Stars " +
                              "--max_seq_length 4 --model " + (folder_ / "model").string() + " --fractions 0.8 0.1 ";
  ASSERT_EQ(run(command + "0.1 --out " + (folder_ / "parts").string()).code, 0);
  ASSERT_EQ(run(command + "0.1 --out " + (folder_ / "again").string()).code, 0);
  const json told = json_in(folder_ / "parts/prepared.json");
  EXPECT_EQ(told.at("left_out"), 1);
  EXPECT_EQ(told.at("train").at("of_class"), json::parse(R"({"1": 16, "2": 16})"));
  EXPECT_EQ(told.at("validation").at("texts"), 4);
  EXPECT_EQ(told.at("train").at("longer_than_max_length"), 32) << "a comma is a piece too";
  for (const char* part : {"train", "validation", "test"}) {
    EXPECT_EQ(bytes_of(folder_ / "parts" / part / "texts.jsonl"), bytes_of(folder_ / "again" / part / "texts.jsonl"));
  }
  const Outcome trained =
      run(std::string(BERT_PROGRAM) + " train-classes --no-hook --max-steps 1 --model " + (folder_ / "model").string() +
          " --train " + (folder_ / "parts/train").string() + " --validation " +
          (folder_ / "parts/validation").string() + " --out " + (folder_ / "out").string());
  EXPECT_EQ(trained.code, 0) << trained.text;
  EXPECT_EQ(run(command + "0.2 --out " + (folder_ / "bad").string()).code, 1);
  EXPECT_FALSE(fs::exists(folder_ / "bad"));
}

}  // namespace
}  // namespace bert
