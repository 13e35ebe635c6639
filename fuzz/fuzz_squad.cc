// Any text as a file of SQuAD: it is refused with a message, or each question has windows and an answer from its
// context.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "squad/answers.h"
#include "squad/evaluation.h"

namespace {

using namespace bert;

void answer_question(const Question& question, const Tokenizer& tokenizer) {
  const WindowOptions options{.max_length = 12, .stride = 3, .max_question = 4};
  const bool can_learn = question.is_impossible || !question.answers.empty();
  const auto windows = windows_of(question, 0, tokenizer, options, can_learn ? Labels::kFirstAnswer : Labels::kNone);
  const std::vector<float> zeros(options.max_length, 0.0f);
  std::vector<WindowLogits> logits;
  for (const Window& window : windows) {
    if (window.ids.size() > options.max_length || window.begin_label > window.end_label) std::abort();
    if (window.end_label > 0 && !window.has_context_at(window.end_label)) std::abort();
    logits.push_back({&window, zeros, zeros});
  }
  if (answer(question, tokenizer, logits, {}).answers.empty()) std::abort();
  score_v2(question.text, question.answers);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static const Tokenizer kTokenizer(
      Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##a", "the", ".", "?"}, "the fuzzer"), {});
  Questions questions;
  try {
    questions = parse_questions({reinterpret_cast<const char*>(data), bytes}, "any.json");
  } catch (const std::runtime_error& error) {
    if (std::string_view(error.what()).find("any.json") != 0) std::abort();
    return 0;
  }
  for (const Question& question : questions.all) answer_question(question, kTokenizer);
  return 0;
}
