#include "ui/views/attention/guess.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "ui/views/attention/tensor_words.h"

namespace trainwarden::views::attention {
namespace {

// How many sentences a note has at most.
constexpr std::size_t kMostSentences = 4;

struct Seen {
  TensorInfo info;
  NamedRole named;
  std::string reason{};
  RowCheck rows{};  // of attention
  int score = 0;    // of attention: how far its name says that these are weights
};

bool names_tokens(const std::vector<Word>& words) {
  return std::any_of(words.begin(), words.end(), [](const Word& word) {
    return word.text.find("token") != std::string::npos || word.text == "words" || word.text == "text" ||
           word.text == "wordpieces";
  });
}

int weights_score(std::string_view name) {
  int score = 0;
  for (const Word& word : words_of(name)) {
    if (word.text == "weights" || word.text == "probs" || word.text == "prob" || word.text == "softmax") score += 2;
    if (word.text.find("attention") != std::string::npos || word.text.find("attn") != std::string::npos) score += 1;
    if (word.text == "dropout" || word.text == "scores" || word.text == "logits") score -= 2;
  }
  return score;
}

bool is_middle_of_number(std::string_view text, std::size_t at) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return at > 0 && at < text.size() && is_digit(text[at - 1]) && is_digit(text[at]);
}

bool has_digit(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos;
}

// How much of its beginning an attention's name shares with a site; 0 when it is another layer's.
std::size_t affinity(std::string_view attention, std::string_view site) {
  std::size_t shared = common_prefix(attention, site);
  while (shared > 0 && (is_middle_of_number(attention, shared) || is_middle_of_number(site, shared))) --shared;
  if (has_digit(site.substr(shared))) return 0;
  return site.empty() ? 1 : shared;
}

class Guess {
 public:
  Guess(Trial& trial, const LayerWish& known) : trial_(trial), known_(known) {}

  Result<AttentionMap> make() {
    TRAINWARDEN_ASSIGN_OR_RETURN(names_, trial_.tensor_names());
    look_at_names();
    if (attention_.empty() && queries_.empty()) look_at_others();
    check_values();
    make_layers();
    choose_tokens();
    map_.source = map_.layers.empty() ? MapSource::kNone : MapSource::kGuessed;
    write_note();
    return std::move(map_);
  }

 private:
  void look_at_names() {
    for (const std::string& name : names_) {
      const NamedRole named = role_of_name(name);
      const bool may_be_tokens = names_tokens(words_of(name));
      if (named.role == Role::kNone && !may_be_tokens) continue;
      const auto info = trial_.tensor_info(name);
      if (!info.ok() || !info->has_shape || info->values == 0) continue;
      take({*info, named});
    }
  }

  // No name says anything: one tensor of each set of names, by its shape.
  void look_at_others() {
    std::map<std::string, std::vector<const std::string*>> sets;
    for (const std::string& name : names_) sets[skeleton_of(name)].push_back(&name);
    for (const auto& [skeleton, members] : sets) {
      const auto first = trial_.tensor_info(*members.front());
      if (!first.ok() || !may_be_unnamed(*first)) continue;
      for (const std::string* name : members) {
        const auto info = trial_.tensor_info(*name);
        if (info.ok() && may_be_unnamed(*info)) take({*info, {Role::kAttention, *name, {}}});
      }
    }
  }

  static bool may_be_unnamed(const TensorInfo& info) {
    if (!info.has_shape || info.values == 0) return false;
    if (info.dtype == DType::kString) return info.shape.rank() == 1 || info.shape.rank() == 2;
    return is_floating_point(info.dtype) && info.shape.rank() == 4 && info.shape[2] == info.shape[3] &&
           info.shape[3] > 1;
  }

  void take(Seen seen) {
    const Shape& shape = seen.info.shape;
    const std::string& name = seen.info.name;
    if (seen.info.dtype == DType::kString) {
      if (shape.rank() == 1 || shape.rank() == 2) take_tokens(name, shape);
      return;
    }
    if (!is_floating_point(seen.info.dtype) || shape.element_count() == 0) return;
    const bool has_heads = shape.rank() == 4;
    if (!has_heads && shape.rank() != 3) return;
    switch (seen.named.role) {
      case Role::kQuery:
      case Role::kKey:
        seen.reason = fmt::format("\"{}\" in its name, shape {}", seen.named.word, shape.to_string());
        (seen.named.role == Role::kQuery ? queries_ : keys_).push_back(std::move(seen));
        break;
      case Role::kFused: fused_.push_back(name); break;
      case Role::kAttention:
        // [B, T, D] is what came out of an attention, unless its last dimensions could be tokens by tokens.
        if (!has_heads && shape[1] != shape[2]) return;
        seen.score = weights_score(name);
        attention_.push_back(std::move(seen));
        break;
      case Role::kNone: break;
    }
  }

