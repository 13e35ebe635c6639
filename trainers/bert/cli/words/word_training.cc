// `bert train-words`.
#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/ranks.h"
#include "cli/words/word_task.h"

namespace bert {
namespace {

int train_words(const TrainOptions& options, const WordOptions& words) {
  ThisRank rank(options);
  WordTask task(options, words, rank);
  const TrainOutcome outcome = TrainLoop(options, task, rank, words.evaluation_interval).run();
  if (!rank.is_first()) return 0;
  task.save_model(options.out / "model");
  task.write_result(options.out / "result.json", outcome);
  std::printf("%s has the model, which Hugging Face's library loads, and result.json\n", options.out.c_str());
  return 0;
}

}  // namespace

void add_train_words(CLI::App& app, std::function<int()>& chosen) {
  const auto options = std::make_shared<TrainOptions>();
  const auto words = std::make_shared<WordOptions>();
  CLI::App& train = *app.add_subcommand("train-words", "Trains a model to say which words of texts were masked");
  add_word_training_options(train, *options, *words);
  train.callback([options, words, &chosen] { chosen = [options, words] { return train_words(*options, *words); }; });
}

}  // namespace bert
