// CompactJson: reads JSON that is written without blanks and of a shape that is known, front to back, without a tree.
// It declines the rest, for which there is parse_json: blanks, escapes, names that are not ASCII, signs, fractions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trainwarden::format {

class CompactJson {
 public:
  explicit CompactJson(std::string_view text) : left_(text) {}

  // Moves behind `written` when that comes next.
  bool take(std::string_view written);
  // A number of digits only, below 10^18, without a zero in front.
  std::optional<std::uint64_t> take_number();
  // What stands between two quotes: printable ASCII without an escape. A view into the text.
  std::optional<std::string_view> take_string();
  // Calls `item`, which says whether it could read one, for each item of an array.
  template <class Item>
  bool take_array(Item item);
  // Is nothing left but blanks?
  bool at_end() const { return left_.find_first_not_of(' ') == std::string_view::npos; }

 private:
  std::string_view left_;
};

template <class Item>
bool CompactJson::take_array(Item item) {
  if (!take("[")) return false;
  if (take("]")) return true;
  do {
    if (!item()) return false;
  } while (take(","));
  return take("]");
}

}  // namespace trainwarden::format
