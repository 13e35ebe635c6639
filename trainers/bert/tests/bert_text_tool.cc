// What bert_text and bert_squad compute, for programs in Python that compute it too.
//
//   bert_text_tool pieces VOCAB OPTION...      texts to ids and byte ranges
//   bert_text_tool normalize                   texts to normalized words
//   bert_text_tool windows VOCAB SQUAD LENGTH STRIDE moved|shared train|none
//   bert_text_tool answers VOCAB SQUAD v1|v2 STRIDE
//   bert_text_tool evaluate v1|v2 SQUAD PREDICTIONS [ODDS THRESHOLD]
//   bert_text_tool speed VOCAB FILE ROUNDS     megabytes a second of processor time, a line for each round
//
// Texts come on the standard input, each as its bytes' count (32 bits) and the bytes.
#include <ctime>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "squad/answers.h"
#include "squad/evaluation.h"
#include "squad/normalized_text.h"
#include "squad/windows.h"
#include "text/tokenizer.h"

namespace bert {
namespace {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

std::optional<std::string> next_text() {
  std::uint32_t bytes = 0;
  if (!std::cin.read(reinterpret_cast<char*>(&bytes), sizeof bytes)) return std::nullopt;
  std::string text(bytes, '\0');
  std::cin.read(text.data(), bytes);
  return text;
}

template <class Value>
void write_raw(const Value& value) {
  std::cout.write(reinterpret_cast<const char*>(&value), sizeof value);
}

int print_pieces(const Arguments& arguments) {
  TokenizerOptions options;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "cased") options.folding.lower_case = false;
    if (arguments[i] == "strip") options.folding.strip_accents = true;
    if (arguments[i] == "keep") options.folding.strip_accents = false;
    if (arguments[i] == "whole-chinese") options.folding.split_chinese = false;
  }
  const Tokenizer tokenizer = Tokenizer::load(arguments.at(0), options);
  std::vector<std::int32_t> ids;
  while (const auto text = next_text()) {
    const std::vector<Piece> pieces = tokenizer.pieces(*text);
    ids.clear();
    tokenizer.append_ids(*text, ids);
    write_raw(static_cast<std::uint32_t>(pieces.size()));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (ids.at(i) != pieces[i].id) throw std::runtime_error("ids and pieces differ");
      write_raw(pieces[i]);
    }
  }
  return 0;
}

int print_normalized(const Arguments&) {
  while (const auto text = next_text()) {
    std::string joined;
    for (const std::string& word : normalized_words(*text)) joined += (joined.empty() ? "" : " ") + word;
    write_raw(static_cast<std::uint32_t>(joined.size()));
    std::cout << joined;
  }
  return 0;
}

int print_windows(const Arguments& arguments) {
  const Tokenizer tokenizer = Tokenizer::load(arguments.at(0), {});
  const Questions questions = read_questions(arguments.at(1));
  const WindowOptions options{
      .max_length = std::stoul(arguments.at(2)),
      .stride = std::stoul(arguments.at(3)),
      .max_question = 64,
      .stride_means = arguments.at(4) == "moved" ? StrideMeans::kPiecesMoved : StrideMeans::kPiecesShared};
  const Labels labels = arguments.at(5) == "train" ? Labels::kFirstAnswer : Labels::kNone;
  for (std::size_t i = 0; i < questions.all.size(); ++i) {
    for (const Window& window : windows_of(questions.all[i], i, tokenizer, options, labels)) {
      Json words = Json::array(), most = Json::array();
      for (const ContextPiece& piece : window.context)
        words.push_back(piece.word), most.push_back(piece.is_max_context);
      std::cout << Json{window.question,    window.ids,      window.context_begin, words, most,
                        window.begin_label, window.end_label}
                << '\n';
    }
  }
  return 0;
}

// Numbers that look drawn, exact in float32: from the question, the window, the place and the end.
float made_up_logit(std::uint32_t question, std::uint32_t window, std::uint32_t place, std::uint32_t end) {
  std::uint32_t x = question * 2654435761u ^ window * 40503u ^ place * 2246822519u ^ end * 3266489917u;
  x = (x ^ x >> 15) * 2246822519u;
  x = (x ^ x >> 13) * 3266489917u;
  return static_cast<float>((x ^ x >> 16) >> 20) / 128.0f - 16.0f;  // 4096 values: ties are there
}

