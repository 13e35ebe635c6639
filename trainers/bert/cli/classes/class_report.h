// What a training of classes says: in lines, and as result.json.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/classes/class_data.h"
#include "cli/classes/class_evaluation.h"
#include "cli/train_loop.h"

namespace bert {

// "loss 1.6233  accuracy 0.0625  " and agreement_text(). Without a colon behind "loss" or "accuracy": metrics_text()
// alone has that, for patterns that read a log.
std::string scores_text(const ClassResult& result);
std::string agreement_text(const ClassResult& result);  // recall, kappas, of how many texts
// `probabilities`: of this text, [classes]. What a terminal would take for a command is escaped as in JSON.
std::string sample_text(const std::string& text, const at::Tensor& probabilities,
                        const std::vector<std::string>& names);

struct ClassReport {
  const ClassData& data;
  const TrainOutcome& outcome;
  const std::string& precision;
  const ClassResult* before = nullptr;  // the validation's; none of them need be there
  const ClassResult* after = nullptr;
  const ClassResult* test = nullptr;
};

// Whole or not at all. Throws std::runtime_error.
void write_class_report(const std::filesystem::path& file, const ClassReport& report);

}  // namespace bert
