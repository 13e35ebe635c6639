// `bert train-classes`.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/classes/class_task.h"
#include "cli/commands.h"
#include "cli/ranks.h"

namespace bert {
namespace {

int train_classes(TrainOptions options, ClassOptions classes) {
  ThisRank rank(options);
  settle(options, classes, rank.device());
  std::filesystem::create_directories(options.out);
  ClassTask task(options, classes, rank);
  const TrainOutcome outcome = TrainLoop(options, task, rank, classes.steps_in_epoch).run();
  task.finish();
  if (!rank.is_first()) return 0;
  task.save_model(classes.model_out);
  task.write_result(options.out / "result.json", outcome);
  std::printf("%s has the model, which Hugging Face's library loads; figures are in %s\n", classes.model_out.c_str(),
              (options.out / "result.json").c_str());
  return 0;
}

}  // namespace

void add_train_classes(CLI::App& app, std::function<int()>& chosen) {
  const auto options = std::make_shared<TrainOptions>();
  const auto classes = std::make_shared<ClassOptions>();
  CLI::App& train = *app.add_subcommand("train-classes", "Fine-tunes a model to tell which class a text is of");
  add_class_training_options(train, *options, *classes);
  train.callback(
      [options, classes, &chosen] { chosen = [options, classes] { return train_classes(*options, *classes); }; });
}

}  // namespace bert
