#include "squad/records.h"

#include <stdexcept>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "files/reading.h"
#include "squad/places.h"

namespace bert {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxFileBytes = 1u << 30;

class SquadReader {
 public:
  explicit SquadReader(const std::string& source) : source_(source) {}

  Questions read(const json& document) {
    const json& data = document.is_object() && document.contains("data") ? document["data"] : document;
    if (data.is_object()) {
      add_flat(data);
    } else if (data.is_array()) {
      for (const json& item : data) {
        at_ = item.is_object() && item.contains("title") && item["title"].is_string()
                  ? "in \"" + item["title"].get<std::string>() + "\""
                  : "in item " + std::to_string(questions_.all.size());
        item.is_object() && item.contains("paragraphs") ? add_article(item) : add_flat(item);
      }
    } else {
      fail("expected SQuAD's JSON: an object with \"data\", or a list of questions");
    }
    if (questions_.all.empty()) fail("expected questions, found none");
    return std::move(questions_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(source_ + (at_.empty() ? "" : ", " + at_) + ": " + what);
  }

  const json& field(const json& object, const char* name, json::value_t type) const {
    if (!object.is_object()) fail(std::string("expected an object with \"") + name + "\", found " + object.type_name());
    const auto found = object.find(name);
    if (found == object.end()) fail(std::string("the field \"") + name + "\" is missing");
    const bool is_count = type == json::value_t::number_unsigned;
    if (is_count ? !found->is_number_unsigned() : found->type() != type) {
      fail(std::string("the field \"") + name + "\": expected " + (is_count ? "a count" : json(type).type_name()) +
           ", found " + found->type_name() + (found->is_number() ? " " + found->dump() : ""));
    }
    return *found;
  }
  std::string text(const json& object, const char* name) const {
    return field(object, name, json::value_t::string).get<std::string>();
  }
  const json& list(const json& object, const char* name) const { return field(object, name, json::value_t::array); }

  void add_article(const json& article) {
    const std::string title = article.contains("title") ? text(article, "title") : "";
    for (const json& paragraph : list(article, "paragraphs")) {
      const std::string context = text(paragraph, "context");
      for (const json& item : list(paragraph, "qas")) {
        Question question = begin_question(item, title, context);
        for (const json& answer : list(item, "answers")) question.answers.push_back(answer_of(answer, context));
        if (item.contains("is_impossible")) {
          question.is_impossible = field(item, "is_impossible", json::value_t::boolean).get<bool>();
        }
        if (item.contains("plausible_answers")) {
          for (const json& answer : list(item, "plausible_answers")) {
            question.plausible_answers.push_back(answer_of(answer, context));
          }
        }
        add(std::move(question));
      }
    }
  }

  void add_flat(const json& item) {
    Question question = begin_question(item, item.is_object() && item.contains("title") ? text(item, "title") : "",
                                       text(item, "context"));
    const json& answers = field(item, "answers", json::value_t::object);
    const json& texts = list(answers, "text");
    const json& begins = list(answers, "answer_start");
    if (texts.size() != begins.size()) {
      fail("expected as many numbers in answer_start as texts, found " + std::to_string(begins.size()) + " and " +
           std::to_string(texts.size()));
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
      question.answers.push_back(answer_of({{"text", texts[i]}, {"answer_start", begins[i]}}, question.context));
    }
    question.is_impossible = question.answers.empty();
    add(std::move(question));
  }

  Question begin_question(const json& item, const std::string& title, const std::string& context) {
    Question question;
    question.id = text(item, "id");
    at_ = "question \"" + question.id + "\"";
    question.title = title;
    question.text = text(item, "question");
    question.context = context;
    return question;
  }

  GoldAnswer answer_of(const json& item, const std::string& context) {
    GoldAnswer answer{text(item, "text"),
                      field(item, "answer_start", json::value_t::number_unsigned).get<std::size_t>()};
    if (context_ != context) {
      context_ = context;
      places_ = Places(context_);
    }
    const std::size_t characters = Places(answer.text).characters();
    if (answer.begin > places_.characters() || characters > places_.characters() - answer.begin) {
      fail("the answer \"" + answer.text + "\" is said to begin at " + std::to_string(answer.begin) + " and has " +
           std::to_string(characters) + " characters, but the context has " + std::to_string(places_.characters()));
    }
    const bool is_there = context_.compare(places_.byte(answer.begin), answer.text.size(), answer.text) == 0;
    if (!is_there) ++questions_.misplaced_answers;
    return answer;
  }

  void add(Question question) {
    if (question.is_impossible && !question.answers.empty()) fail("is_impossible, but it has answers");
    if (!ids_.insert(question.id).second) fail("the id comes twice");
    questions_.all.push_back(std::move(question));
    at_.clear();
  }

  const std::string& source_;
  Questions questions_;
  std::unordered_set<std::string> ids_;
  std::string at_;  // where in the file, for messages
  std::string context_;
  Places places_{""};  // of context_
};

}  // namespace

Questions parse_questions(std::string_view text, const std::string& source) {
  json document;
  try {
    document = json::parse(text);
  } catch (const json::exception& error) {
    throw std::runtime_error(source + " is no JSON: " + error.what());
  }
  return SquadReader(source).read(document);
}

Questions read_questions(const std::filesystem::path& path) {
  const std::string text = read_text(path, kMaxFileBytes);
  if (text.empty()) throw std::runtime_error(path.string() + ": expected SQuAD's JSON, found an empty file");
  return parse_questions(text, path.string());
}

}  // namespace bert
