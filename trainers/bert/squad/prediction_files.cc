// Files of predictions.
#include <fstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "squad/answers.h"

namespace bert {
namespace {

using Json = nlohmann::ordered_json;

void write_whole(const std::filesystem::path& path, const Json& document) {
  std::filesystem::path beside = path;
  beside += ".part";
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file << document.dump(2) << '\n';
    file.flush();
    if (!file) throw std::runtime_error("cannot write " + beside.string() + "; is the folder there, and the disk full?");
  }
  std::filesystem::rename(beside, path);
}

// ordered_json searches all keys for each that is set by name; pushed pairs become an object at once.
template <class Value>
void write_by_id(const std::filesystem::path& path, const std::vector<Prediction>& predictions, const Value& value) {
  Json::object_t object;
  object.reserve(predictions.size());
  for (const Prediction& prediction : predictions) object.Container::emplace_back(prediction.id, value(prediction));
  write_whole(path, Json(std::move(object)));
}

Json rated_answers(const Prediction& prediction) {
  Json answers = Json::array();
  for (const RatedAnswer& answer : prediction.answers) {
    answers.push_back({{"text", answer.text},
                       {"probability", answer.probability},
                       {"start_logit", answer.begin_logit},
                       {"end_logit", answer.end_logit}});
  }
  return answers;
}

}  // namespace

void write_predictions(const std::filesystem::path& path, const std::vector<Prediction>& predictions) {
  write_by_id(path, predictions, [](const Prediction& prediction) { return Json(prediction.text); });
}

void write_rated_answers(const std::filesystem::path& path, const std::vector<Prediction>& predictions) {
  write_by_id(path, predictions, rated_answers);
}

void write_impossible_margins(const std::filesystem::path& path, const std::vector<Prediction>& predictions) {
  write_by_id(path, predictions, [](const Prediction& prediction) { return Json(prediction.impossible_margin); });
}

}  // namespace bert
