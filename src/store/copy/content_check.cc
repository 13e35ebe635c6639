#include "store/copy/content_check.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "store/s3/content_tag.h"

namespace trainwarden::copy {
namespace {

constexpr std::uint64_t kComparedBytes = std::uint64_t{4} << 20;

std::string text_of(const storage::ContentTag& tag) {
  return tag.parts == 0 ? tag.digest : fmt::format("{}-{}", tag.digest, tag.parts);
}

Result<Sameness> compare_range(FileReader& reader, const TaggedRange& range) {
  const auto tag = storage::parse_content_tag(range.etag);
  if (!tag) return Sameness::kUnknown;
  const auto read = [&](std::uint64_t offset, MutableByteSpan destination) {
    return reader.read(range.offset + offset, destination);
  };
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string found, storage::content_tag_of(range.bytes, range.part_bytes, read));
  if (found == text_of(*tag)) return Sameness::kSame;
  return range.is_guess ? Sameness::kUnknown : Sameness::kOther;
}

}  // namespace

Result<Sameness> compare_with_tags(FileReader& reader, std::uint64_t bytes, const std::vector<TaggedRange>& tags) {
  std::uint64_t covered = 0;
  for (const TaggedRange& range : tags) {
    if (range.offset != covered) return Sameness::kUnknown;
    covered += range.bytes;
  }
  if (covered != bytes || tags.empty()) return Sameness::kUnknown;
  for (const TaggedRange& range : tags) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Sameness sameness, compare_range(reader, range));
    if (sameness != Sameness::kSame) return sameness;
  }
  return Sameness::kSame;
}

Result<Sameness> compare_bytes(FileReader& a, FileReader& b, std::uint64_t bytes, const std::stop_token& stop) {
  std::string in_a, in_b;
  for (std::uint64_t at = 0; at < bytes; at += in_a.size()) {
    if (stop.stop_requested()) return Status(Code::kCancelled, "left while files were compared");
    in_a.resize(std::min(kComparedBytes, bytes - at));
    in_b.resize(in_a.size());
    TRAINWARDEN_RETURN_IF_ERROR(a.read(at, std::as_writable_bytes(std::span(in_a))));
    TRAINWARDEN_RETURN_IF_ERROR(b.read(at, std::as_writable_bytes(std::span(in_b))));
    if (in_a != in_b) return Sameness::kOther;
  }
  return Sameness::kSame;
}

Result<Sameness> compare_files(CopyEnd& a, const CopyFile& in_a, CopyEnd& b, const CopyFile& in_b, bool reads_both,
                               const std::stop_token& stop) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto reader_a, a.open(in_a));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto reader_b, b.open(in_b));
  // The end without objects is the one that is read for less.
  const bool a_is_bucket = !in_a.parts.empty(), b_is_bucket = !in_b.parts.empty();
  if (a_is_bucket != b_is_bucket) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto tags, a_is_bucket ? a.tags(in_a) : b.tags(in_b));
    TRAINWARDEN_ASSIGN_OR_RETURN(Sameness sameness,
                                 compare_with_tags(a_is_bucket ? *reader_b : *reader_a, in_a.bytes, tags));
    if (sameness != Sameness::kUnknown) return sameness;
  }
  return reads_both ? compare_bytes(*reader_a, *reader_b, in_a.bytes, stop) : Result<Sameness>(Sameness::kUnknown);
}

}  // namespace trainwarden::copy
