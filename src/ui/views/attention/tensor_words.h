// What a tensor's name says about its part in attention.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainwarden::views::attention {

// A piece of a name: "encoder.layer.10.selfAttention.q_proj" has encoder, layer, 10, self, attention, q, proj.
struct Word {
  std::string text;       // in lower case
  std::size_t begin = 0;  // in the name, in bytes
  std::size_t end = 0;
  bool is_number = false;
};
std::vector<Word> words_of(std::string_view name);

enum class Role : std::uint8_t {
  kNone,
  kAttention,
  kQuery,
  kKey,
  kFused,  // queries, keys and values in one tensor
};

struct NamedRole {
  Role role = Role::kNone;
  // Whose it is: what stands before the word that names the role. Queries and keys of one layer have the same.
  std::string site;
  std::string word;  // that names the role, for people
};

// By the name alone. Gradients, parameters and inputs of layers have none.
NamedRole role_of_name(std::string_view name);

// "encoder.layer.#.attention": the name with a '#' for each number. Equal for the same tensor of all layers.
std::string skeleton_of(std::string_view name);

// By the numbers in them where they differ only in those: layer.2 comes before layer.10.
bool natural_less(std::string_view a, std::string_view b);

// How many bytes the two names begin with in common.
std::size_t common_prefix(std::string_view a, std::string_view b);

}  // namespace trainwarden::views::attention
