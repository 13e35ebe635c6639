// Windows: a question and as much of its context as a model reads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "squad/records.h"
#include "text/tokenizer.h"

namespace bert {

enum class StrideMeans {
  kPiecesMoved,   // each window begins `stride` pieces behind the one before: run_squad.py of BERT
  kPiecesShared,  // neighbours have `stride` pieces in common: run_qa.py of Hugging Face
};

struct WindowOptions {
  std::size_t max_length = 384;   // pieces, with [CLS] and both [SEP]
  std::size_t stride = 128;       // pieces
  std::size_t max_question = 64;  // pieces; what is more is cut off
  StrideMeans stride_means = StrideMeans::kPiecesMoved;
};

// Words of a context as run_squad.py sees them: what stands between spaces, tabs, ends of lines and U+202F.
struct ContextWords {
  std::vector<ByteRange> ranges;  // of each word in the context
  // Words [first, last], with one space between each two, whatever was there.
  std::string joined(std::string_view context, std::size_t first, std::size_t last) const;
};
ContextWords words_of_context(std::string_view context);

// A piece of the context in a window.
struct ContextPiece {
  std::uint32_t word = 0;            // of ContextWords
  std::uint32_t begin = 0, end = 0;  // bytes in the context
  // No other window has more of the context around it: an answer is only read where its first piece is so. The measure
  // is min(pieces before, pieces behind) + 0.01 * pieces of the window; of equal ones the first.
  bool is_max_context = false;
};

// [CLS] question [SEP] context [SEP], not padded.
struct Window {
  std::size_t question = 0;  // its number, as the caller counts
  std::vector<std::int32_t> ids;
  std::size_t context_begin = 0;      // the place in `ids` of the first piece of the context
  std::vector<ContextPiece> context;  // from there on
  // Places in `ids` of the first and the last piece of the answer: both 0, [CLS], where the window does not have all of
  // it, or there is none.
  std::size_t begin_label = 0, end_label = 0;

  std::int32_t segment(std::size_t place) const { return place < context_begin ? 0 : 1; }
  bool has_context_at(std::size_t place) const {
    return place >= context_begin && place - context_begin < context.size();
  }
  const ContextPiece& context_at(std::size_t place) const { return context.at(place - context_begin); }
};

// What the windows of a question are labelled with.
enum class Labels {
  kNone,         // all 0: for answering
  kFirstAnswer,  // for training
};

// The windows of a question, as convert_examples_to_features() of run_squad.py makes them (Devlin et al. 2018). The
// answer is widened to whole words, then narrowed to the first run of pieces within them that are those of its text,
// the longest that begins there. A context without pieces gives one window without. Throws std::runtime_error that
// names the question when no piece of the context fits beside it, or the stride is 0 or not below what fits
// (kPiecesShared), or the options are no use.
std::vector<Window> windows_of(const Question& question, std::size_t number, const Tokenizer& tokenizer,
                               const WindowOptions& options, Labels labels);

// Whether the words around the answer's place contain its text, spaces apart: training examples of run_squad.py that do
// not are skipped there. True where the question is impossible.
bool is_answer_in_its_words(const Question& question);

}  // namespace bert
