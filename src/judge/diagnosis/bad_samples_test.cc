#include "judge/diagnosis/bad_samples.h"

#include <gtest/gtest.h>

namespace trainwarden::diagnosis {
namespace {

std::string described_text(const std::string& batch) {
  const auto batches = read_bad_batches(R"({"batches":[)" + batch + "]}");
  if (!batches.ok()) return "not read";
  return batches->empty() ? "none" : described(batches->front());
}

TEST(BadSamples, NamesTheSampleItsFileAndItsLoader) {
  EXPECT_EQ(
      described_text(R"({"kind":"not_finite","count":1,"epoch":0,"number":3,"worker":1,"data_set":"ImageFolder",)"
                     R"("place":"/home/me/train.py:20","samples":[{"row":22,"index":4711,"source":"a/b.jpg"}]})"),
      "sample 4711 (a/b.jpg) of ImageFolder, in batch 3 of epoch 0, from worker 1 of the loader made at train.py:20");
  EXPECT_EQ(
      described_text(
          R"({"kind":"outlier","count":1,"epoch":0,"number":3,"place":"t.py:2","samples":[{"row":2,"index":7}]})"),
      "sample 7, in batch 3 of epoch 0, from the loader made at t.py:2");
}

TEST(BadSamples, OfManyTheFirstAreNamed) {
  EXPECT_EQ(described_text(
                R"({"kind":"same","count":32,"data_set":"D","samples":[{"row":0,"index":5},{"row":1,"index":9}]})"),
            "samples 5, 9 and 30 more of D");
}

TEST(BadSamples, ARowIsAllThatIsKnownOfABatchWithoutIndices) {
  EXPECT_EQ(described_text(R"({"kind":"not_finite","count":1,"data_set":"D","samples":[{"row":3}]})"), "row 3");
}

TEST(BadSamples, WhatIsNotAsTheFormatSaysIsLeftOut) {
  EXPECT_EQ(described_text(R"({"kind":"strange","samples":[{"row":1}]})"), "none");
  EXPECT_EQ(described_text(R"({"kind":"same","samples":"all"})"), "none");
  EXPECT_EQ(described_text("7"), "none");
  EXPECT_EQ(described_text(R"({"kind":"not_finite","count":-9,"samples":[{"row":"x","index":-5,"source":3}]})"),
            "row -1");
  EXPECT_FALSE(read_bad_batches("no JSON").ok());
  EXPECT_FALSE(read_bad_batches(std::string(1 << 20, ' ')).ok());
}

TEST(BadSamples, ASourceCannotDriveATerminal) {
  const std::string text =
      described_text(R"({"kind":"not_finite","count":1,"samples":[{"row":0,"index":1,"source":"a\u001b[2J"}]})");
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

}  // namespace
}  // namespace trainwarden::diagnosis
