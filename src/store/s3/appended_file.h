// How a file that grows lies in a bucket, whose objects cannot: as objects beside each other, one for each append,
//
//   seg-00000001.tw.~0000000000       empty, made when the file is
//   seg-00000001.tw.~0000000001       the first piece, and so on
//
// until the whole file lies there under its own name, which then stands for it alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/s3/s3_documents.h"

namespace trainwarden::storage {

inline constexpr std::string_view kPieceMark = ".~";

std::string piece_name(std::string_view file, std::uint64_t number);

struct PieceName {
  std::string_view file;
  std::uint64_t number = 0;
};
// Nothing: it is the name of a file of its own.
std::optional<PieceName> parse_piece_name(std::string_view name);

// One object of a file: its bytes are those of the file from `offset`.
struct FilePart {
  std::string key;
  std::uint64_t offset = 0;
  ObjectInfo info;
};

// Those of the pieces that follow one another from number `parts.size()`; one that is missing ends the file for now.
void add_pieces(std::vector<FilePart>& parts, const std::vector<ListedObject>& pieces);
std::uint64_t bytes_of(const std::vector<FilePart>& parts);

}  // namespace trainwarden::storage
