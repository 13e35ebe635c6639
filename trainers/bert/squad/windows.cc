#include "squad/windows.h"

#include <algorithm>
#include <stdexcept>

#include "squad/places.h"

namespace bert {
namespace {

constexpr std::size_t kSpecialsOfWindow = 3;  // [CLS] and both [SEP]

// First and last piece of an answer in the context.
struct PieceSpan {
  std::size_t first = 0, last = 0;
};

std::size_t space_bytes(std::string_view text, std::size_t at) {
  constexpr std::string_view kNarrowSpace = "\u202f";
  const char byte = text[at];
  if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n') return 1;
  return text.substr(at, kNarrowSpace.size()) == kNarrowSpace ? kNarrowSpace.size() : 0;
}

// The words that the answer's first and last character are in. A space counts to the word before it, as in
// run_squad.py; spaces before the first word to that one.
PieceSpan words_around(const Question& question, const ContextWords& words) {
  const Places places(question.context);
  const GoldAnswer& answer = question.answers.at(0);
  const std::size_t characters = Places(answer.text).characters();
  const auto word_at = [&](std::size_t character) {
    const std::size_t byte = places.byte(std::min(character, places.characters()));
    const auto behind = std::upper_bound(words.ranges.begin(), words.ranges.end(), byte,
                                         [](std::size_t b, const ByteRange& range) { return b < range.begin; });
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(behind - words.ranges.begin() - 1, 0));
  };
  return {word_at(answer.begin), word_at(answer.begin + std::max<std::size_t>(characters, 1) - 1)};
}

class WindowMaker {
 public:
  WindowMaker(const Question& question, std::size_t number, const Tokenizer& tokenizer, const WindowOptions& options)
      : question_(question), number_(number), tokenizer_(tokenizer), options_(options) {
    question_ids_ = tokenizer.ids(question.text);
    question_ids_.resize(std::min(question_ids_.size(), options.max_question));
    words_ = words_of_context(question.context);
    for (const Piece& piece : tokenizer.pieces(question.context)) add_piece(piece);
  }

  std::vector<Window> make(Labels labels) {
    set_capacity();
    for (std::size_t begin = 0;; begin += step()) {
      const std::size_t end = begin + std::min(pieces_.size() - begin, capacity_);
      spans_.push_back({begin, end});
      if (end == pieces_.size()) break;
    }
    std::vector<Window> windows;
    for (const ByteRange& span : spans_) windows.push_back(window_of(span));
    mark_max_context(windows);
    if (labels == Labels::kFirstAnswer && !question_.is_impossible && !pieces_.empty()) label(windows);
    return windows;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("question \"" + question_.id + "\": " + what);
  }

  void add_piece(const Piece& piece) {
    std::size_t word = pieces_.empty() ? 0 : pieces_.back().word;
    while (word + 1 < words_.ranges.size() && words_.ranges[word + 1].begin <= piece.begin) ++word;
    ids_.push_back(piece.id);
    pieces_.push_back({static_cast<std::uint32_t>(word), piece.begin, piece.end, false});
  }

  void set_capacity() {
    const std::size_t taken = question_ids_.size() + kSpecialsOfWindow;
    if (options_.max_length <= taken) {
      fail("its " + std::to_string(question_ids_.size()) + " pieces leave no room for the context in a window of " +
           std::to_string(options_.max_length) + "; make windows longer or max_question smaller");
    }
    capacity_ = options_.max_length - taken;
    const bool is_shared = options_.stride_means == StrideMeans::kPiecesShared;
    if (is_shared ? options_.stride >= capacity_ : options_.stride == 0) {
      fail("expected a stride " + (is_shared ? "below " + std::to_string(capacity_) : std::string("above 0")) +
           ", found " + std::to_string(options_.stride));
    }
  }
  std::size_t step() const {
    return options_.stride_means == StrideMeans::kPiecesShared ? capacity_ - options_.stride
                                                               : std::min(options_.stride, capacity_);
  }

  Window window_of(const ByteRange& span) const {
    const auto from = static_cast<std::ptrdiff_t>(span.begin), to = static_cast<std::ptrdiff_t>(span.end);
    Window window;
    window.question = number_;
    window.ids.reserve(question_ids_.size() + (span.end - span.begin) + kSpecialsOfWindow);
    window.ids.push_back(tokenizer_.vocabulary().begin());
    window.ids.insert(window.ids.end(), question_ids_.begin(), question_ids_.end());
    window.ids.push_back(tokenizer_.vocabulary().separator());
    window.context_begin = window.ids.size();
    window.ids.insert(window.ids.end(), ids_.begin() + from, ids_.begin() + to);
    window.ids.push_back(tokenizer_.vocabulary().separator());
    window.context.assign(pieces_.begin() + from, pieces_.begin() + to);
    return window;
  }

