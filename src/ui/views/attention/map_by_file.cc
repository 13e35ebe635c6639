// A map as the user's file has it.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "ui/views/attention/guess.h"
#include "ui/views/attention/mapping_file.h"
#include "ui/views/attention/tensor_words.h"

namespace trainwarden::views::attention {
namespace {

constexpr std::string_view kPlaceholder = "{layer}";

// The number that stands for {layer} in `name`; nothing when the name is another.
std::optional<std::string> layer_number(std::string_view pattern, std::string_view name) {
  const std::size_t at = pattern.find(kPlaceholder);
  const std::string_view before = pattern.substr(0, at);
  const std::string_view after = pattern.substr(at + kPlaceholder.size());
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after)) return {};
  std::string number(name.substr(before.size(), name.size() - before.size() - after.size()));
  if (number.find_first_not_of("0123456789") != std::string::npos) return {};
  return number;
}

std::string end_of_sentence(const std::string& hint) {
  return hint.empty() ? "." : hint;  // a hint ends with a question mark
}

class FileMap {
 public:
  FileMap(Trial& trial, const MappingFile& file) : trial_(trial), file_(file), checks_(trial) {}

  Result<AttentionMap> make() {
    TRAINWARDEN_ASSIGN_OR_RETURN(AttentionMap guessed, guess_map(trial_, file_.common));
    TRAINWARDEN_ASSIGN_OR_RETURN(names_, trial_.tensor_names());
    map_.source = MapSource::kFile;
    map_.candidates = std::move(guessed.candidates);
    map_.tokens = file_.tokens.empty() ? guessed.tokens : file_.tokens;
    map_.key_tokens = file_.key_tokens;
    for (const std::string* tokens : {&file_.tokens, &file_.key_tokens}) {
      if (!tokens->empty()) note_absent(*tokens);
    }
    if (!file_.names_layers()) {
      map_.layers = std::move(guessed.layers);
      if (!guessed.note.empty()) notes_.push_back(guessed.note);
    } else if (file_.layers.empty()) {
      TRAINWARDEN_RETURN_IF_ERROR(add_pattern());
    } else {
      for (std::size_t i = 0; i < file_.layers.size(); ++i) {
        TRAINWARDEN_RETURN_IF_ERROR(add_layer(file_.layers[i], file_.places[i]));
      }
    }
    if (map_.layers.empty() && notes_.empty()) notes_.push_back("No tensor of this run has a name as the file says.");
    map_.note = fmt::format("{}", fmt::join(notes_, " "));
    return std::move(map_);
  }

 private:
  Status add_pattern() {
    const LayerWish& common = file_.common;
    const std::string place = printable(file_.file.string());
    const std::string& pattern = common.attention.empty() ? common.query : common.attention;
    if (pattern.find(kPlaceholder) == std::string::npos) {
      LayerWish only = common;
      only.name = pattern;
      return add_layer(only, place);
    }
    // By the numbers, as the texts that they are in the names.
    std::map<std::string, LayerWish, bool (*)(std::string_view, std::string_view)> layers(natural_less);
    for (const auto& [field, of_common] :
         {std::pair(&LayerWish::attention, &common.attention), std::pair(&LayerWish::query, &common.query),
          std::pair(&LayerWish::key, &common.key)}) {
      if (of_common->empty()) continue;
      for (const std::string& name : names_) {
        const auto number = layer_number(*of_common, name);
        if (number) layers[*number].*field = name;
      }
    }
    for (auto& [number, found] : layers) {
      LayerWish wish = common;
      wish.name = fmt::format("layer {}", number);
      wish.attention = found.attention;
      const bool has_both = !found.query.empty() && !found.key.empty();
      wish.query = has_both ? found.query : "";
      wish.key = has_both ? found.key : "";
      if (!wish.attention.empty() || has_both) TRAINWARDEN_RETURN_IF_ERROR(add_layer(wish, place));
    }
    if (map_.layers.empty())
      notes_.push_back(fmt::format("No tensor that was kept whole is called \"{}\".", printable(pattern)));
    return {};
  }

  Status add_layer(LayerWish wish, const std::string& place) {
    const auto shapes = shapes_of(trial_, wish);
    if (!shapes.ok()) {
      for (const std::string* name : {&wish.attention, &wish.query, &wish.key}) {
        if (!name->empty()) note_absent(*name);
      }
      return {};
    }
    if (!wish.mask && !wish.attention.empty() && checks_.rows_of(wish.attention).causal) wish.mask = MaskKind::kCausal;
    auto completed = complete_layer(wish, *shapes, labelled_heads(trial_.labels()));
    if (!completed.ok()) return completed.status().with_context(fmt::format("{}: {}", place, printable(wish.name)));
    for (const std::string& assumption : completed->assumptions) {
      notes_.push_back(fmt::format("{}: {}.", printable(wish.name), assumption));
    }
    map_.layers.push_back(std::move(completed->layer));
    return {};
  }

  void note_absent(const std::string& name) {
    const auto info = trial_.tensor_info(name);
    if (info.ok() && info->values > 0) return;
    notes_.push_back(info.ok() ? fmt::format("\"{}\" was nowhere kept whole.", printable(name))
                               : fmt::format("There is no tensor \"{}\"{}", printable(name),
                                             end_of_sentence(did_you_mean(name, names_))));
  }

  Trial& trial_;
  const MappingFile& file_;
  ValueChecks checks_;
  std::vector<std::string> names_;
  std::vector<std::string> notes_;
  AttentionMap map_;
};

}  // namespace

Result<AttentionMap> map_by_file(Trial& trial, const MappingFile& file) {
  return FileMap(trial, file).make();
}

}  // namespace trainwarden::views::attention
