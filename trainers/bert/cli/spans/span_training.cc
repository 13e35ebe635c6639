// `bert train-spans`.
#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/ranks.h"
#include "cli/spans/span_task.h"
#include "cli/train_loop.h"

namespace bert {
namespace {

constexpr std::int64_t kStepsBetweenLooks = 50;  // at a target, where nothing else is said

std::int64_t evaluation_interval(const SpanOptions& spans) {
  const bool has_own = spans.evaluation_interval > 0 || spans.f1_threshold == 0;
  return has_own ? spans.evaluation_interval : kStepsBetweenLooks;
}

int train_spans(const TrainOptions& options, const SpanOptions& spans) {
  ThisRank rank(options);
  SpanTask task(options, spans, rank);
  TrainLoop loop(options, task, rank, evaluation_interval(spans));
  task.judge().plan_looks(loop.evaluation_count());
  const TrainOutcome outcome = loop.run();
  if (!rank.is_first()) return 0;
  task.save_model(options.out / "model");
  task.write_result(options.out / "result.json", outcome);
  if (const std::string figures = task.judge().both_figures(); !figures.empty()) std::printf("%s\n", figures.c_str());
  std::printf("%s has the model, which Hugging Face's library loads, and result.json\n", options.out.c_str());
  return 0;
}

}  // namespace

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
