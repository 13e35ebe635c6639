#include "ui/views/attention/tensor_words.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace trainwarden::views::attention {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_letter(char c) {
  return is_lower(c) || is_upper(c);
}

template <std::size_t n>
bool is_one_of(std::string_view text, const std::array<std::string_view, n>& texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

constexpr std::array<std::string_view, 5> kQueryWords = {"query", "queries", "q", "wq", "qs"};
constexpr std::array<std::string_view, 5> kKeyWords = {"key", "keys", "k", "wk", "ks"};
constexpr std::array<std::string_view, 3> kFusedWords = {"qkv", "wqkv", "kqv"};
constexpr std::array<std::string_view, 5> kGradientWords = {"gradient", "gradients", "grad", "grads", "momentum"};
constexpr std::array<std::string_view, 4> kParameterWords = {"weight", "bias", "kernel", "gamma"};
constexpr std::array<std::string_view, 2> kInputWords = {"input", "inputs"};

bool names_attention(const std::string& word) {
  return word.find("attention") != std::string::npos || word.find("attn") != std::string::npos || word == "att" ||
         word == "softmax" || word == "probs";
}

Role role_of_word(const std::string& word) {
  if (is_one_of(word, kFusedWords)) return Role::kFused;
  if (is_one_of(word, kQueryWords)) return Role::kQuery;
  if (is_one_of(word, kKeyWords)) return Role::kKey;
  return Role::kNone;
}

bool is_of_another_kind(const std::vector<Word>& words) {
  for (const Word& word : words) {
    if (is_one_of(word.text, kGradientWords)) return true;
  }
  const auto last = std::find_if(words.rbegin(), words.rend(), [](const Word& word) { return !word.is_number; });
  return last != words.rend() && (is_one_of(last->text, kParameterWords) || is_one_of(last->text, kInputWords));
}

std::string site_before(std::string_view name, std::size_t end) {
  std::string_view site = name.substr(0, end);
  while (!site.empty() && !is_letter(site.back()) && !is_digit(site.back())) site.remove_suffix(1);
  // The "w" of "W_q" and the "to" of "to_q" belong to the role.
  for (const std::string_view lead : {"W", "w", "to"}) {
    const bool alone =
        site.size() == lead.size() || (site.size() > lead.size() && !is_letter(site[site.size() - lead.size() - 1]) &&
                                       !is_digit(site[site.size() - lead.size() - 1]));
    if (site.ends_with(lead) && alone) return site_before(site, site.size() - lead.size());
  }
  return std::string(site);
}

}  // namespace

std::vector<Word> words_of(std::string_view name) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t begin = at;
    if (is_digit(name[at])) {
      while (at < name.size() && is_digit(name[at])) ++at;
    } else if (is_letter(name[at])) {
      ++at;
      while (at < name.size() && is_letter(name[at]) && !(is_upper(name[at]) && is_lower(name[at - 1]))) ++at;
    } else {
      ++at;
      continue;
    }
    words.push_back({lower(name.substr(begin, at - begin)), begin, at, is_digit(name[begin])});
  }
  return words;
}

NamedRole role_of_name(std::string_view name) {
  const std::vector<Word> words = words_of(name);
  if (is_of_another_kind(words)) return {};
  NamedRole found;
  bool has_query = false;
  bool has_key = false;
  for (const Word& word : words) {
    const Role role = role_of_word(word.text);
    has_query = has_query || role == Role::kQuery;
    has_key = has_key || role == Role::kKey;
    if (role != Role::kNone) found = {role, site_before(name, word.begin), word.text};
  }
  if (has_query && has_key) found.role = Role::kFused;
  if (found.role != Role::kNone) return found;
  for (const Word& word : words) {
    if (names_attention(word.text)) return {Role::kAttention, std::string(name), word.text};
  }
  return {};
}

std::string skeleton_of(std::string_view name) {
  std::string skeleton;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (!is_digit(name[at])) {
      skeleton += name[at];
    } else if (at == 0 || !is_digit(name[at - 1])) {
      skeleton += '#';
    }
  }
  return skeleton;
}

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i;
      ++j;
      continue;
    }
    const auto number_at = [](std::string_view text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t begin = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    const std::string_view first = number_at(a, i);
    const std::string_view second = number_at(b, j);
    if (first.size() != second.size()) return first.size() < second.size();
    if (first != second) return first < second;
  }
  if (i < a.size() || j < b.size()) return i >= a.size();
  return a < b;  // "layer.02" and "layer.2"
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto ends =
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())), b.begin());
  return static_cast<std::size_t>(ends.first - a.begin());
}

}  // namespace trainwarden::views::attention
