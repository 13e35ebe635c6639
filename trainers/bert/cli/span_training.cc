#include "cli/span_training.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>

#include <torch/utils.h>

#include "cli/capture.h"
#include "cli/results.h"
#include "cli/setup.h"
#include "cli/span_data.h"
#include "cli/span_evaluation.h"
#include "training/autocast.h"
#include "training/batch_order.h"
#include "training/checkpoint.h"
#include "training/determinism.h"
#include "training/gradients.h"
#include "training/lamb.h"
#include "training/loss_scaler.h"
#include "training/schedule.h"
#include "trainwarden/torch.h"
#include "weights/exporting.h"

namespace bert {
namespace {

namespace fs = std::filesystem;
using trainwarden::Mode;

constexpr std::int64_t kStepsBetweenLines = 20;

// What is trained on.
struct TrainSet {
  std::vector<Question> questions;
  std::vector<Window> windows;
  std::size_t left_out = 0;  // questions whose answer is not at its place
};

TrainSet read_train_set(const TrainOptions& options, const SpanOptions& spans, const Tokenizer& tokenizer) {
  TrainSet set;
  for (const fs::path& file : spans.train) {
    std::vector<Question> read = read_questions(file).all;
    set.questions.insert(set.questions.end(), std::make_move_iterator(read.begin()),
                         std::make_move_iterator(read.end()));
  }
  set.questions = draw_questions(std::move(set.questions), spans.train_size, options.seed);
  for (std::size_t i = 0; i < set.questions.size(); ++i) {
    if (!is_answer_in_its_words(set.questions[i])) {
      ++set.left_out;
      continue;
    }
    for (Window& window : windows_of(set.questions[i], i, tokenizer, window_options(spans), Labels::kFirstAnswer)) {
      set.windows.push_back(std::move(window));
    }
  }
  return set;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// A training with all that changes while it goes on.
class SpanTraining {
 public:
  SpanTraining(const TrainOptions& options, const SpanOptions& spans)
      : options_(options),
        spans_(spans),
        device_(choose_device(options.device)),
        precision_(precision_from_name(options.precision)),
        config_(read_config(options.model)),
        tokenizer_(load_tokenizer()),
        train_(read_train_set(options, spans, tokenizer_)),
        dev_(draw_questions(read_questions(spans.dev).all, spans.dev_size, options.seed)),
        evaluation_(dev_, tokenizer_, spans),
        order_(order_options()),
        model_(load_model()),
        optimizer_(make_optimizer(options, named_parameters(*model_))) {
    check_precision(device_, precision_);
    progress_.total_steps = options.max_steps > 0 ? options.max_steps : options.epochs * steps_in_epoch();
    schedule_ = {.peak = options.learning_rate,
                 .warmup_steps = warmup_steps(options.warmup, progress_.total_steps),
                 .total_steps = progress_.total_steps,
                 .decay = decay_from_name(options.decay)};
    schedule_.check();
    resume();
    hook_ = open_hook(options_, config_, progress_);
    watcher_.emplace(trainwarden::torch::watch(*hook_, *model_, {.prefix = {}, .activations = false}));
  }

  void run() {
    tell_what_is_trained();
    if (progress_.steps == 0) result_.before = evaluate();
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t first = progress_.steps;
    while (progress_.steps < progress_.total_steps && !stop_reason_) {
      step();
      if (is_time_for_checkpoint()) keep_checkpoint();
      if (is_time_for_evaluation() && progress_.steps < progress_.total_steps && !stop_reason_) evaluate();
    }
    result_.train_seconds = seconds_since(begin);
    result_.steps = progress_.steps;
    result_.windows = (progress_.steps - first) * options_.batch_size * options_.accumulate;
    result_.stop_reason = stop_reason_.value_or("");
    for (const fs::path& file : spans_.train) result_.train_files.push_back(file.filename().string());
    result_.dev_file = spans_.dev.filename().string();
    result_.train_questions = train_.questions.size(), result_.dev_questions = dev_.size();
    result_.after = evaluate();
    finish();
  }

 private:
  Tokenizer load_tokenizer() const {
    Tokenizer tokenizer = Tokenizer::load(options_.model, {});
    check_fits(config_, tokenizer.vocabulary(), spans_.max_length, options_.model.string());
    return tokenizer;
  }

  BatchOrderOptions order_options() const {
    return {.examples = static_cast<std::int64_t>(train_.windows.size()),
            .batch = options_.batch_size,
            .seed = options_.seed};
  }

  std::int64_t steps_in_epoch() const {
    return (order_.steps_in_epoch() + options_.accumulate - 1) / options_.accumulate;
  }

  BertForSpans load_model() {
    seed_all(options_.seed);
    BertForSpans model(config_);
    const LoadReport report =
        load_weights(*model, config_, read_model_tensors(options_.model), options_.model.string());
    for (const std::string& name : report.fresh) std::printf("new weights: %s\n", name.c_str());
    model->to(device_);
    return model;
  }

  void tell_what_is_trained() const {
    if (train_.left_out > 0)
      std::printf("%zu questions are left out: their answers are not at their places\n", train_.left_out);
    std::printf("%zu questions in %zu windows to train on, %zu of %s to evaluate, %ld steps of %ld on %s\n",
                train_.questions.size(), train_.windows.size(), dev_.size(), spans_.dev.filename().c_str(),
                progress_.total_steps, options_.batch_size * options_.accumulate, device_.str().c_str());
  }

  // Gradients of all batches of a step, summed; the mean of their losses.
  at::Tensor forward_and_backward() {
    at::Tensor sum;
    for (std::int64_t part = 0; part < options_.accumulate; ++part) {
      const Batch chosen = order_.batch(progress_.steps * options_.accumulate + part);
      std::vector<const Window*> windows;
      for (const std::int64_t i : chosen.examples) windows.push_back(&train_.windows[static_cast<std::size_t>(i)]);
      windows.resize(static_cast<std::size_t>(chosen.real));
      const SpanBatch batch = make_batch(windows, tokenizer_.vocabulary().padding(), device_);
      at::Tensor loss;
      {
        const AutocastScope autocast(device_.type(), precision_);
        loss = span_loss(model_->forward(batch.inputs, {.skip_padding = options_.skip_padding}), batch, chosen.real,
                         static_cast<double>(chosen.real * options_.accumulate));
      }
      (scaler_ ? scaler_->scaled(loss) : loss).backward();
      sum = sum.defined() ? sum + loss.detach() : loss.detach();
    }
    return sum;
  }

  void step() {
    optimizer_->zero_grad();
    const at::Tensor loss = watcher_->loss("SpanLoss", forward_and_backward());
    const double unscale = scaler_ ? scaler_->factor() : 1.0;
    const Clipping clip = clipping(gradient_norm(named_parameters(*model_)) * unscale, options_.max_gradient_norm);
    const double rate = schedule_.learning_rate(progress_.steps);
    if (clip.finite || !scaler_) optimizer_->step(rate, clip.factor * unscale);
    if (scaler_) scaler_->update(clip.finite);
    save_signal(*hook_, "trainwarden/learning_rate/0", rate);
    save_signal(*hook_, "trainwarden/clip/norm", clip.norm);
    save_trust();
    const trainwarden::StepEnd end = watcher_->end_step();
    tell_step(loss, rate);
    ++progress_.steps;
    if (end.stop_requested) stop_reason_ = std::string(end.stop_reason);
  }

  void save_trust() {
    const auto* lamb = dynamic_cast<const Lamb*>(optimizer_.get());
    if (lamb == nullptr || !hook_->wants("trust/ratio")) return;
    for (const LayerTrust& layer : lamb->trust()) hook_->save_scalar("trust/" + layer.name, layer.ratio);
  }

  void tell_step(const at::Tensor& loss, double rate) {
    if (progress_.steps % kStepsBetweenLines != 0 && progress_.steps + 1 != progress_.total_steps) return;
    std::printf("step %6ld of %ld  loss %.4f  learning rate %.3g\n", progress_.steps, progress_.total_steps,
                loss.item<double>(), rate);
  }

  bool is_time_for_evaluation() const {
    const std::int64_t interval = spans_.evaluation_interval > 0 ? spans_.evaluation_interval : steps_in_epoch();
    return progress_.steps % interval == 0;
  }

  bool is_time_for_checkpoint() const {
    return options_.checkpoint_interval > 0 && progress_.steps % options_.checkpoint_interval == 0;
  }

  // A step of mode eval.
  SpanResult evaluate() {
    watcher_->set_mode(Mode::kEval);
    look_at_attention();
    SpanResult result = evaluation_.run(model_);
    hook_->save_scalar("f1", result.f1);
    hook_->save_scalar("exact_match", result.exact_match);
    save_f1_per_item(result);
    watcher_->end_step();
    watcher_->set_mode(Mode::kTrain);
    ++progress_.evaluations;
    std::printf("after step %6ld  f1 %.2f  exact match %.2f  (%ld questions, %.1f windows/s)\n", progress_.steps,
                result.f1, result.exact_match, evaluation_.question_count(),
                static_cast<double>(result.windows) / result.seconds);
    return result;
  }

  void save_f1_per_item(const SpanResult& result) {
    const auto count = static_cast<std::int64_t>(result.f1_of_question.size());
    hook_->save_tensor("f1_per_item",
                       trainwarden::TensorView::of(result.f1_of_question.data(), trainwarden::DType::kFloat64,
                                                   trainwarden::Shape({count})));
  }

  // The same few windows each time, so that what changes is the model.
  void look_at_attention() {
    if (spans_.looked_at == 0 || !wants_attention(*hook_)) return;
    const at::NoGradGuard no_grad;
    const std::vector<const Window*> windows = evaluation_.first_windows(spans_.looked_at);
    const SpanBatch batch = make_batch(windows, tokenizer_.vocabulary().padding(), device_);
    Seen seen;
    model_->eval();
    model_->forward(batch.inputs, {.seen = &seen});
    model_->train();
    save_tokens(*hook_, batch.inputs.ids, tokenizer_.vocabulary());
    save_attention(*hook_, seen.attention);
  }

  fs::path checkpoint_folder() const { return checkpoint_folder_of_job().value_or(options_.out / "checkpoints"); }

  void keep_checkpoint() {
    Checkpoint checkpoint;
    checkpoint.step = progress_.steps;
    checkpoint.sections["model"] = named_parameters(*model_);
    checkpoint.sections["optimizer"] = optimizer_->state();
    checkpoint.sections["random"] = random_state();
    if (scaler_) checkpoint.sections["scaler"] = scaler_->state();
    checkpoint.counters["evaluations"] = progress_.evaluations;
    checkpoint.texts["options"] = describe(options_, spans_);
    save_checkpoint(checkpoint, checkpoint_folder());
  }

  void resume() {
    if (precision_ == at::kHalf) scaler_.emplace();
    const FoundCheckpoint found = find_newest_checkpoint(checkpoint_folder());
    for (const auto& [path, reason] : found.refused)
      std::fprintf(stderr, "%s is not used: %s\n", path.c_str(), reason.c_str());
    if (!found.checkpoint) return;
    const Checkpoint& checkpoint = *found.checkpoint;
    check_same_training(checkpoint, describe(options_, spans_), found.path);
    copy_by_name(checkpoint.section("model"), named_parameters(*model_), found.path.string());
    optimizer_->load_state(checkpoint.section("optimizer"));
    load_random_state(checkpoint.section("random"));
    if (scaler_) scaler_->load_state(checkpoint.section("scaler"));
    progress_.steps = checkpoint.step;
    progress_.evaluations = checkpoint.counters.at("evaluations");
    std::printf("going on after step %ld, from %s\n", progress_.steps, found.path.c_str());
  }

  void finish() {
    if (stop_reason_) std::printf("stopped after step %ld: %s\n", progress_.steps, stop_reason_->c_str());
    export_model(options_.out / "model", *model_, config_,
                 {.head = Head::kSpan, .vocabulary = options_.model / "vocab.txt"});
    write_result(options_.out / "result.json", result_);
    std::printf("%s has the model, which Hugging Face's library loads, and result.json\n", options_.out.c_str());
  }

  const TrainOptions options_;
  const SpanOptions spans_;
  const at::Device device_;
  const at::ScalarType precision_;
  const ModelConfig config_;
  const Tokenizer tokenizer_;
  const TrainSet train_;
  const std::vector<Question> dev_;
  SpanEvaluation evaluation_;
  BatchOrder order_;
  BertForSpans model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<LossScaler> scaler_;
  Schedule schedule_;
  Progress progress_;
  std::optional<std::string> stop_reason_;
  SpanTrainingResult result_;
  std::unique_ptr<trainwarden::Hook> hook_;
  std::optional<trainwarden::torch::Watcher> watcher_;
};

}  // namespace

int train_spans(const TrainOptions& options, const SpanOptions& spans) {
  prepare(options);
  SpanTraining(options, spans).run();
  return kDone;
}

}  // namespace bert
