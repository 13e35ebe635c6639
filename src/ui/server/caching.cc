#include "ui/server/caching.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::server {
namespace {

// Multiplies and folds eight bytes at a time, in two lanes. Tells versions of a document apart; no protection against
// somebody who looks for two with the same digits, which would only cheat himself.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t word_at(std::string_view bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
  return word;
}

struct Range {
  std::size_t first = 0;
  std::size_t last = 0;  // inclusive
};

// "bytes=0-99", "bytes=100-", "bytes=-50". Nothing when it is none, or several: then the whole is sent, as HTTP has it.
std::optional<std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>> parse_range(std::string_view text) {
  if (!text.starts_with("bytes=")) return std::nullopt;
  text.remove_prefix(6);
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos || text.find(',') != std::string_view::npos) return std::nullopt;
  const std::string_view first = trim(text.substr(0, dash));
  const std::string_view last = trim(text.substr(dash + 1));
  const auto first_number = parse_int(first);
  const auto last_number = parse_int(last);
  const bool understood = (first.empty() || first_number) && (last.empty() || last_number) &&
                          (first_number || last_number) && first_number.value_or(0) >= 0 &&
                          last_number.value_or(0) >= 0;
  if (!understood) return std::nullopt;
  return std::pair(first_number, last_number);
}

// Nothing when no byte of it is there.
std::optional<Range> within(std::optional<std::int64_t> first, std::optional<std::int64_t> last, std::size_t bytes) {
  if (bytes == 0) return std::nullopt;
  if (!first) {
    const auto wanted = std::min(static_cast<std::size_t>(*last), bytes);
    if (wanted == 0) return std::nullopt;
    return Range{bytes - wanted, bytes - 1};
  }
  const auto from = static_cast<std::size_t>(*first);
  if (from >= bytes || (last && *last < *first)) return std::nullopt;
  return Range{from, last ? std::min(static_cast<std::size_t>(*last), bytes - 1) : bytes - 1};
}

HttpAnswer not_modified(HttpAnswer whole) {
  whole.status = 304;
  std::erase_if(whole.headers, [](const auto& header) {
    return header.first == "Content-Type" || header.first == "Content-Encoding" ||
           header.first == "Content-Disposition";
  });
  whole.owner.reset();
  whole.body = {};
  return whole;
}

HttpAnswer part_of(HttpAnswer whole, std::string_view wanted) {
  const auto range = parse_range(wanted);
  if (!range) return whole;
  const std::size_t bytes = whole.body.size();
  const auto part = within(range->first, range->second, bytes);
  if (!part) {
    HttpAnswer answer = error_answer(416, name(Code::kOutOfRange), fmt::format("the answer has {} bytes", bytes));
    answer.add("Content-Range", fmt::format("bytes */{}", bytes));
    return answer;
  }
  whole.status = 206;
  whole.body = whole.body.substr(part->first, part->last - part->first + 1);
  whole.add("Content-Range", fmt::format("bytes {}-{}/{}", part->first, part->last, bytes));
  return whole;
}

}  // namespace

std::string etag_of(std::string_view bytes) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;
  std::uint64_t a = 0x243f6a8885a308d3ULL;
  std::uint64_t b = 0x13198a2e03707344ULL;
  for (std::size_t at = 0; at < bytes.size(); at += 16) {
    a = fold(a ^ word_at(bytes, at), kOdd);
    if (at + 8 < bytes.size()) b = fold(b ^ word_at(bytes, at + 8), kOdd ^ a);
  }
  a = fold(a ^ bytes.size() * kOdd, kOdd);  // zeros at the end count as well
  return fmt::format("\"{:016x}{:016x}\"", a, fold(b ^ a, kOdd));
}

bool names_etag(std::string_view if_none_match, std::string_view etag) {
  for (const std::string& named : split_list(if_none_match)) {
    const std::string_view strong = named.starts_with("W/") ? std::string_view(named).substr(2) : named;
    if (strong == etag || strong == "*") return true;
  }
  return false;
}

HttpAnswer for_conditions(const HttpRequest& request, HttpAnswer whole) {
  const std::string etag(whole.header("ETag"));
  if (whole.status != 200 || etag.empty()) return whole;
  if (names_etag(request.header("if-none-match"), etag)) return not_modified(std::move(whole));
  const std::string_view condition = request.header("if-range");
  const bool same = condition.empty() || condition == etag;
  if (request.count("range") != 1 || !same) return whole;
  return part_of(std::move(whole), request.header("range"));
}

}  // namespace trainwarden::server
