// Any bytes as a text for BERT's tokenizer: pieces lie in the text, in order, and are those of append_ids().
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace bert;
  static const std::vector<std::string> kPieces = {"[PAD]",
                                                   "[UNK]",
                                                   "[CLS]",
                                                   "[SEP]",
                                                   "[MASK]",
                                                   "a",
                                                   "##a",
                                                   "the",
                                                   "##rest",
                                                   "!",
                                                   "\u4e00",
                                                   "##\u0441",
                                                   "a longer piece than sixteen bytes"};
  static const Tokenizer kLowering(Vocabulary(kPieces, "the fuzzer"), {});
  static const Tokenizer kKeeping(
      Vocabulary(kPieces, "the fuzzer"),
      {.folding = {.lower_case = false, .strip_accents = true, .split_chinese = false}, .max_word_characters = 5});
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  for (const Tokenizer* tokenizer : {&kLowering, &kKeeping}) {
    const std::vector<std::int32_t> ids = tokenizer->ids(text);
    const std::vector<Piece> pieces = tokenizer->pieces(text);
    if (ids.size() != pieces.size()) std::abort();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (pieces[i].id != ids[i] || pieces[i].begin >= pieces[i].end || pieces[i].end > bytes) std::abort();
    }
  }
  return 0;
}
