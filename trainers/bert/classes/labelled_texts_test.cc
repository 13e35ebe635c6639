#include "classes/labelled_texts.h"

#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>
#include <unistd.h>

#include "classes/delimited.h"

namespace bert {
namespace {

namespace fs = std::filesystem;

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::string_view text, Delimited form = Delimited::kCsv) {
  DelimitedReader reader(text, form, "a.csv");
  Rows rows;
  for (std::vector<std::string> row; reader.next(row);) rows.push_back(row);
  return rows;
}

LabelledTexts parsed(std::string_view bytes, LabelledForm form, const LabelledFields& fields = {}) {
  return parse_labelled_texts(bytes, form, fields, "reviews");
}

std::string labelled_error(std::string_view bytes, LabelledForm form) {
  try {
    parsed(bytes, form);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(DelimitedTest, ReadsQuotesLinesAndDoubledQuotes) {
  EXPECT_EQ(rows_of("\xef\xbb\xbf"
                    "a,b\r\n\r\n\"x, y\",\"5'8\"\"\"\n\"two\r\nlines\",\nlast,"),
            (Rows{{"a", "b"}, {"x, y", "5'8\""}, {"two\r\nlines", ""}, {"last", ""}}));
  EXPECT_EQ(rows_of("a\"b,c\n"), (Rows{{"a\"b", "c"}})) << "a quote within a field is a character";
  EXPECT_EQ(rows_of("a\rb,c"), (Rows{{"a\rb", "c"}}));
  EXPECT_EQ(rows_of("\"\""), (Rows{{""}}));
  EXPECT_TRUE(rows_of("\n\n").empty());
}

TEST(DelimitedTest, InTablesWithTabsQuotesAreCharacters) {
  EXPECT_EQ(rows_of("a\t\"b\nc\t", Delimited::kTsv), (Rows{{"a", "\"b"}, {"c", ""}}));
}

TEST(DelimitedTest, SaysOnWhichLineARowBegan) {
  DelimitedReader reader("a\n\"1\n2\"\nb\n", Delimited::kCsv, "a.csv");
  std::vector<std::string> row;
  std::vector<std::size_t> lines;
  while (reader.next(row)) lines.push_back(reader.line());
  EXPECT_EQ(lines, (std::vector<std::size_t>{1, 2, 4}));
}

TEST(DelimitedTest, QuotesThatDoNotEndAreTold) {
  EXPECT_THROW(rows_of("a,\"b"), std::runtime_error);
  EXPECT_THROW(rows_of("a,\"b\"c"), std::runtime_error);
}

TEST(LabelledTextsTest, ReadsColumnsByTheirNames) {
  const LabelledTexts read = parsed("id,Review Text,Rating\n1,\"Nice, warm\",5\n2,,4\n3,Too small,2\n4,Fine,\n",
                                    LabelledForm::kCsv, {.text = "Review Text", .label = "Rating"});
  ASSERT_EQ(read.all.size(), 2u);
  EXPECT_EQ(read.all[0].text, "Nice, warm");
  EXPECT_EQ(read.all[0].label, "5");
  EXPECT_EQ(read.all[1].label, "2");
  EXPECT_EQ(read.left_out, 2u);
}

TEST(LabelledTextsTest, ReadsLinesOfJson) {
  const LabelledTexts read =
      parsed("{\"text\": \"Gr\\u00fcn\", \"label\": 5}\n\n{\"label\": \"1\", \"text\": \"No\"}\n{\"text\": \"Unsaid\"}",
             LabelledForm::kJsonLines);
  ASSERT_EQ(read.all.size(), 2u);
  EXPECT_EQ(read.all[0].text, "Gr\xc3\xbcn");
  EXPECT_EQ(read.all[0].label, "5");
  EXPECT_EQ(read.left_out, 1u);
}

TEST(LabelledTextsTest, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_EQ(labelled_error("a,b\n1,2\n", LabelledForm::kCsv),
            "reviews: expected a column \"text\", found \"a\", \"b\"; --text-column and --label-column name others");
  EXPECT_EQ(labelled_error("text,label\nx,1\ny\n", LabelledForm::kCsv),
            "reviews, line 3: expected 2 fields, as the first row has, found 1");
  EXPECT_NE(labelled_error("text,label\n\xff,1\n", LabelledForm::kCsv).find("line 2: expected UTF-8"),
            std::string::npos);
  EXPECT_NE(labelled_error("", LabelledForm::kTsv).find("names of columns"), std::string::npos);
  for (const char* line : {"[]", "{", "{\"text\": \"\\ud800\", \"label\": 1}", "{\"text\": \"\xff\", \"label\": 1}"}) {
    EXPECT_EQ(labelled_error(std::string("{}\n") + line, LabelledForm::kJsonLines),
              "reviews, line 2: expected an object of JSON in UTF-8, found something else")
        << line;
  }
  EXPECT_NE(labelled_error("{\"text\": [], \"label\": 1}", LabelledForm::kJsonLines).find("line 1: expected texts"),
            std::string::npos);
}

TEST(LabelledTextsTest, AFolderIsAllItsFiles) {
  const fs::path folder = fs::path(testing::TempDir()) / ("labelled_texts_test-" + std::to_string(::getpid()));
  fs::remove_all(folder);
  fs::create_directories(folder);
  EXPECT_THROW(read_labelled_texts(folder, {}), std::runtime_error) << "nothing is in it";
  const LabelledText first{"one\n\"two\"", "a"}, second{"three", "b"};
  std::ofstream(folder / "part-2.jsonl") << to_json_lines({&second});
  std::ofstream(folder / "part-1.jsonl") << to_json_lines({&first});
  std::ofstream(folder / "notes.txt") << "not read";
  const LabelledTexts read = read_labelled_texts(folder, {});
  ASSERT_EQ(read.all.size(), 2u);
  EXPECT_EQ(read.all[0].text, first.text);
  EXPECT_EQ(read.all[1].label, "b");
  EXPECT_THROW(read_labelled_texts(folder / "notes.txt", {}), std::runtime_error);
  EXPECT_THROW(read_labelled_texts(folder / "absent.csv", {}), std::runtime_error);
  fs::remove_all(folder);
}

TEST(LabelledTextsTest, LabelsThatAreNumbersAreSortedAsNumbers) {
  EXPECT_EQ(label_names({{"", "10"}, {"", "9"}, {"", "10"}, {"", "-1"}}), (std::vector<std::string>{"-1", "9", "10"}));
  EXPECT_EQ(label_names({{"", "10"}, {"", "9"}, {"", "nan"}}), (std::vector<std::string>{"10", "9", "nan"}));
}

}  // namespace
}  // namespace bert
