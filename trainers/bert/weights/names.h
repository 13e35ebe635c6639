// Names of tensors: ours are Hugging Face's for BERT ("bert.encoder.layer.0.attention.self.query.weight"); files have
// those, or DistilBERT's, or older ones.
#pragma once

#include <optional>
#include <string>

#include "weights/config.h"

namespace bert {

// Our name of a tensor that a file calls `name`: with or without the prefix of the encoder, "gamma" and "beta" of layer
// norms, DistilBERT's names. None for what is no weight of its own: buffers of positions, and the decoder's weight and
// bias, which are those of the embeddings and of the predictions.
std::optional<std::string> our_name(ModelType type, const std::string& name);

// The name that Hugging Face's model of this type has for a parameter of ours.
std::string file_name(ModelType type, const std::string& name);

// Whether a parameter belongs to a head, or to the pooler, which are trained anew when a file lacks them.
bool is_of_head(const std::string& name);

}  // namespace bert
