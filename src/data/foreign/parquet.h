// Parquet: a table by columns. What a table of numbers and names needs of it: columns of one level, pages that are
// packed by gzip, names as numbers of a dictionary. Source: parquet.apache.org, "File Format"; the thrift of
// apache/parquet-format.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trainwarden::foreign {

enum class ParquetType : std::uint8_t {
  kInt64,
  kUint64,
  kTimeNs,  // since 1970, in UTC
  kDouble,
  kText,  // UTF-8
};

struct ParquetColumn {
  std::string name;
  ParquetType type = ParquetType::kInt64;
  bool optional = false;
};

// Writes a file from its beginning to its end. Its bytes gather in `out`, from where they may be taken at any time.
class ParquetEncoder {
 public:
  explicit ParquetEncoder(std::vector<ParquetColumn> columns);

  std::string out;

  // A row is a value of each column, in any order; an optional column that gets none is null in this row. end_row()
  // after each.
  void set_int(std::size_t column, std::int64_t value);
  void set_double(std::size_t column, double value);
  void set_text(std::size_t column, std::string_view value);
  void end_row();
  // The rest of the rows, and what the file holds. Once, and nothing after it.
  void finish(std::string_view created_by, const std::map<std::string, std::string>& words);

 private:
  // The rows that are not written yet.
  struct Cells {
    std::string plain;                  // values one after the other, of numbers
    std::vector<std::uint32_t> places;  // of texts, in the dictionary
    std::vector<bool> present;          // of an optional column, for each row
    std::unordered_map<std::string, std::uint32_t> dictionary;
    std::string dictionary_plain;
    std::size_t rows = 0;
  };
  struct ColumnChunk {
    std::uint64_t dictionary_offset = 0;  // 0: none
    std::uint64_t data_offset = 0;
    std::uint64_t bytes = 0;      // as they lie in the file
    std::uint64_t raw_bytes = 0;  // unpacked
  };
  struct RowGroup {
    std::vector<ColumnChunk> chunks;
    std::uint64_t rows = 0;
  };

  void emit(std::string_view bytes);
  void note_present(std::size_t column);
  void end_group();
  ColumnChunk write_column(const ParquetColumn& column, Cells& cells);
  std::string footer(std::string_view created_by, const std::map<std::string, std::string>& words) const;

  const std::vector<ParquetColumn> columns_;
  std::vector<Cells> cells_;
  std::uint64_t offset_ = 0;    // of the byte behind `out`, in the file
  std::size_t rows_ = 0;        // of the group that is gathered
  std::size_t text_bytes_ = 0;  // in its dictionaries
  std::vector<RowGroup> groups_;
};

}  // namespace trainwarden::foreign
