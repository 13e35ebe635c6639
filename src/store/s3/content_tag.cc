#include "store/s3/content_tag.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/exchange/digest.h"

namespace trainwarden::storage {
namespace {

constexpr std::uint64_t kMostParts = 10'000;
constexpr std::size_t kTagBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kMd5Digits = 32;

bool is_digest(std::string_view text) {
  return text.size() == kMd5Digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

int value_of(char digit) {
  return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

Result<std::string> md5_of(std::uint64_t begin, std::uint64_t bytes, const ReadContent& read) {
  exchange::RunningMd5 digest;
  std::string block;
  for (std::uint64_t at = 0; at < bytes; at += block.size()) {
    block.resize(std::min<std::uint64_t>(kTagBlockBytes, bytes - at));
    TRAINWARDEN_RETURN_IF_ERROR(read(begin + at, std::as_writable_bytes(std::span(block))));
    digest.add(block);
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string binary, digest.end());
  return exchange::hex(binary);
}

}  // namespace

std::uint64_t part_bytes_for(std::uint64_t bytes) {
  return std::max(kPartBytes, (bytes + kMostParts - 1) / kMostParts);
}

std::optional<ContentTag> parse_content_tag(std::string_view etag) {
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') etag = etag.substr(1, etag.size() - 2);
  const std::size_t dash = etag.find('-');
  const std::string digest = lower(etag.substr(0, dash));
  if (!is_digest(digest)) return std::nullopt;
  if (dash == std::string_view::npos) return ContentTag{digest, 0};
  const auto parts = parse_int(etag.substr(dash + 1));
  if (!parts || *parts < 1 || static_cast<std::uint64_t>(*parts) > kMostParts) return std::nullopt;
  return ContentTag{digest, static_cast<int>(*parts)};
}

Result<std::string> tag_of_parts(const std::vector<std::string>& digests) {
  std::string together;
  for (const std::string& digest : digests) {
    if (!is_digest(digest)) return Status(Code::kInvalidArgument, "the tag of a part is no MD5");
    for (std::size_t i = 0; i < digest.size(); i += 2) {
      together += static_cast<char>(value_of(digest[i]) * 16 + value_of(digest[i + 1]));
    }
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string digest, exchange::md5(together));
  return fmt::format("{}-{}", exchange::hex(digest), digests.size());
}

Result<std::string> content_tag_of(std::uint64_t bytes, std::uint64_t part_bytes, const ReadContent& read) {
  if (part_bytes == 0) return md5_of(0, bytes, read);
  std::vector<std::string> digests;
  for (std::uint64_t begin = 0; begin < bytes || digests.empty(); begin += part_bytes) {
    TRAINWARDEN_ASSIGN_OR_RETURN(std::string digest, md5_of(begin, std::min(part_bytes, bytes - begin), read));
    digests.push_back(std::move(digest));
  }
  return tag_of_parts(digests);
}

}  // namespace trainwarden::storage
