// Whether bytes are those that they are to be.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "store/copy/copy_end.h"

namespace trainwarden::copy {

enum class Sameness { kSame, kOther, kUnknown };

// Of all bytes of a file. kUnknown: the tags say nothing of them.
Result<Sameness> compare_with_tags(FileReader& reader, std::uint64_t bytes, const std::vector<TaggedRange>& tags);

// Reads both.
Result<Sameness> compare_bytes(FileReader& a, FileReader& b, std::uint64_t bytes, const std::stop_token& stop);

// By the tags of the end that has them, else by reading both. The files have the same size.
Result<Sameness> compare_files(CopyEnd& a, const CopyFile& in_a, CopyEnd& b, const CopyFile& in_b, bool reads_both,
                               const std::stop_token& stop);

}  // namespace trainwarden::copy