int print_answers(const Arguments& arguments) {
  constexpr std::size_t kLength = 384;
  const Tokenizer tokenizer = Tokenizer::load(arguments.at(0), {});
  const Questions questions = read_questions(arguments.at(1));
  AnswerOptions options;
  options.may_be_impossible = arguments.at(2) == "v2";
  const WindowOptions window_options{.max_length = kLength, .stride = std::stoul(arguments.at(3))};
  for (std::size_t i = 0; i < questions.all.size(); ++i) {
    const auto windows = windows_of(questions.all[i], i, tokenizer, window_options, Labels::kNone);
    std::vector<std::vector<float>> values;
    for (std::uint32_t w = 0; w < windows.size(); ++w) {
      for (std::uint32_t end = 0; end < 2; ++end) {
        auto& logits = values.emplace_back(kLength);
        for (std::uint32_t p = 0; p < kLength; ++p) logits[p] = made_up_logit(static_cast<std::uint32_t>(i), w, p, end);
      }
    }
    std::vector<WindowLogits> logits;
    for (std::size_t w = 0; w < windows.size(); ++w) logits.push_back({&windows[w], values[2 * w], values[2 * w + 1]});
    const Prediction prediction = answer(questions.all[i], tokenizer, logits, options);
    Json rated = Json::array();
    for (const RatedAnswer& a : prediction.answers)
      rated.push_back({a.text, a.probability, a.begin_logit, a.end_logit});
    std::cout << Json{prediction.id, prediction.text, prediction.impossible_margin, rated} << '\n';
  }
  return 0;
}

Json part_json(const std::optional<PartOfEvaluation>& part) {
  return part ? Json{part->exact, part->f1, part->total} : Json();
}

int print_evaluation(const Arguments& arguments) {
  const Questions questions = read_questions(arguments.at(1));
  const auto predictions = read_predictions(arguments.at(2), arguments.size() > 3 ? arguments[3] : "");
  if (arguments.at(0) == "v1") {
    const EvaluationV1 evaluation = evaluate_v1(questions.all, predictions);
    Json scores = Json::array();
    for (const Score& score : evaluation.of_question) scores.push_back({score.exact, score.f1});
    std::cout << Json{evaluation.exact_match, evaluation.f1, evaluation.missing, scores} << '\n';
    return 0;
  }
  const double threshold = arguments.size() > 4 ? std::stod(arguments[4]) : 1;
  const EvaluationV2 evaluation = evaluate_v2(questions.all, predictions, threshold);
  std::cout << Json{part_json(evaluation.all),   part_json(evaluation.has_answer), part_json(evaluation.no_answer),
                    evaluation.best_exact.score, evaluation.best_exact.threshold,  evaluation.best_f1.score,
                    evaluation.best_f1.threshold}
            << '\n';
  return 0;
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

int print_speed(const Arguments& arguments) {
  const Tokenizer tokenizer = Tokenizer::load(arguments.at(0), {});
  std::ifstream file(arguments.at(1), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (int round = 0; round < std::stoi(arguments.at(2)); ++round) {
    const double begin = processor_seconds();
    std::size_t count = 0;
    std::vector<std::int32_t> ids;
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
      ids.clear();
      tokenizer.append_ids(rest.substr(0, end), ids);
      count += ids.size();
      rest.remove_prefix(end);
    }
    const double seconds = processor_seconds() - begin;
    std::printf("%g MB/s, %zu pieces\n", static_cast<double>(text.size()) / seconds / 1e6, count);
  }
  return 0;
}

int run(const std::string& command, const Arguments& arguments) {
  if (command == "pieces") return print_pieces(arguments);
  if (command == "normalize") return print_normalized(arguments);
  if (command == "windows") return print_windows(arguments);
  if (command == "answers") return print_answers(arguments);
  if (command == "evaluate") return print_evaluation(arguments);
  if (command == "speed") return print_speed(arguments);
  throw std::runtime_error("expected a command, found \"" + command + "\"");
}

}  // namespace
}  // namespace bert

int main(int count, char** arguments) {
  try {
    std::ios::sync_with_stdio(false);
    return bert::run(count > 1 ? arguments[1] : "", {arguments + std::min(count, 2), arguments + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bert_text_tool: %s\n", error.what());
    return 1;
  }
}
