// `bert train-spans`.
#include <memory>

#include "cli/commands.h"
#include "cli/span_training.h"

namespace bert {

void add_train_spans(CLI::App& app, std::function<int()>& chosen) {
  const auto options = std::make_shared<TrainOptions>();
  const auto spans = std::make_shared<SpanOptions>();
  CLI::App& train = *app.add_subcommand("train-spans", "Fine-tunes a model to find answers in texts, as in SQuAD");
  add_span_training_options(train, *spans);
  add_train_options(train, *options);
  add_window_options(train, *spans);
  train.callback([options, spans, &chosen] { chosen = [options, spans] { return train_spans(*options, *spans); }; });
}

}  // namespace bert
