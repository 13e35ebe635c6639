// Names of tensors.
#include "weights/names.h"

#include <array>
#include <string_view>
#include <utility>

namespace bert {
namespace {

struct Pair {
  std::string_view ours;
  std::string_view distilled;
};

constexpr std::string_view kOurLayer = "bert.encoder.layer.";
constexpr std::string_view kDistilledLayer = "distilbert.transformer.layer.";

// What follows the number of a layer.
constexpr std::array<Pair, 8> kOfLayer = {{{".attention.self.query.", ".attention.q_lin."},
                                           {".attention.self.key.", ".attention.k_lin."},
                                           {".attention.self.value.", ".attention.v_lin."},
                                           {".attention.output.dense.", ".attention.out_lin."},
                                           {".attention.output.LayerNorm.", ".sa_layer_norm."},
                                           {".intermediate.dense.", ".ffn.lin1."},
                                           {".output.dense.", ".ffn.lin2."},
                                           {".output.LayerNorm.", ".output_layer_norm."}}};

// What names begin with outside of layers. The bias of the predictions is the projector's.
constexpr std::array<Pair, 4> kOutside = {{{"cls.predictions.transform.dense.", "vocab_transform."},
                                           {"cls.predictions.transform.LayerNorm.", "vocab_layer_norm."},
                                           {"cls.predictions.bias", "vocab_projector.bias"},
                                           {"bert.embeddings.", "distilbert.embeddings."}}};

// Replaces `from` at the start of `name`.
bool replace_start(std::string& name, std::string_view from, std::string_view to) {
  if (!name.starts_with(from)) return false;
  name.replace(0, from.size(), to);
  return true;
}

void replace_end(std::string& name, std::string_view from, std::string_view to) {
  if (name.ends_with(from)) name.replace(name.size() - from.size(), from.size(), to);
}

// "bert.encoder.layer.12" and ".output.dense.weight" of a name that starts with `start`; nothing of another.
std::pair<std::string, std::string> split_at_number(const std::string& name, std::string_view start) {
  if (!name.starts_with(start)) return {};
  const std::size_t end = name.find('.', start.size());
  if (end == std::string::npos) return {};
  return {name.substr(start.size(), end - start.size()), name.substr(end)};
}

std::string translated(std::string name, std::string_view Pair::*from, std::string_view Pair::*to,
                       std::string_view from_layer, std::string_view to_layer) {
  auto [number, rest] = split_at_number(name, from_layer);
  if (!number.empty()) {
    for (const Pair& pair : kOfLayer) {
      if (replace_start(rest, pair.*from, pair.*to)) return std::string(to_layer) + number + rest;
    }
  }
  for (const Pair& pair : kOutside) {
    if (replace_start(name, pair.*from, pair.*to)) return name;
  }
  return name;
}

}  // namespace

std::optional<std::string> our_name(ModelType type, const std::string& name) {
  std::string ours = name;
  replace_end(ours, ".gamma", ".weight");
  replace_end(ours, ".beta", ".bias");
  const bool distilled = type == ModelType::kDistilBert;
  for (const std::string_view start : {"embeddings.", "encoder.", "pooler.", "transformer."}) {
    if (ours.starts_with(start)) ours.insert(0, distilled ? "distilbert." : "bert.");
  }
  if (ours.ends_with(".position_ids") || ours.ends_with(".token_type_ids")) return std::nullopt;
  if (ours.starts_with("cls.predictions.decoder.") || ours == "vocab_projector.weight") return std::nullopt;
  if (!distilled) return ours;
  return translated(ours, &Pair::distilled, &Pair::ours, kDistilledLayer, kOurLayer);
}

std::string file_name(ModelType type, const std::string& name) {
  if (type == ModelType::kBert) return name;
  return translated(name, &Pair::ours, &Pair::distilled, kOurLayer, kDistilledLayer);
}

bool is_of_head(const std::string& name) {
  return !name.starts_with("bert.") || name.starts_with("bert.pooler.");
}

}  // namespace bert
