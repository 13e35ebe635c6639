// The command line of the example, and what it captures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "trainwarden/hook.h"
#include "trainwarden/status.h"

namespace tiny_bert {

struct Options {
  std::vector<std::filesystem::path> texts;  // empty: default_texts()
  std::filesystem::path vocabulary;          // empty: default_vocabulary()
  std::size_t vocabulary_size = 3000;
  std::int64_t length = 64;
  std::int64_t layers = 4;
  std::int64_t heads = 4;
  std::int64_t hidden = 128;
  std::int64_t batch_size = 16;
  std::int64_t steps = 1000;
  double learning_rate = 1e-3;
  std::int64_t evaluation_interval = 50;
  std::int64_t evaluation_items = 4;
  std::uint64_t seed = 1;
  int threads = 1;
  bool use_hook = true;
  std::filesystem::path run_dir;  // empty: the environment's, else runs/tiny_bert
};

// Exits after --help (0) and on wrong usage (2).
Options parse_options(int argc, char** argv);

// What TRAINWARDEN_TEXT names, else SQuAD in ../shared/data, else the README and the documents of this folder. Throws
// std::invalid_argument that says where to get texts.
std::vector<std::filesystem::path> default_texts();
// What TRAINWARDEN_VOCAB names, else BERT's in ../shared/data. Empty: there is none, and one is to be learnt.
std::filesystem::path default_vocabulary();

// At each evaluation the queries, keys, attention and tokens whole; of training the losses at every step, and the
// statistics of weights, biases and gradients at every 10th. The environment (TRAINWARDEN_CONFIG, TRAINWARDEN_RUN_DIR,
// ...) has its say, then the command line.
trainwarden::Result<trainwarden::HookOptions> hook_options(const Options& options);

}  // namespace tiny_bert
