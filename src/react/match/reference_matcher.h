// A second matcher, for tests and as the rival of a figure: one pattern after the other, straight from the rules in
// docs/reference/patterns.md, with none of the code of the first.
//
// An event is flattened to its values: each with its path, and with the arrays that the object it lies in lies in, and
// the element of each. A pattern matches when each of its leaves can be given a value that passes it, no two of them
// from objects in different elements of one array, or may lack one and does: there is no value at its path in the
// elements that the others lie in.
#pragma once

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/text.h"

namespace trainwarden::match::reference {

using Path = std::vector<std::string>;
using Elements = std::map<int, int>;  // by array: which of its elements

struct Value {
  Path path;
  nlohmann::json value;
  Elements elements;
};

// `around` are elements of arrays that count once there is an object in them.
inline void flatten(const nlohmann::json& json, const Path& path, const Elements& elements, const Elements& around,
                    int& arrays, std::vector<Value>& values) {
  if (json.is_object()) {
    for (const auto& [name, inner] : json.items()) {
      Path longer = path;
      longer.push_back(name);
      flatten(inner, longer, around, around, arrays, values);
    }
  } else if (json.is_array()) {
    const int array = arrays++;
    for (std::size_t i = 0; i < json.size(); ++i) {
      Elements deeper = around;
      deeper[array] = static_cast<int>(i);
      flatten(json[i], path, elements, deeper, arrays, values);
    }
  } else {
    values.push_back({path, json, elements});
  }
}

inline std::vector<Value> flatten(const nlohmann::json& event) {
  std::vector<Value> values;
  int arrays = 0;
  flatten(event, {}, {}, {}, arrays, values);
  return values;
}

struct LeafTests {
  Path path;
  nlohmann::json any_of;
};
using AllOf = std::vector<LeafTests>;

inline bool is_choice(const std::string& name, const nlohmann::json& value) {
  static const std::vector<std::string> kReserved = {"exactly",
                                                     "equals-ignore-case",
                                                     "prefix",
                                                     "suffix",
                                                     "anything-but",
                                                     "exists",
                                                     "wildcard",
                                                     "numeric",
                                                     "cidr",
                                                     "=",
                                                     "<",
                                                     "<=",
                                                     ">",
                                                     ">=",
                                                     "regex",
                                                     "not-wildcard",
                                                     "not-equals-ignore-case",
                                                     "date-after",
                                                     "date-on-or-after",
                                                     "date-before",
                                                     "in-date-range",
                                                     "date-on-or-before",
                                                     "ip-address-in-range",
                                                     "ip-address-not-in-range"};
  if (name != "$or" || !value.is_array() || value.size() < 2) return false;
  return std::all_of(value.begin(), value.end(), [](const nlohmann::json& object) {
    return object.is_object() && std::none_of(kReserved.begin(), kReserved.end(),
                                              [&](const std::string& reserved) { return object.contains(reserved); });
  });
}

// The ways in which the pattern can hold.
inline std::vector<AllOf> alternatives(const nlohmann::json& pattern, const Path& path) {
  std::vector<AllOf> all = {{}};
  for (const auto& [name, value] : pattern.items()) {
    std::vector<AllOf> some;
    Path longer = path;
    longer.push_back(name);
    if (is_choice(name, value)) {
      for (const nlohmann::json& object : value) {
        for (AllOf& one : alternatives(object, path)) some.push_back(std::move(one));
      }
    } else if (value.is_object()) {
      some = alternatives(value, longer);
    } else {
      some = {{{longer, value}}};
    }
    std::vector<AllOf> product;
    for (const AllOf& left : all) {
      for (const AllOf& right : some) {
        product.push_back(left);
        product.back().insert(product.back().end(), right.begin(), right.end());
      }
    }
    all = std::move(product);
  }
  return all;
}

// Folds what the tests use: Latin, Greek and Cyrillic.
inline std::u32string folded(const std::string& text) {
  std::u32string points = to_utf32(text);
  for (char32_t& c : points) {
    const bool latin = c >= 0xc0 && c <= 0xde && c != 0xd7;
    const bool greek = c >= 0x391 && c <= 0x3a9;
    if ((c >= 'A' && c <= 'Z') || latin || greek || (c >= 0x410 && c <= 0x42f)) c += 32;
    if (c == 0x3c2) c = 0x3c3;
    if (c == 0x1e9e) c = 0xdf;
    if (c == 0x212a) c = 'k';
  }
  return points;
}

inline bool glob(const std::string& pattern, std::size_t p, const std::string& text, std::size_t t) {
  if (p == pattern.size()) return t == text.size();
  if (pattern[p] == '*') {
    for (std::size_t i = t; i <= text.size(); ++i) {
      if (glob(pattern, p + 1, text, i)) return true;
    }
    return false;
  }
  if (pattern[p] == '\\') ++p;
  return t < text.size() && pattern[p] == text[t] && glob(pattern, p + 1, text, t + 1);
}

template <class Text>
bool begins(const Text& text, const Text& with) {
  return text.substr(0, with.size()) == with;
}
template <class Text>
bool ends(const Text& text, const Text& with) {
  return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}

inline std::vector<bool> address_bits(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  std::size_t count = 0;
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) count = 4;
  if (count == 0 && inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) count = 16;
  std::vector<bool> bits;
  for (std::size_t i = 0; i < 8 * count; ++i) bits.push_back((bytes[i / 8] >> (7 - i % 8) & 1) != 0);
  return bits;
}

