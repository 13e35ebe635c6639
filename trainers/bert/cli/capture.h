// What Trainwarden captures of a training of BERT, and under which names.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "cli/train_state.h"
#include "model/model.h"
#include "parallel/reducer.h"
#include "text/vocabulary.h"
#include "trainwarden/hook.h"

namespace bert {

// Names are GluonNLP's, as those of the notebook that looks at BERT's attention with SageMaker Debugger:
//   bertencoder0_transformer0_multiheadattentioncell0_query_output_0   [B, T, H·d], and key_output_0
//   bertencoder0_transformer0_multiheadattentioncell0_output_1         [B, H, T, T], after its softmax
//   input_tokens                                                       strings [B, T]
// At each evaluation, whole. Losses and numbers at every step; weights, biases and gradients as statistics at every
// 10th. The environment (TRAINWARDEN_CONFIG, TRAINWARDEN_RUN_DIR, ...) has its say, then the command line. Throws
// std::invalid_argument where that contradicts itself. Without a folder to write to the training goes on unseen.
// Each rank is a worker of one run.
std::unique_ptr<trainwarden::Hook> open_hook(const TrainOptions& options, const ModelConfig& config,
                                             const Progress& progress, const Group& group);

// Is what attention does wanted at the current step?
bool wants_attention(trainwarden::Hook& hook);
// Of the current step. `ids`: int64 [B, T], on any device.
void save_attention(trainwarden::Hook& hook, const std::vector<AttentionSeen>& layers);
void save_tokens(trainwarden::Hook& hook, const at::Tensor& ids, const Vocabulary& vocabulary);

// A signal of the current step (docs/format/signals.md), such as "trainwarden/learning_rate/0".
void save_signal(trainwarden::Hook& hook, std::string_view name, double value);
void save_text(trainwarden::Hook& hook, std::string_view name, std::string_view text);
// trainwarden/gradient_sync/buckets: how gradients travelled in the current step.
void save_buckets(trainwarden::Hook& hook, const std::vector<BucketTimes>& buckets, std::int64_t backward_ended_ns);

}  // namespace bert
