// Models as Google and GluonNLP published them, into folders that Hugging Face loads.
#pragma once

#include <filesystem>
#include <string>

namespace bert {

struct Conversion {
  // NAME.index of TensorFlow's checkpoint, or NAME alone; NAME.params of GluonNLP; or a folder with one of either.
  std::filesystem::path from;
  std::filesystem::path config;      // empty: bert_config.json or config.json beside it
  std::filesystem::path vocabulary;  // vocab.txt, or GluonNLP's NAME.vocab; empty: the one beside it
  std::filesystem::path out;
  bool lower_case = true;  // what the tokenizer does
};

// Writes config.json, model.safetensors, vocab.txt and tokenizer_config.json into the folder `out`, which is there
// whole or not at all, with all weights that BERT has and those of its heads: masked words and next sentence, spans,
// classes. Gives the name of Hugging Face's class for it. Throws std::invalid_argument for a folder `out` with
// something in it and for files of other kinds, std::runtime_error for what is missing, damaged or does not fit
// together.
std::string convert_model(const Conversion& conversion);

}  // namespace bert
