// attention.toml: what a user says about the attention of a run (docs/reference/attention.md).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/trial.h"
#include "ui/views/attention/attention_map.h"
#include "ui/views/attention/layer_shapes.h"

namespace trainwarden::views::attention {

inline constexpr const char* kMappingFile = "attention.toml";

struct MappingFile {
  std::filesystem::path file;
  // For all layers. Names may have {layer} in them, which stands for a number.
  LayerWish common;
  std::vector<LayerWish> layers;    // [[layer]]: complete with what is common, in the file's order
  std::vector<std::string> places;  // of each layer, for messages: "attention.toml, line 7"
  std::string tokens;
  std::string key_tokens;

  bool names_layers() const { return !layers.empty() || !common.attention.empty() || !common.query.empty(); }
};

// kInvalidArgument with the file's line, what was expected and what was found.
Result<MappingFile> parse_mapping(std::string_view text, const std::filesystem::path& file);
// The same, and kNotFound.
Result<MappingFile> read_mapping_file(const std::filesystem::path& file);

// The map as the file has it; what it leaves open is found out as in the guess, and when it names no layers, they are
// guessed. Tensors that are not there (yet) are no error: the note says which. kInvalidArgument when the file
// contradicts the shapes.
Result<AttentionMap> map_by_file(Trial& trial, const MappingFile& file);

}  // namespace trainwarden::views::attention
