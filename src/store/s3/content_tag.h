// ETags as digests of what they stand for: the MD5 of an object's content, or of the MD5s of the parts in which it was
// put, with their number behind a '-'. Not all tags are: what is encrypted with keys of KMS or of a customer has
// others.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

// In which parts we put an object of this size. S3 takes ten thousand, of 5 GiB at most.
inline constexpr std::uint64_t kPartBytes = std::uint64_t{16} << 20;
std::uint64_t part_bytes_for(std::uint64_t bytes);

struct ContentTag {
  std::string digest;  // hexadecimal
  int parts = 0;       // 0: it was put at once
};
// Nothing: it has another form. With quotes or without.
std::optional<ContentTag> parse_content_tag(std::string_view etag);

// Of what was put at once, `part_bytes` 0, or in parts: "9a0364b9e99bb480dd25e1f0284c8555-2", without quotes. `read`
// fills its destination from the offset.
using ReadContent = std::function<Status(std::uint64_t offset, MutableByteSpan destination)>;
Result<std::string> content_tag_of(std::uint64_t bytes, std::uint64_t part_bytes, const ReadContent& read);

// The same of parts whose MD5s, in hexadecimal digits, are known. kInvalidArgument when one is none.
Result<std::string> tag_of_parts(const std::vector<std::string>& digests);

}  // namespace trainwarden::storage
