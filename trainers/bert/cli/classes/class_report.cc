#include "cli/classes/class_report.h"

#include <nlohmann/json.hpp>

#include "cli/text.h"
#include "files/writing.h"
#include "text/characters.h"

namespace bert {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kSampleCharacters = 72;

ordered_json confusion_of(const ClassScores& scores, std::size_t classes) {
  ordered_json rows = ordered_json::array();
  for (std::size_t actual = 0; actual < classes; ++actual) {
    ordered_json row = ordered_json::array();
    for (std::size_t predicted = 0; predicted < classes; ++predicted) row.push_back(scores.count(actual, predicted));
    rows.push_back(row);
  }
  return rows;
}

ordered_json result_of(const ClassResult& result, std::size_t classes) {
  return {{"texts", result.scores.texts()},
          {"loss", result.loss},
          {"accuracy", result.scores.accuracy()},
          {"kappa", result.scores.kappa()},
          {"quadratic_kappa", result.scores.quadratic_kappa()},
          {"mean_recall", result.scores.mean_recall()},
          {"confusion", confusion_of(result.scores, classes)},
          {"texts_per_second", static_cast<double>(result.scores.texts()) / result.seconds}};
}

ordered_json counts_of(const std::vector<ClassText>& texts, const std::vector<std::string>& names) {
  std::vector<std::int64_t> counts(names.size());
  for (const ClassText& text : texts) ++counts[static_cast<std::size_t>(text.label)];
  return counts;
}

}  // namespace

std::string scores_text(const ClassResult& result) {
  return format("loss %.4f  accuracy %.4f  ", result.loss, result.scores.accuracy()) + agreement_text(result);
}

std::string agreement_text(const ClassResult& result) {
  const ClassScores& scores = result.scores;
  return format("mean recall %.4f  kappa %.4f, quadratic %.4f  (%ld texts, %.1f texts/s)", scores.mean_recall(),
                scores.kappa(), scores.quadratic_kappa(), scores.texts(),
                static_cast<double>(scores.texts()) / result.seconds);
}

std::string sample_text(const std::string& text, const at::Tensor& probabilities,
                        const std::vector<std::string>& names) {
  std::u32string characters = to_utf32(text);
  if (characters.size() > kSampleCharacters) characters = characters.substr(0, kSampleCharacters - 3) + U"...";
  const auto best = static_cast<std::size_t>(probabilities.argmax().item<std::int64_t>());
  const double probability = probabilities[static_cast<std::int64_t>(best)].item<double>();
  const auto escaped = [](const std::string& utf8) { return nlohmann::json(utf8).dump(-1, ' ', true); };
  return "predicted " + escaped(names[best]) + format(" (%.3f): ", probability) + escaped(to_utf8(characters));
}

void write_class_report(const std::filesystem::path& file, const ClassReport& report) {
  const std::vector<std::string>& names = report.data.names;
  ordered_json json = {
      {"classes", names},
      {"train", {{"texts", report.data.train.size()}, {"of_class", counts_of(report.data.train, names)}}},
      {"precision", report.precision}};
  if (report.before != nullptr) json["before"] = result_of(*report.before, names.size());
  if (report.after != nullptr) json["after"] = result_of(*report.after, names.size());
  if (report.test != nullptr) json["test"] = result_of(*report.test, names.size());
  json["steps"] = report.outcome.steps;
  json["train_seconds"] = report.outcome.seconds;
  json["train_texts_per_second"] = static_cast<double>(report.outcome.examples) / report.outcome.seconds;
  add_ranks(json, report.outcome);
  if (!report.outcome.stop_reason.empty()) json["stopped"] = report.outcome.stop_reason;
  write_text(file, json.dump(2) + "\n");
}

}  // namespace bert
