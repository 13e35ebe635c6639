// `bert train-words`.
#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/setup.h"
#include "cli/word_task.h"

namespace bert {
namespace {

int train_words(const TrainOptions& options, const WordOptions& words) {
  Group group(launch_alone(options.ranks, "train-words"), at::kCPU);
  prepare(options);
  const at::Device device = choose_device(options.device);
  WordTask task(options, words, device);
  const TrainOutcome outcome = TrainLoop(options, task, device, group, words.evaluation_interval).run();
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
