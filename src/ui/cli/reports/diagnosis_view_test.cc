#include "ui/cli/reports/diagnosis_view.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

// Of a training that was not examined, by its losses alone.
std::string said_of_losses(std::size_t count, std::int64_t not_finite) {
  diagnosis::Diagnosis diagnosis;
  diagnosis.symptoms.train.count = count;
  diagnosis.symptoms.train.not_finite = not_finite;
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  print_diagnosis(out, diagnosis, "", false);
  std::fclose(out);
  std::string said(text, size);
  std::free(text);
  return said;
}

TEST(DiagnosisView, LossesThatAreNoNumbersAreNeverCalledRight) {
  EXPECT_EQ(said_of_losses(40, 0),
            "Nothing is wrong as far as 40 recorded losses show; the training was not examined.\n");
  EXPECT_EQ(said_of_losses(40, 31),
            "Something is wrong: 31 of 40 recorded losses are NaN or infinite. No cause is sure; the training was not "
            "examined.\n");
  EXPECT_EQ(said_of_losses(3, 0), "Nothing can be said: the training was not examined.\n");
  EXPECT_NE(said_of_losses(3, 1).find("1 of 3 recorded losses"), std::string::npos);
}

TEST(DiagnosisView, WhatIsDoubtedIsNeverCalledRight) {
  diagnosis::Diagnosis diagnosis;
  diagnosis.examined = 15;
  diagnosis.steps = 60;
  EXPECT_EQ(diagnosis_text(diagnosis, ""), "Nothing is wrong as far as 15 of 60 train steps show that were examined.");
  diagnosis.doubt = "the last loss that was kept is nan";
  EXPECT_EQ(diagnosis_text(diagnosis, ""),
            "Something may be wrong: the last loss that was kept is nan. No cause is sure.");
  EXPECT_EQ(diagnosis_text(diagnosis, "exit code 1"),
            "The training failed: exit code 1. The 15 of 60 train steps that were examined do not show why.");
}

}  // namespace
}  // namespace trainwarden::cli
