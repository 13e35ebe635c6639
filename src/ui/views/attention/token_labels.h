// The texts of the tokens of one batch item at one step.
//
// A tensor of strings names the tokens in one of these forms, B being the batch and T the tokens of the attention:
// - [B, T].
// - [T], when B is 1.
// - flat, with a tensor beside it that is called as it is with "_offsets" (B or B + 1 numbers: where each item begins)
//   or "_lengths" (B numbers: how many tokens each item has) at the end; "." and "/" may stand for "_". An item may
//   have fewer tokens than T: the rest is padding, and its labels are empty.
// - [B·T]: then no item can have fewer than T, so item i begins at i·T.
// Anything else is not labelled: wrong words are worse than none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainwarden/trial.h"

namespace trainwarden::views::attention {

struct TokenLabels {
  std::vector<std::string> texts;  // as many as tokens, or none. Bytes of the run: hostile until made printable
  std::string note;                // why there are none, or what to know of them
};

// Of exactly this global step: tokens of another one are never used.
TokenLabels read_labels(Trial& trial, const std::string& tokens, std::int64_t step, std::int64_t item,
                        std::int64_t items, std::int64_t length);

// "[CLS]", "[SEP]", "<s>", "</s>", "<|endoftext|>" and such: tokens that no text has.
bool is_separator(std::string_view token);
// "[PAD]", "<pad>", "".
bool is_padding(std::string_view token);

}  // namespace trainwarden::views::attention
