#include "cli/results.h"

#include <stdexcept>

#include <nlohmann/json.hpp>

#include "weights/file_bytes.h"

namespace bert {
namespace {

nlohmann::ordered_json as_json(const SpanResult& result) {
  return {{"f1", result.f1},
          {"exact_match", result.exact_match},
          {"windows", result.windows},
          {"windows_per_second", static_cast<double>(result.windows) / result.seconds}};
}

}  // namespace

void write_result(const std::filesystem::path& file, const SpanTrainingResult& result) {
  nlohmann::ordered_json json = {{"dev", result.dev_file}, {"questions", result.dev_questions}};
  json["train"] = {{"files", result.train_files}, {"questions", result.train_questions}};
  if (result.before) json["before"] = as_json(*result.before);
  if (result.after) json["after"] = as_json(*result.after);
  json["steps"] = result.steps;
  json["train_seconds"] = result.train_seconds;
  json["train_windows_per_second"] = static_cast<double>(result.windows) / result.train_seconds;
  if (!result.stop_reason.empty()) json["stopped"] = result.stop_reason;
  AtomicFile out(file);
  out.append(json.dump(2) + "\n");
  out.commit();
}

std::string describe(const TrainOptions& options, const SpanOptions& spans) {
  nlohmann::json files = nlohmann::json::array();
  for (const auto& file : spans.train) files.push_back(file.filename().string());
  return nlohmann::json{{"model", options.model.filename().string()},
                        {"train", files},
                        {"train_size", spans.train_size},
                        {"optimizer", options.optimizer},
                        {"batch_size", options.batch_size},
                        {"accumulate", options.accumulate},
                        {"max_length", spans.max_length},
                        {"stride", spans.stride},
                        {"stride_means", spans.stride_means},
                        {"seed", options.seed}}
      .dump();
}

void check_same_training(const Checkpoint& checkpoint, const std::string& described,
                         const std::filesystem::path& path) {
  const auto found = checkpoint.texts.find("options");
  if (found == checkpoint.texts.end() || found->second == described) return;
  throw std::runtime_error(path.string() + " is of another training: it has the options " + found->second +
                           ", and those asked for are " + described + "; name another folder with --out");
}

}  // namespace bert
