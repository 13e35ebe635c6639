// Files of predictions.
#include <functional>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "files/reading.h"
#include "files/writing.h"
#include "squad/answers.h"
#include "squad/evaluation.h"

namespace bert {
namespace {

using Json = nlohmann::ordered_json;

// ordered_json searches all keys for each that is set by name; pushed pairs become an object at once.
template <class Value>
void write_by_id(const std::filesystem::path& path, const std::vector<Prediction>& predictions, const Value& value) {
  Json::object_t object;
  object.reserve(predictions.size());
  for (const Prediction& prediction : predictions) object.Container::emplace_back(prediction.id, value(prediction));
  write_text(path, Json(std::move(object)).dump(2) + "\n");
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

// Calls take(key, value) for each of an object, in the order of the file; refuses what is no object of values.
void read_object(const std::filesystem::path& path,
                 const std::function<void(const std::string& key, const nlohmann::json& value)>& take) {
  using nlohmann::json;
  constexpr std::uint64_t kMaxBytes = 1u << 30;
  const std::string text = read_text(path, kMaxBytes);
  std::string key;
  const auto handle = [&](int depth, json::parse_event_t event, json& parsed) {
    using Event = json::parse_event_t;
    const bool begins = event == Event::object_start || event == Event::array_start;
    if ((depth == 0 && event != Event::object_start && event != Event::object_end) || (depth > 0 && begins)) {
      throw std::runtime_error(path.string() + ": expected an object with a value for each question, found other JSON");
    }
    if (depth == 1 && event == Event::key) key = parsed.get<std::string>();
    if (depth != 1 || event != Event::value) return true;
    take(key, parsed);
    return false;
  };
  try {
    const json nothing_left = json::parse(text, handle);
  } catch (const json::exception& exception) {
    throw std::runtime_error(path.string() + " is no JSON: " + exception.what());
  }
}

}  // namespace

std::vector<PredictedText> read_predictions(const std::filesystem::path& path,
                                            const std::filesystem::path& impossible_probabilities) {
  std::vector<PredictedText> predictions;
  read_object(path, [&](const std::string& id, const nlohmann::json& text) {
    if (!text.is_string()) {
      throw std::runtime_error(path.string() + ", \"" + id + "\": expected a text, found " + text.type_name());
    }
    predictions.push_back({id, text.get<std::string>(), 0});
  });
  if (impossible_probabilities.empty()) return predictions;
  std::unordered_map<std::string_view, PredictedText*> by_id;
  for (PredictedText& prediction : predictions) by_id[prediction.id] = &prediction;
  read_object(impossible_probabilities, [&](const std::string& id, const nlohmann::json& probability) {
    const auto found = by_id.find(id);
    if (found == by_id.end() || !probability.is_number()) {
      throw std::runtime_error(impossible_probabilities.string() + ", \"" + id +
                               "\": expected a number for a question that has a prediction");
    }
    found->second->impossible_probability = probability.get<double>();
  });
  return predictions;
}

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
