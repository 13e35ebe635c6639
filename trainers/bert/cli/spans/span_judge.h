// How good a model is that finds answers: by a sample of the questions while it trains, by all of them at its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/spans/span_evaluation.h"
#include "cli/spans/span_options.h"
#include "cli/spans/target.h"
#include "text/tokenizer.h"
#include "trainwarden/hook.h"

namespace bert {

// Not thread-safe.
class SpanJudge {
 public:
  // Reads the questions that `options` name. `tokenizer` and the group, whose ranks share the work, must live as long.
  // Throws std::runtime_error.
  SpanJudge(const SpanOptions& options, const Tokenizer& tokenizer, std::uint64_t seed, Group& group);
  // It refers to itself.
  SpanJudge(const SpanJudge&) = delete;
  SpanJudge& operator=(const SpanJudge&) = delete;

  // How often look() will be called in the whole training, also in processes before this one.
  void plan_looks(std::int64_t looks) { target_.looks = looks; }

  // Each judges the model, captures the figures in the hook's current step, and gives them in words for a line of
  // output. Where there is no sample both are of all questions, and the last of them counts.
  std::string look(BertForSpans& model, trainwarden::Hook& hook);
  std::string look_at_all(BertForSpans& model, trainwarden::Hook& hook);

  // Of the newest look: why it is good enough to stop; empty: it is not, or no target was given.
  std::string reason_to_stop() const;

  // What was found on the sample and what on all questions, and what follows for the target; empty without a sample.
  std::string both_figures() const;
  // Adds what result.json says of it. `has_first`: the first look was before the training.
  void add_to(nlohmann::ordered_json& result, bool has_first) const;

  // The windows whose attention is captured: the same at each look.
  std::vector<const Window*> looked_at() const;
  std::int64_t question_count() const { return static_cast<std::int64_t>(questions_.size()); }

 private:
  bool has_sample() const { return !split_.rest.empty(); }
  double f1_of_rest() const;

  const SpanOptions options_;
  const Tokenizer& tokenizer_;
  Group& group_;
  const std::vector<Question> questions_;
  const Split split_;
  const std::vector<Question> sample_;  // empty: all are looked at
  SpanEvaluation evaluation_;           // of the sample, where there is one
  Target target_;
  std::optional<SpanResult> first_, last_, at_end_;
  std::optional<Look> look_;  // the newest, where there is a target
};

}  // namespace bert
