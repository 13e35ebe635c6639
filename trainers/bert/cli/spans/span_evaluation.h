// Answers of a model to questions, and how right they are.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cli/spans/span_data.h"
#include "cli/spans/span_options.h"
#include "model/heads.h"
#include "parallel/group.h"
#include "squad/answers.h"
#include "squad/records.h"
#include "text/tokenizer.h"

namespace bert {

struct SpanResult {
  double f1 = 0, exact_match = 0;       // of 100, as the official scripts of v1.1 or v2.0
  std::vector<double> f1_of_question;   // 0 to 100, by number
  std::vector<Prediction> predictions;  // by number
  double seconds = 0;                   // of the model alone
  std::int64_t windows = 0;
};

// Questions cut into windows once, to be answered again and again. Not thread-safe.
class SpanEvaluation {
 public:
  // `questions` and `group` must live as long. With a group its ranks share the windows, and all get the result.
  SpanEvaluation(const std::vector<Question>& questions, const Tokenizer& tokenizer, const SpanOptions& options,
                 Group* group = nullptr);

  // Without dropout and gradients; leaves the model in the mode that it was in. `told`: after each batch, with the
  // windows that are done. Throws PeerLost.
  SpanResult run(BertForSpans& model, const std::function<void(std::int64_t)>& told = {});

  // The first so many windows, one for each question, in their order.
  std::vector<const Window*> first_windows(std::int64_t count) const;
  std::int64_t window_count() const { return static_cast<std::int64_t>(windows_.size()); }
  std::int64_t question_count() const { return static_cast<std::int64_t>(questions_.size()); }

 private:
  void predict(BertForSpans& model, const std::function<void(std::int64_t)>& told);
  void gather();
  std::vector<Prediction> answers() const;
  void score(SpanResult& result) const;

  const std::vector<Question>& questions_;
  const Tokenizer& tokenizer_;
  const SpanOptions options_;
  Group* const group_;
  std::vector<Window> windows_;
  std::vector<const Window*> by_length_;
  std::vector<std::vector<float>> begin_logits_, end_logits_;  // of each window
  bool has_impossible_ = false;                                // so that it is scored as v2.0
};

}  // namespace bert
