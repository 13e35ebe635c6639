// AttentionMap: which tensors of a run are attention, queries, keys and tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::views::attention {

// Who may look at whom. kCausal: at nobody behind oneself. kWindow: that, and at the last `window` tokens only, oneself
// among them.
enum class MaskKind : std::uint8_t { kNone, kCausal, kWindow };
// How queries and keys lie: B batch items, H heads, T tokens, D numbers. In kBTD the heads follow one another within D.
enum class Layout : std::uint8_t { kBHTD, kBTHD, kBTD };
enum class MapSource : std::uint8_t { kNone, kGuessed, kFile };

std::string_view name(MaskKind mask);     // "none", "causal", "window"
std::string_view name(Layout layout);     // "BHTD", "BTHD", "BTD"
std::string_view name(MapSource source);  // "none", "guessed", "file"

struct LayerMap {
  std::string name;
  std::string attention{};  // names of tensors; empty: none. Weights [B, H, Tq, Tk], or [B, Tq, Tk] of a single head
  std::string query{};
  std::string key{};
  std::int64_t heads = 0;            // 0: nobody knows; then only the note of the map helps
  std::int64_t key_value_heads = 0;  // divides heads: query head h uses key head h / (heads / key_value_heads)
  std::int64_t head_size = 0;        // 0: there are no queries and keys
  double scale = 0;                  // of q·k; 0: there are no queries and keys
  MaskKind mask = MaskKind::kNone;
  std::int64_t window = 0;  // of kWindow
  Layout layout = Layout::kBHTD;

  bool has_queries() const { return !query.empty() && !key.empty(); }
};

// A tensor that may have a role, and why.
struct Candidate {
  std::string name;
  std::string reason;
};

struct Candidates {
  std::vector<Candidate> attention;
  std::vector<Candidate> query;
  std::vector<Candidate> key;
  std::vector<Candidate> tokens;
};

struct AttentionMap {
  MapSource source = MapSource::kNone;
  std::string note;  // what was assumed, and what is missing; sentences
  std::vector<LayerMap> layers;
  std::string tokens;      // name of a tensor of strings; empty: none
  std::string key_tokens;  // the same of the keys, when it is another (cross-attention)
  Candidates candidates;
};

}  // namespace trainwarden::views::attention
