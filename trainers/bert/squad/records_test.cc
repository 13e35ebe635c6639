#include "squad/records.h"

#include <gtest/gtest.h>

namespace bert {
namespace {

constexpr const char* kContext = "Z\u00FCrich is a city.";

std::string v1(const std::string& question) {
  return R"({"version": "1.1", "data": [{"title": "Towns", "paragraphs": [{"context": ")" + std::string(kContext) +
         R"(", "qas": [)" + question + "]}]}]}";
}
const std::string kAnswered =
    R"({"id": "q1", "question": "What is it?", "answers": [{"text": "a city", "answer_start": 10}]})";

std::string squad_error(const std::string& text) {
  try {
    parse_questions(text, "dev.json");
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(RecordsTest, ReadsTheFirstVersion) {
  const Questions read = parse_questions(v1(kAnswered), "dev.json");
  ASSERT_EQ(read.all.size(), 1u);
  const Question& question = read.all[0];
  EXPECT_EQ(question.id, "q1");
  EXPECT_EQ(question.title, "Towns");
  EXPECT_EQ(question.text, "What is it?");
  EXPECT_EQ(question.context, kContext);
  ASSERT_EQ(question.answers.size(), 1u);
  EXPECT_EQ(question.answers[0].text, "a city");
  EXPECT_EQ(question.answers[0].begin, 10u);
  EXPECT_FALSE(question.is_impossible);
  EXPECT_EQ(read.misplaced_answers, 0u) << "places are code points, not bytes";
}

TEST(RecordsTest, ReadsTheSecondVersion) {
  const Questions read = parse_questions(v1(R"({"id": "q", "question": "?", "is_impossible": true, "answers": [],
             "plausible_answers": [{"text": "city", "answer_start": 12}]})"),
                                         "dev.json");
  EXPECT_TRUE(read.all.at(0).is_impossible);
  EXPECT_TRUE(read.all[0].answers.empty());
  EXPECT_EQ(read.all[0].plausible_answers.at(0).text, "city");
}

TEST(RecordsTest, ReadsTheFlatForm) {
  const std::string one = R"({"answers": {"answer_start": [10], "text": ["a city"]}, "context": "Zurich is a city.",
                              "id": "1", "question": "What?", "title": "train test"})";
  for (const std::string& text : {one, "[" + one + "]", R"({"data": [)" + one + "]}"}) {
    const Questions read = parse_questions(text, "flat.json");
    ASSERT_EQ(read.all.size(), 1u) << text;
    EXPECT_EQ(read.all[0].title, "train test");
    EXPECT_EQ(read.all[0].answers.at(0).begin, 10u);
    EXPECT_EQ(read.misplaced_answers, 0u);
  }
  const Questions none = parse_questions(
      R"([{"answers": {"answer_start": [], "text": []}, "context": "c", "id": "1", "question": "?"}])", "flat.json");
  EXPECT_TRUE(none.all.at(0).is_impossible);
}

TEST(RecordsTest, CountsAnswersThatAreNotAtTheirPlace) {
  const std::string elsewhere = R"({"id": "q", "question": "?", "answers": [{"text": "a city", "answer_start": 9},)"
                                R"( {"text": "city", "answer_start": 12}]})";
  EXPECT_EQ(parse_questions(v1(elsewhere), "dev.json").misplaced_answers, 1u);
}

TEST(RecordsTest, SaysWhichQuestionIsWrong) {
  const auto answered = [](const std::string& answers) {
    return v1(R"({"id": "q7", "question": "?", "answers": )" + answers + "}");
  };
  for (
      const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
          {"", "dev.json is no JSON"},
          {"{", "dev.json is no JSON"},
          {R"(["\ud83d"])", "dev.json is no JSON"},
          {"17", "expected SQuAD's JSON"},
          {"[]", "expected questions, found none"},
          {R"({"data": []})", "expected questions, found none"},
          {R"({"data": [1]})", R"(expected an object with "context", found number)"},
          {R"({"data": [{"title": "T", "paragraphs": 1}]})",
           R"(in "T": the field "paragraphs": expected array, found number)"},
          {v1(R"({"question": "?", "answers": []})"), R"(in "Towns": the field "id" is missing)"},
          {v1(R"({"id": "q7", "answers": []})"), R"(question "q7": the field "question" is missing)"},
          {v1(R"({"id": "q7", "question": "?"})"), R"(question "q7": the field "answers" is missing)"},
          {answered(R"([{"text": "a"}])"), R"(question "q7": the field "answer_start" is missing)"},
          {answered(R"([{"text": "a", "answer_start": -1}])"), "expected a count, found number -1"},
          {answered(R"([{"text": "a", "answer_start": 1.5}])"), "expected a count, found number 1.5"},
          {answered(R"([{"text": "city", "answer_start": 14}])"),
           "begin at 14 and has 4 characters, but the context has 17"},
          {answered(R"([{"text": "a", "answer_start": 18446744073709551615}])"), "but the context has 17"},
          {v1(kAnswered + "," + kAnswered), R"(question "q1": the id comes twice)"},
          {v1(R"({"id": "q7", "question": "?", "is_impossible": true, "answers": [{"text": "a", "answer_start": 0}]})"),
           "is_impossible, but it has answers"},
          {R"([{"id": "q7", "question": "?", "context": "c", "answers": {"text": ["c"], "answer_start": []}}])",
           "found 0 and 1"}}) {
    const std::string error = squad_error(text);
    EXPECT_NE(error.find(expected), std::string::npos) << text << ": " << error;
    EXPECT_EQ(error.find("dev.json"), 0u) << error;
  }
}

TEST(RecordsTest, NamesAFileThatCannotBeRead) {
  EXPECT_THROW(read_questions("/nowhere/dev.json"), std::runtime_error);
}

}  // namespace
}  // namespace bert
