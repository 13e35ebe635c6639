// How names and places are shown in a sentence.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainwarden::diagnosis {

inline std::string number(double value) {
  return fmt::format("{:.3g}", value);
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "a", "a and b", "a, b and 3 more"
inline std::string listed(const std::vector<std::string>& names) {
  if (names.empty()) return "nothing";
  if (names.size() == 1) return names[0];
  if (names.size() == 2) return names[0] + " and " + names[1];
  return fmt::format("{}, {} and {} more", names[0], names[1], names.size() - 2);
}

inline std::string lower_case(std::string text) {
  for (char& each : text) each = each >= 'A' && each <= 'Z' ? static_cast<char>(each + 32) : each;
  return text;
}

inline std::string shape(const std::vector<std::int64_t>& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

inline bool starts_with_embedding(const std::string& kind) {
  return kind.rfind("Embedding", 0) == 0;
}

inline std::string short_place(const std::string& place) {
  return std::filesystem::path(place).filename().string();
}

}  // namespace trainwarden::diagnosis
