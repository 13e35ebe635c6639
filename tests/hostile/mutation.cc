#include "mutation.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

namespace trainwarden::hostile {
namespace {

namespace fs = std::filesystem;
using format::OrderedJson;

// Values that stand where others are expected.
OrderedJson odd_value(Random& random) {
  switch (random() % 9) {
    case 0: return nullptr;
    case 1: return static_cast<std::int64_t>(odd_number(random));
    case 2: return odd_number(random);
    case 3: return 1e308 * (random() % 2 == 0 ? 1 : -1);
    case 4: return "";
    case 5: return "../../../etc/passwd";
    case 6: return OrderedJson::array();
    case 7: return OrderedJson::object();
    default: return std::string(1 << random() % 18, 'n');
  }
}

OrderedJson within_lists(OrderedJson value, std::size_t depth) {
  for (std::size_t i = 0; i < depth; ++i) value = OrderedJson::array({std::move(value)});
  return value;
}

// Many of it, beside itself.
void repeat(OrderedJson& list, std::size_t count) {
  const OrderedJson all = list;
  while (list.size() < count) list.insert(list.end(), all.begin(), all.end());
}

void change_value(OrderedJson& value, Random& random) {
  switch (random() % 4) {
    case 0: value = within_lists(std::move(value), 1 + random() % 200); break;
    case 1:
      if (value.is_array() && !value.empty()) {
        repeat(value, std::size_t{1} << random() % 13);
        break;
      }
      [[fallthrough]];
    default: value = odd_value(random);
  }
}

// A way down from the root, which may end early.
OrderedJson* descend(OrderedJson& document, Random& random) {
  OrderedJson* value = &document;
  while (value->is_structured() && !value->empty() && random() % 8 != 0) {
    value = &*std::next(value->begin(), static_cast<std::ptrdiff_t>(random() % value->size()));
  }
  return value;
}

}  // namespace

std::uint64_t odd_number(Random& random) {
  constexpr std::array<std::uint64_t, 10> kOddNumbers = {
      0, 1, 0x7f, 0x80, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, ~std::uint64_t{0} >> 1, ~std::uint64_t{0}};
  return kOddNumbers[random() % kOddNumbers.size()];
}

void change_some(std::string& bytes, std::size_t begin, std::size_t end, Random& random) {
  const std::size_t room = end - begin;
  if (room == 0) return;
  const std::size_t changes = 1 + random() % 4;
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t at = begin + random() % room;
    switch (random() % 4) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1 << random() % 8)); break;
      case 1: bytes[at] = static_cast<char>(random()); break;
      case 2: bytes[at] = "0123456789[]{}\",:-"[random() % 18]; break;
      default: {
        const std::uint64_t number = odd_number(random);
        const std::size_t width = std::min<std::size_t>(std::size_t{1} << random() % 4, end - at);
        for (std::size_t k = 0; k < width; ++k) bytes[at + k] = static_cast<char>(number >> 8 * k);
      }
    }
  }
}

void change_one_value(OrderedJson& document, Random& random) {
  OrderedJson* value = descend(document, random);
  if (value->is_object() && !value->empty() && random() % 3 == 0) {
    value->erase(std::next(value->begin(), static_cast<std::ptrdiff_t>(random() % value->size())));
    return;
  }
  change_value(*value, random);
}

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), folder));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace trainwarden::hostile