  void take_tokens(const std::string& name, const Shape& shape) {
    const bool named = names_tokens(words_of(name));
    Candidate candidate{
        name, fmt::format("strings of shape {}{}", shape.to_string(), named ? ", its name speaks of tokens" : "")};
    auto& tokens = map_.candidates.tokens;
    tokens.insert(named ? tokens.begin() : tokens.end(), std::move(candidate));
  }

  // What does not consist of distributions is no attention.
  void check_values() {
    ValueChecks checks(trial_);
    std::vector<Seen> weights;
    for (Seen& seen : attention_) {
      seen.rows = checks.rows_of(seen.info.name);
      if (accept(seen)) weights.push_back(std::move(seen));
    }
    attention_ = std::move(weights);
  }

  bool accept(Seen& seen) {
    const RowCheck& rows = seen.rows;
    const bool is_named = !seen.named.word.empty();
    if (rows.sums_to_one()) {
      seen.reason = fmt::format("shape {}, rows sum to one{}{}", seen.info.shape.to_string(),
                                rows.causal ? ", nothing above the diagonal" : "",
                                is_named ? fmt::format(", \"{}\" in its name", seen.named.word) : "");
      return true;
    }
    if (!is_named || rows.rows == 0) return false;
    if (rows.looks_like_dropout() && seen.info.shape.rank() == 4) {
      seen.reason = fmt::format("shape {}, rows sum to {:.3g} in the mean, as after a dropout",
                                seen.info.shape.to_string(), rows.mean_sum);
      seen.score -= 1;
      return true;
    }
    const std::string why = rows.negative
                                ? "has negative numbers: scores before their softmax, or no attention"
                                : fmt::format("its rows sum to {:.3g} in the mean, not to one", rows.mean_sum);
    map_.candidates.attention.push_back({seen.info.name, fmt::format("not taken: {}", why)});
    return false;
  }

  struct Site {
    const Seen* query = nullptr;
    const Seen* key = nullptr;
    const Seen* attention = nullptr;
    std::size_t affinity = 0;  // of the attention
  };

  void make_layers() {
    std::map<std::string, Site> sites;
    const auto first_of = [](const Seen*& slot, const Seen& seen) {
      if (slot == nullptr) slot = &seen;
    };
    for (const Seen& seen : queries_) first_of(sites[seen.named.site].query, seen);
    for (const Seen& seen : keys_) first_of(sites[seen.named.site].key, seen);
    std::erase_if(sites, [](const auto& site) { return site.second.query == nullptr || site.second.key == nullptr; });
    for (const Seen& seen : attention_) place_attention(seen, sites);
    // Those with captured attention first: what it shows holds for layers of the same kind.
    for (const auto& [name, site] : sites) {
      if (site.attention != nullptr) add_layer(name, site);
    }
    for (const auto& [name, site] : sites) {
      if (site.attention == nullptr) add_layer(name, site);
    }
    std::stable_sort(map_.layers.begin(), map_.layers.end(),
                     [](const LayerMap& a, const LayerMap& b) { return natural_less(a.name, b.name); });
    add_candidates();
  }

  void place_attention(const Seen& seen, std::map<std::string, Site>& sites) {
    Site* best = nullptr;
    std::size_t most = 0;
    for (auto& [name, site] : sites) {
      if (site.query == nullptr) continue;
      const std::size_t shared = affinity(seen.info.name, name);
      if (shared > most) std::tie(best, most) = std::pair(&site, shared);
    }
    if (best == nullptr) {
      sites[seen.info.name].attention = &seen;
      return;
    }
    const bool is_better =
        best->attention == nullptr || std::pair(most, seen.score) > std::pair(best->affinity, best->attention->score);
    if (is_better) std::tie(best->attention, best->affinity) = std::pair(&seen, most);
  }

  void add_layer(const std::string& name, const Site& site) {
    LayerWish wish = known_;
    wish.name = name;
    wish.attention.clear();
    wish.query.clear();
    wish.key.clear();
    LayerShapes shapes;
    if (site.attention != nullptr) {
      wish.attention = site.attention->info.name;
      shapes.attention = site.attention->info.shape;
      if (!wish.mask && site.attention->rows.causal) wish.mask = MaskKind::kCausal;
    }
    if (site.query != nullptr) {
      wish.query = site.query->info.name;
      wish.key = site.key->info.name;
      shapes.query = site.query->info.shape;
      shapes.key = site.key->info.shape;
      if (site.attention == nullptr) take_after_sibling(*site.query, wish);
      if (!wish.mask && site.attention == nullptr) {
        assume(name,
               "without captured attention nobody knows the mask: \"none\" is assumed; write mask = \"causal\" "
               "into attention.toml if tokens look back only");
      }
    }
    if (wish.name.empty()) wish.name = "attention";
    auto completed = complete_layer(wish, shapes, labelled_heads(trial_.labels()));
    if (!completed.ok() && site.attention != nullptr && site.query != nullptr) {
      assume(name, fmt::format("queries and keys do not fit the attention and are left out: {}",
                               completed.status().message()));
      wish.query.clear();
      wish.key.clear();
      completed = complete_layer(wish, shapes, {});
    }
    if (!completed.ok()) return assume(name, fmt::format("left out: {}", completed.status().message()));
    for (std::string& assumption : completed->assumptions) assume(name, std::move(assumption));
    if (site.attention != nullptr && completed->layer.has_queries()) {
      siblings_.try_emplace(skeleton_of(wish.query), Sibling{completed->layer, site.query->info.shape});
    }
    map_.layers.push_back(std::move(completed->layer));
  }

