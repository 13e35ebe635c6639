// Questions of SQuAD: what its files say, and samples of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bert {

struct GoldAnswer {
  std::string text;
  std::size_t begin = 0;  // in the context, in code points, as in the file
};

struct Question {
  std::string id, title, text, context;       // UTF-8
  std::vector<GoldAnswer> answers;            // none where is_impossible
  std::vector<GoldAnswer> plausible_answers;  // of v2.0, where is_impossible
  bool is_impossible = false;
};

struct Questions {
  std::vector<Question> all;  // in the order of the file
  // Answers whose text is not at their place. Training on them is on you: windows label what has the text around it.
  std::size_t misplaced_answers = 0;
};

// Reads SQuAD v1.1 and v2.0 (Rajpurkar et al. 2016, 2018: data, paragraphs, qas), and the flat form of Hugging Face's
// data sets (id, title, question, context, answers: {text: [...], answer_start: [...]}): a list of such questions, an
// object with them as "data", or one alone. In the flat form a question without answers is impossible.
//
// Throws std::runtime_error that names the file, the question and what is wrong: no JSON, a half of a surrogate pair, a
// field that is missing, an id that comes twice, a span outside its context, no question at all, above 1 GiB.
Questions read_questions(const std::filesystem::path& file);
Questions parse_questions(std::string_view json, const std::string& source);  // `source` names it in messages

// Two parts of the questions, as ascending numbers of them. The same on every machine.
struct Split {
  std::vector<std::size_t> sample, rest;
};
// A `share` (0 to 1) of the questions of each article (title), drawn by `seed`. The sizes add up to `share` of all,
// rounded: articles with the largest remainders get one more.
Split split_by_article(const std::vector<Question>& questions, double share, std::uint64_t seed);
// `count` of so many questions without regard to their articles, each set of that size as likely as any other, which is
// what bounds of a mean ask for. More than there are: all.
Split split_at_random(std::size_t questions, std::size_t count, std::uint64_t seed);

}  // namespace bert
