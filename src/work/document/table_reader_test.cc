#include "work/document/table_reader.h"

#include <gtest/gtest.h>

#include <array>

namespace trainwarden::document {
namespace {

// A table, and what is wrong with it.
struct Given {
  explicit Given(std::string_view text) : value(parse(text, "f").value_or({})), reader(value, mistakes) {}
  DocumentValue value;
  Mistakes mistakes;
  TableReader reader;
};

using Lines = std::vector<std::string>;

Lines lines_of(const Mistakes& mistakes) {
  Lines lines;
  for (const Mistake& mistake : mistakes.listed()) lines.push_back(mistake.place + ": " + mistake.what);
  return lines;
}

TEST(TableReader, TakesFieldsByAnyOfTheirNames) {
  Given given("train_max_run = 5\nEntryPoint = 'a.py'\nspot = true\nlist = ['a', 'b']\none = 'c'\n[t]\nx = 1\n");
  EXPECT_EQ(given.reader.integer({"max_run", "train_max_run"}, 0, 10), 5);
  EXPECT_EQ(given.reader.text({"entry_point"}), "a.py");
  EXPECT_EQ(given.reader.boolean({"spot"}), true);
  EXPECT_EQ(given.reader.texts({"list"}), (Lines{"a", "b"}));
  EXPECT_EQ(given.reader.texts({"one"}), (Lines{"c"}));
  ASSERT_NE(given.reader.table({"t"}), nullptr);
  EXPECT_EQ(given.reader.text({"missing"}), std::nullopt);
  EXPECT_EQ(given.reader.table({"missing"}), nullptr);
  given.reader.refuse_rest();
  EXPECT_EQ(lines_of(given.mistakes), Lines{});
  EXPECT_TRUE(given.mistakes.status().ok());
}

TEST(TableReader, WhatIsOfTheWrongKindIsAMistakeAndNotThere) {
  Given given("a = 1\nb = 'x'\nc = 7\nd = [1]\ne = 'x'\nf = [1]\n");
  EXPECT_EQ(given.reader.text({"a"}), std::nullopt);
  EXPECT_EQ(given.reader.boolean({"b"}), std::nullopt);
  EXPECT_EQ(given.reader.integer({"c"}, 8, 9), std::nullopt);
  EXPECT_EQ(given.reader.texts({"d"}), Lines{});
  EXPECT_EQ(given.reader.table({"e"}), nullptr);
  EXPECT_EQ(given.reader.integer({"f"}, 0, 1), std::nullopt);
  EXPECT_EQ(
      lines_of(given.mistakes),
      (Lines{"f, line 1: a: expected a text, found an integer", "f, line 2: b: expected true or false, found a text",
             "f, line 3: c: expected 8 to 9, found 7", "f, line 4: d: expected a list of texts, found an integer",
             "f, line 5: e: expected a table, found a text",
             "f, line 6: f: expected an integer from 0 to 1, found a list"}));
  EXPECT_EQ(given.mistakes.status().code(), Code::kInvalidArgument);
}

TEST(TableReader, WhatNobodyTookIsAMistakeWithTheNearestName) {
  Given given("entry_pont = 'a'\nzzz = 1\n");
  given.reader.text({"entry_point"});
  given.reader.text({"name"});
  given.reader.refuse_rest();
  EXPECT_EQ(lines_of(given.mistakes), (Lines{"f, line 1: unknown key \"entry_pont\"; did you mean \"entry_point\"?",
                                             "f, line 2: unknown key \"zzz\" (known: entry_point, name)"}));
}

TEST(TableReader, OneFieldUnderTwoNamesIsAMistake) {
  Given given("max_run = 1\ntrain_max_run = 2\n");
  EXPECT_EQ(given.reader.integer({"max_run", "train_max_run"}, 0, 9), 1);
  EXPECT_EQ(lines_of(given.mistakes),
            (Lines{"f, line 2: train_max_run: is \"max_run\" by another name, which is given already"}));
}

TEST(TableReader, KnowsThePlacesOfItsFields) {
  Given given("b = 1\nalso_a = 'x'\n");
  given.reader.text({"a", "also_a"});
  EXPECT_EQ(given.reader.place_of("a"), "f, line 2");
  EXPECT_EQ(given.reader.place_of("missing"), "f");
}

// A path in JSON says already what the message begins with.
TEST(Mistakes, NameNothingTwice) {
  EXPECT_EQ(text_of({"f, inputs.train", "inputs: train: nothing is there"}), "f, inputs.train: nothing is there");
  EXPECT_EQ(text_of({"f, tags[2]", "tags: expected texts"}), "f, tags[2]: expected texts");
  EXPECT_EQ(text_of({"f, line 3", "inputs: train: nothing is there"}), "f, line 3: inputs: train: nothing is there");
  EXPECT_EQ(text_of({"f", "name: wrong"}), "f: name: wrong");
  EXPECT_EQ(text_of({"f, a.b.", "b: wrong"}), "f, a.b.: wrong");
}

TEST(TableReader, OneOfSomeWords) {
  constexpr std::array<const char*, 2> kWords = {"File", "FastFile"};
  Given given("a = 'fast_file'\nb = 'Pipe'\nc = 1\n");
  EXPECT_EQ(given.reader.choice({"a"}, kWords), 1u);
  EXPECT_EQ(given.reader.choice({"b"}, kWords), std::nullopt);
  EXPECT_EQ(given.reader.choice({"c"}, kWords), std::nullopt);
  EXPECT_EQ(given.reader.choice({"d"}, kWords), std::nullopt);
  EXPECT_EQ(lines_of(given.mistakes), (Lines{"f, line 2: b: expected one of File, FastFile, found \"Pipe\"",
                                             "f, line 3: c: expected one of File, FastFile, found an integer"}));
}

TEST(TableReader, TimesAndSizes) {
  EXPECT_EQ(parse_seconds("90 min"), 5400);
  EXPECT_EQ(parse_seconds("10m"), 600);
  EXPECT_EQ(parse_seconds("1.5h"), 5400);
  EXPECT_EQ(parse_seconds("2 d"), 172800);
  EXPECT_EQ(parse_seconds("500ms"), 0.5);
  EXPECT_EQ(parse_bytes("16 GiB"), 17179869184u);
  EXPECT_EQ(parse_bytes("1.5 kB"), 1500u);
  for (const char* text : {"", "h", "1", "-1 s", "1 hour and 2 min", "nan s", "1e", "9999999999 TiB"}) {
    EXPECT_EQ(parse_seconds(text), std::nullopt) << text;
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
  Given given("a = '2 min'\nb = 30\nc = 'soon'\nd = '3 h'\ne = '4 GiB'\nf = 512\ng = -1\n");
  EXPECT_EQ(given.reader.seconds({"a"}, 0, 1000), 120);
  EXPECT_EQ(given.reader.seconds({"b"}, 0, 1000), 30);
  EXPECT_EQ(given.reader.seconds({"c"}, 0, 1000), std::nullopt);
  EXPECT_EQ(given.reader.seconds({"d"}, 0, 1000), std::nullopt);
  EXPECT_EQ(given.reader.bytes({"e"}), 4294967296u);
  EXPECT_EQ(given.reader.bytes({"f"}), 512u);
  EXPECT_EQ(given.reader.bytes({"g"}), std::nullopt);
  EXPECT_EQ(lines_of(given.mistakes),
            (Lines{"f, line 3: c: expected a time, as in \"90 min\", \"24 h\", or a number of seconds, found \"soon\"",
                   "f, line 4: d: expected 0 s to 1000 s, found 10800 s",
                   "f, line 7: g: expected a size, as in \"16 GiB\", or a number of bytes, found -1"}));
}

TEST(Mistakes, AreToldInTheOrderOfTheFile) {
  Mistakes mistakes;
  mistakes.add("a, line 12.toml, line 10", "a");
  mistakes.add("job.toml, line 9", "b");
  mistakes.add("job.toml, line 10", "c");
  mistakes.add("job.toml", "d");
  EXPECT_EQ(mistakes.status().message(),
            "job.toml: d\njob.toml, line 9: b\na, line 12.toml, line 10: a\njob.toml, line 10: c");
}

TEST(Mistakes, OfVeryManyOnlyTheNumberIsTold) {
  Mistakes mistakes;
  for (int i = 0; i < 1000; ++i) mistakes.add("f", "wrong " + std::to_string(i));
  EXPECT_EQ(mistakes.listed().size(), Mistakes::kMaxListed);
  EXPECT_NE(mistakes.status().message().find("f: wrong 49\nand 950 more"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::document
