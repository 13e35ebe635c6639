// How right a classifier is on texts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "classes/scores.h"
#include "cli/classes/class_data.h"
#include "model/heads.h"
#include "parallel/group.h"

namespace bert {

struct ClassResult {
  double loss = 0;  // mean over texts, each counting as much
  ClassScores scores;
  std::vector<std::int64_t> labels;  // of each text
  at::Tensor probabilities;          // float32 [texts, classes], on the CPU
  double seconds = 0;                // of the model alone
};

struct ClassQuestion {
  std::span<const ClassText> texts;
  std::int64_t batch_size = 128;
  std::int32_t padding = 0;
};

// Without dropout and gradients; leaves the model in the mode that it was in. With a group its ranks share the texts,
// and all get the result. Throws PeerLost.
ClassResult judge(BertForClassification& model, const ClassQuestion& question, Group* group = nullptr);

}  // namespace bert
