#include "core/base/json_marks.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "core/base/code_point.h"

namespace trainwarden {
namespace {

// The first bytes of all such characters: most documents have none of them and are not copied.
bool may_begin_mark(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == 0x7f || byte == 0xc2 || byte == 0xd8 || byte == 0xe2;
}

}  // namespace

std::string escape_marks(std::string json) {
  auto at = std::find_if(json.begin(), json.end(), may_begin_mark);
  if (at == json.end()) return json;
  std::string escaped(json.begin(), at);
  std::string_view rest = std::string_view(json).substr(escaped.size());
  while (!rest.empty()) {
    const CodePoint point = decode_utf8(rest);
    const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
    if (point.value >= 0x7f && drives_terminal(point.value)) {
      fmt::format_to(std::back_inserter(escaped), "\\u{:04x}", static_cast<unsigned>(point.value));
    } else {
      escaped += rest.substr(0, bytes);
    }
    rest.remove_prefix(bytes);
  }
  return escaped;
}

}  // namespace trainwarden