  // A layer whose queries are called and shaped like those of one with captured attention is made like it.
  void take_after_sibling(const Seen& query, LayerWish& wish) const {
    const auto found = siblings_.find(skeleton_of(query.info.name));
    if (found == siblings_.end() || found->second.query.rank() != query.info.shape.rank()) return;
    const LayerMap& sibling = found->second.layer;
    const int width = query.info.shape.rank() - 1;
    if (found->second.query[width] != query.info.shape[width]) return;
    if (!wish.heads) wish.heads = sibling.heads;
    if (!wish.mask) wish.mask = sibling.mask;
    if (!wish.layout) wish.layout = sibling.layout;
  }

  void add_candidates() {
    for (const auto& [seen, list] :
         {std::pair(&attention_, &map_.candidates.attention), std::pair(&queries_, &map_.candidates.query),
          std::pair(&keys_, &map_.candidates.key)}) {
      std::vector<Candidate> candidates;
      for (const Seen& one : *seen) candidates.push_back({one.info.name, one.reason});
      list->insert(list->begin(), candidates.begin(), candidates.end());
      std::stable_sort(list->begin(), list->begin() + static_cast<std::ptrdiff_t>(candidates.size()),
                       [](const Candidate& a, const Candidate& b) { return natural_less(a.name, b.name); });
    }
  }

  void choose_tokens() {
    if (!map_.candidates.tokens.empty()) map_.tokens = map_.candidates.tokens.front().name;
  }

  // The same of many layers is said once.
  void assume(const std::string& layer, std::string what) { assumptions_[std::move(what)].push_back(layer); }

  void write_note() {
    std::vector<std::string> sentences;
    if (map_.layers.empty()) {
      sentences.push_back(
          "No tensor of this run looks like attention, or like queries with their keys. Keep the values "
          "of the attention [B, H, T, T], or of queries and keys, and name them in attention.toml if "
          "their names say nothing.");
    }
    if (!fused_.empty()) {
      sentences.push_back(fmt::format(
          "\"{}\"{} holds queries, keys and values in one; they cannot be told apart here: "
          "save queries and keys as tensors of their own.",
          printable(fused_.front()), fused_.size() > 1 ? fmt::format(" (and {} more)", fused_.size() - 1) : ""));
    }
    for (const auto& [what, layers] : assumptions_) {
      if (sentences.size() >= kMostSentences) break;
      sentences.push_back(fmt::format("{}{}: {}.", printable(layers.front()),
                                      layers.size() > 1 ? fmt::format(" (and {} more)", layers.size() - 1) : "", what));
    }
    map_.note = fmt::format("{}", fmt::join(sentences, " "));
  }

  Trial& trial_;
  const LayerWish& known_;
  std::vector<std::string> names_;
  std::vector<Seen> attention_;
  std::vector<Seen> queries_;
  std::vector<Seen> keys_;
  std::vector<std::string> fused_;
  struct Sibling {
    LayerMap layer;
    Shape query;
  };
  std::map<std::string, Sibling> siblings_;                      // by the skeletons of their queries' names
  std::map<std::string, std::vector<std::string>> assumptions_;  // what: of which layers
  AttentionMap map_;
};

Result<Shape> shape_of(const Trial& trial, const std::string& name) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const TensorInfo info, trial.tensor_info(name));
  if (info.values == 0 || !info.has_shape) {
    return Status(Code::kNotFound, fmt::format("\"{}\" was nowhere kept whole; keep its values", printable(name)));
  }
  return info.shape;
}

}  // namespace

Result<AttentionMap> guess_map(Trial& trial, const LayerWish& known) {
  return Guess(trial, known).make();
}

Result<LayerShapes> shapes_of(const Trial& trial, const LayerWish& wish) {
  LayerShapes shapes;
  for (const auto& [name, shape] : {std::pair(&wish.attention, &shapes.attention),
                                    std::pair(&wish.query, &shapes.query), std::pair(&wish.key, &shapes.key)}) {
    if (name->empty()) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(*shape, shape_of(trial, *name));
  }
  return shapes;
}

}  // namespace trainwarden::views::attention