inline bool in_cidr(const std::string& text, const std::string& cidr) {
  const std::size_t slash = cidr.find('/');
  const auto network = address_bits(cidr.substr(0, slash));
  const auto address = address_bits(text);
  const int mask = std::stoi(cidr.substr(slash + 1));
  return address.size() == network.size() && std::equal(address.begin(), address.begin() + mask, network.begin());
}

inline bool compare(double value, const std::string& with, double bound) {
  if (with == "=") return value == bound;
  if (with == "<") return value < bound;
  if (with == "<=") return value <= bound;
  return with == ">" ? value > bound : value >= bound;
}

inline bool same(const nlohmann::json& value, const nlohmann::json& wanted) {
  if (value.is_number() && wanted.is_number()) return value.get<double>() == wanted.get<double>();
  return value.type() == wanted.type() && value == wanted;
}

inline bool text_passes(const std::string& text, const std::string& test, const nlohmann::json& argument) {
  if (argument.is_object()) {
    const auto wanted = folded(argument.at("equals-ignore-case").get<std::string>());
    return test == "prefix" ? begins(folded(text), wanted) : ends(folded(text), wanted);
  }
  const auto wanted = argument.get<std::string>();
  if (test == "exactly") return text == wanted;
  if (test == "prefix") return begins(text, wanted);
  if (test == "suffix") return ends(text, wanted);
  if (test == "wildcard") return glob(wanted, 0, text, 0);
  if (test == "equals-ignore-case") return folded(text) == folded(wanted);
  return in_cidr(text, wanted);
}

inline bool is_excluded(const nlohmann::json& value, const nlohmann::json& argument) {
  if (argument.is_array()) {
    return std::any_of(argument.begin(), argument.end(),
                       [&](const nlohmann::json& one) { return is_excluded(value, one); });
  }
  if (!argument.is_object()) return same(value, argument);
  const std::string test = argument.begin().key();
  const nlohmann::json list =
      argument.begin()->is_array() ? *argument.begin() : nlohmann::json::array({*argument.begin()});
  return value.is_string() && std::any_of(list.begin(), list.end(), [&](const nlohmann::json& one) {
           return text_passes(value.get<std::string>(), test, one);
         });
}

inline bool passes(const nlohmann::json& value, const nlohmann::json& test) {
  if (!test.is_object()) return same(value, test);
  const std::string name = test.begin().key();
  const nlohmann::json& argument = *test.begin();
  if (name == "exists") return argument.get<bool>();
  if (name == "anything-but") return !is_excluded(value, argument);
  if (name != "numeric") return value.is_string() && text_passes(value.get<std::string>(), name, argument);
  if (!value.is_number()) return false;
  for (std::size_t i = 0; i < argument.size(); i += 2) {
    if (!compare(value.get<double>(), argument[i], argument[i + 1])) return false;
  }
  return true;
}

inline bool consistent(const Elements& some, const Elements& others) {
  return std::all_of(some.begin(), some.end(), [&](const auto& one) {
    const auto other = others.find(one.first);
    return other == others.end() || other->second == one.second;
  });
}

// Whether the leaves from `next` on can be given values, those before it lying in `elements`; `lacking` are those that
// were given none.
inline bool can_give(const AllOf& leaves, std::size_t next, const std::vector<Value>& values, const Elements& elements,
                     const std::vector<const LeafTests*>& lacking) {
  if (next == leaves.size()) {
    return std::none_of(lacking.begin(), lacking.end(), [&](const LeafTests* leaf) {
      return std::any_of(values.begin(), values.end(), [&](const Value& value) {
        return value.path == leaf->path && consistent(value.elements, elements);
      });
    });
  }
  const LeafTests& leaf = leaves[next];
  for (const Value& value : values) {
    if (value.path != leaf.path || !consistent(value.elements, elements)) continue;
    const bool passed = std::any_of(leaf.any_of.begin(), leaf.any_of.end(),
                                    [&](const nlohmann::json& test) { return passes(value.value, test); });
    if (!passed) continue;
    Elements more = elements;
    more.insert(value.elements.begin(), value.elements.end());
    if (can_give(leaves, next + 1, values, more, lacking)) return true;
  }
  const bool may_lack = std::any_of(leaf.any_of.begin(), leaf.any_of.end(), [](const nlohmann::json& test) {
    return test == nlohmann::json({{"exists", false}});
  });
  if (!may_lack) return false;
  auto longer = lacking;
  longer.push_back(&leaf);
  return can_give(leaves, next + 1, values, elements, longer);
}

inline bool matches(const std::vector<AllOf>& pattern, const std::vector<Value>& event) {
  return std::any_of(pattern.begin(), pattern.end(),
                     [&](const AllOf& leaves) { return can_give(leaves, 0, event, {}, {}); });
}

inline bool matches(const nlohmann::json& pattern, const nlohmann::json& event) {
  return matches(alternatives(pattern, {}), flatten(event));
}

}  // namespace trainwarden::match::reference
