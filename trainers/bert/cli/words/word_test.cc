// `bert train-words` as a user runs it, on a BERT of two small layers.
#include <gtest/gtest.h>

#include "cli/program_testing.h"
#include "weights/safetensors.h"

namespace bert {
namespace {

using nlohmann::json;

class WordProgram : public BertProgram {
 protected:
  void SetUp() override {
    BertProgram::SetUp();
    put_model<BertForMaskedWords>("model", ModelType::kBert, Head::kMaskedWords);
    // One word again and again, so that those around a mask tell it.
    std::vector<std::string> lines;
    for (int i = 0; i < 48; ++i) {
      std::string line;
      for (int j = 0; j < 12; ++j) line += std::string(1, static_cast<char>('a' + i % 24)) + "word ";
      lines.push_back(line);
    }
    put_lines(folder_ / "texts.txt", lines);
  }

  Outcome train(const std::string& more, const char* out = "out") const {
    return run(std::string(BERT_PROGRAM) + " train-words --model " + (folder_ / "model").string() + " --texts " +
               (folder_ / "texts.txt").string() + " --out " + (folder_ / out).string() +
               " --max-length 16 --batch-size 12 --threads 1 --deterministic --learning-rate 0.01 --no-hook " + more);
  }
};

TEST_F(WordProgram, LearnsWhatWasMasked) {
  const Outcome ended = train("--epochs 40 --held-out 0.2");
  ASSERT_EQ(ended.code, 0) << ended.text;
  const json found = json_in(folder_ / "out/result.json");
  EXPECT_EQ(found.at("held_out_windows"), 10);
  EXPECT_EQ(found.at("windows"), 38);
  EXPECT_LT(found.at("before").at("accuracy"), 0.3);
  EXPECT_GT(found.at("after").at("accuracy"), 0.8) << ended.text;
  EXPECT_LT(found.at("after").at("loss"), found.at("before").at("loss").get<double>() / 3);
  EXPECT_NE(ended.text.find(" - val_loss: "), std::string::npos) << ended.text;
  EXPECT_EQ(json_in(folder_ / "out/model/config.json").at("architectures"), json::parse(R"(["BertForMaskedLM"])"));
}

TEST_F(WordProgram, TheSameSeedGivesTheSameModel) {
  ASSERT_EQ(train("--max-steps 5 --seed 3", "first").code, 0);
  ASSERT_EQ(train("--max-steps 5 --seed 3", "again").code, 0);
  ASSERT_EQ(train("--max-steps 5 --seed 4", "other").code, 0);
  const std::string first = bytes_of(folder_ / "first/model/model.safetensors");
  EXPECT_EQ(bytes_of(folder_ / "again/model/model.safetensors"), first);
  EXPECT_NE(bytes_of(folder_ / "other/model/model.safetensors"), first);
}

TEST_F(WordProgram, BeginsAnewWhereItIsAskedTo) {
  fs::remove(folder_ / "model/model.safetensors");
  EXPECT_EQ(train("--max-steps 1").code, 1);
  const Outcome ended = train("--max-steps 1 --new-weights");
  EXPECT_EQ(ended.code, 0) << ended.text;
}

TEST_F(WordProgram, TextsThatAreNoneAreTold) {
  put_lines(folder_ / "texts.txt", {"", " "});
  const Outcome empty = train("");
  EXPECT_EQ(empty.code, 1);
  EXPECT_NE(empty.text.find("expected a document on each line"), std::string::npos) << empty.text;
  put_lines(folder_ / "texts.txt", {"aword bword"});
  const Outcome one = train("");
  EXPECT_EQ(one.code, 1);
  EXPECT_NE(one.text.find("found 1 and 0"), std::string::npos) << one.text;
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

}  // namespace
}  // namespace bert