  void mark_max_context(std::vector<Window>& windows) const {
    std::size_t first = 0;  // window that may have the piece
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
      while (spans_[first].end <= piece) ++first;
      double best = -1;
      std::size_t best_window = first;
      for (std::size_t w = first; w < spans_.size() && spans_[w].begin <= piece; ++w) {
        const auto [begin, end] = spans_[w];
        const double score =
            static_cast<double>(std::min(piece - begin, end - 1 - piece)) + 0.01 * static_cast<double>(end - begin);
        if (score > best) best = score, best_window = w;
      }
      windows[best_window].context[piece - spans_[best_window].begin].is_max_context = true;
    }
  }

  std::size_t first_piece_of(std::size_t word) const {
    const auto piece =
        std::partition_point(pieces_.begin(), pieces_.end(), [&](const ContextPiece& p) { return p.word < word; });
    return static_cast<std::size_t>(piece - pieces_.begin());
  }

  // Where the pieces around the answer are more than its text, such as "(1895-1943)." around "1895".
  PieceSpan narrowed(PieceSpan span) const {
    const std::vector<std::int32_t> wanted = tokenizer_.ids(question_.answers.at(0).text);
    for (std::size_t first = span.first; first <= span.last; ++first) {
      const bool fits = wanted.size() <= span.last - first + 1 && !wanted.empty();
      if (fits && std::equal(wanted.begin(), wanted.end(), ids_.begin() + static_cast<std::ptrdiff_t>(first))) {
        return {first, first + wanted.size() - 1};
      }
    }
    return span;
  }

  void label(std::vector<Window>& windows) const {
    if (question_.answers.empty()) fail("it has no answer to train on and is not said to be impossible");
    const PieceSpan words = words_around(question_, words_);
    const std::size_t first = first_piece_of(words.first), end = first_piece_of(words.last + 1);
    if (end <= first) return;  // words of which no piece is left
    const PieceSpan answer = narrowed({first, end - 1});
    for (std::size_t w = 0; w < windows.size(); ++w) {
      if (answer.first < spans_[w].begin || answer.last >= spans_[w].end) continue;
      windows[w].begin_label = windows[w].context_begin + answer.first - spans_[w].begin;
      windows[w].end_label = windows[w].context_begin + answer.last - spans_[w].begin;
    }
  }

  const Question& question_;
  const std::size_t number_;
  const Tokenizer& tokenizer_;
  const WindowOptions& options_;
  std::vector<std::int32_t> question_ids_, ids_;  // ids_: of the context
  ContextWords words_;
  std::vector<ContextPiece> pieces_;
  std::size_t capacity_ = 0;      // pieces of the context in a window
  std::vector<ByteRange> spans_;  // of windows, in pieces_
};

}  // namespace

ContextWords words_of_context(std::string_view context) {
  ContextWords words;
  bool in_word = false;
  for (std::size_t at = 0; at < context.size();) {
    const std::size_t space = space_bytes(context, at);
    if (space == 0) {
      if (!in_word) words.ranges.push_back({at, at});
      words.ranges.back().end = ++at;
    }
    in_word = space == 0;
    at += space;
  }
  return words;
}

std::string ContextWords::joined(std::string_view context, std::size_t first, std::size_t last) const {
  std::string text;
  for (std::size_t word = first; word <= last && word < ranges.size(); ++word) {
    if (word > first) text += ' ';
    text += context.substr(ranges[word].begin, ranges[word].end - ranges[word].begin);
  }
  return text;
}

std::vector<Window> windows_of(const Question& question, std::size_t number, const Tokenizer& tokenizer,
                               const WindowOptions& options, Labels labels) {
  return WindowMaker(question, number, tokenizer, options).make(labels);
}

bool is_answer_in_its_words(const Question& question) {
  if (question.is_impossible || question.answers.empty()) return question.is_impossible;
  const ContextWords words = words_of_context(question.context);
  const PieceSpan around = words_around(question, words);
  const std::string& answer = question.answers[0].text;
  const ContextWords of_answer = words_of_context(answer);
  return words.joined(question.context, around.first, around.last)
             .find(of_answer.joined(answer, 0, of_answer.ranges.size())) != std::string::npos;
}

}  // namespace bert
