#include "data/foreign/parquet.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include <zlib.h>

#include "data/foreign/thrift_compact.h"

namespace trainwarden::foreign {
namespace {

constexpr std::string_view kParquetMagic = "PAR1";
constexpr std::size_t kGroupRows = std::size_t{1} << 16;
constexpr std::size_t kGroupTextBytes = std::size_t{64} << 20;

// The numbers of parquet.thrift.
constexpr std::int32_t kPhysicalInt64 = 2, kPhysicalDouble = 5, kPhysicalBytes = 6;
constexpr std::int32_t kRequired = 0, kOptional = 1;
constexpr std::int32_t kPlain = 0, kRle = 3, kRleDictionary = 8;
constexpr std::int32_t kGzip = 2;
constexpr std::int32_t kDataPage = 0, kDictionaryPage = 2;
constexpr std::int32_t kConvertedUtf8 = 0, kConvertedUint64 = 14;

template <class T>
void put_raw(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// Numbers of `width` bits, packed one behind the other from the lowest bit on, in one run of whole groups of eight.
template <class Numbers>
std::string bit_packed(const Numbers& numbers, int width) {
  std::string bytes;
  put_varint(bytes, (((numbers.size() + 7) / 8) << 1) | 1);
  std::uint64_t gathered = 0;
  int bits = 0;
  const std::size_t whole = (numbers.size() + 7) / 8 * 8;
  for (std::size_t i = 0; i < whole; ++i) {
    const std::uint64_t number = i < numbers.size() ? static_cast<std::uint64_t>(numbers[i]) : 0;
    gathered |= number << bits;
    for (bits += width; bits >= 8; bits -= 8, gathered >>= 8) bytes += static_cast<char>(gathered);
  }
  return bytes;
}

std::int32_t physical_type(ParquetType type) {
  switch (type) {
    case ParquetType::kDouble: return kPhysicalDouble;
    case ParquetType::kText: return kPhysicalBytes;
    case ParquetType::kInt64:
    case ParquetType::kUint64:
    case ParquetType::kTimeNs: break;
  }
  return kPhysicalInt64;
}

// Packed as gzip does. A page is some megabytes at most; zlib fails only where there is no memory, which throws here as
// everywhere.
std::string gzipped(std::string_view bytes) {
  constexpr int kGzipWindow = 15 + 16;
  z_stream stream{};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string packed(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int ended = ::deflate(&stream, Z_FINISH);
  packed.erase(std::min<std::size_t>(stream.total_out, packed.size()));
  ::deflateEnd(&stream);
  if (ended != Z_STREAM_END) throw std::bad_alloc();
  return packed;
}

// Header and packed bytes.
std::string page(std::int32_t kind, std::int32_t encoding, std::size_t values, std::string_view raw,
                 std::uint64_t& raw_bytes) {
  const std::string packed = gzipped(raw);
  ThriftWriter header;
  header.int32(1, kind);
  header.int32(2, static_cast<std::int32_t>(raw.size()));
  header.int32(3, static_cast<std::int32_t>(packed.size()));
  header.begin_struct(kind == kDataPage ? 5 : 7);
  header.int32(1, static_cast<std::int32_t>(values));
  header.int32(2, encoding);
  if (kind == kDataPage) {
    header.int32(3, kRle);  // of definition levels
    header.int32(4, kRle);  // of repetition levels, which are none
  }
  header.end_struct();
  std::string bytes = header.finish();
  raw_bytes += bytes.size() + raw.size();
  return bytes + packed;
}

void write_schema(ThriftWriter& file, const ParquetColumn& column) {
  file.begin_element();
  file.int32(1, physical_type(column.type));
  file.int32(3, column.optional ? kOptional : kRequired);
  file.text(4, column.name);
  if (column.type == ParquetType::kText) file.int32(6, kConvertedUtf8);
  if (column.type == ParquetType::kUint64) file.int32(6, kConvertedUint64);
  if (column.type == ParquetType::kText) {
    file.begin_struct(10);
    file.begin_struct(1);  // a string
    file.end_struct();
    file.end_struct();
  } else if (column.type == ParquetType::kTimeNs) {
    file.begin_struct(10);
    file.begin_struct(8);   // a timestamp
    file.boolean(1, true);  // in UTC
    file.begin_struct(2);
    file.begin_struct(3);  // in nanoseconds
    file.end_struct();
    file.end_struct();
    file.end_struct();
    file.end_struct();
  } else if (column.type == ParquetType::kUint64) {
    file.begin_struct(10);
    file.begin_struct(10);  // an integer
    file.byte(1, 64);
    file.boolean(2, false);  // without a sign
    file.end_struct();
    file.end_struct();
  }
  file.end_struct();
}

}  // namespace

ParquetEncoder::ParquetEncoder(std::vector<ParquetColumn> columns)
    : columns_(std::move(columns)), cells_(columns_.size()) {
  emit(kParquetMagic);
}

void ParquetEncoder::emit(std::string_view bytes) {
  out += bytes;
  offset_ += bytes.size();
}

void ParquetEncoder::note_present(std::size_t column) {
  if (columns_[column].optional) cells_[column].present.push_back(true);
  ++cells_[column].rows;
}

void ParquetEncoder::set_int(std::size_t column, std::int64_t value) {
  note_present(column);
  put_raw(cells_[column].plain, value);
}

void ParquetEncoder::set_double(std::size_t column, double value) {
  note_present(column);
  put_raw(cells_[column].plain, value);
}

void ParquetEncoder::set_text(std::size_t column, std::string_view value) {
  note_present(column);
  Cells& cells = cells_[column];
  const auto [found, is_new] =
      cells.dictionary.try_emplace(std::string(value), static_cast<std::uint32_t>(cells.dictionary.size()));
  if (is_new) {
    put_raw(cells.dictionary_plain, static_cast<std::uint32_t>(value.size()));
    cells.dictionary_plain += value;
    text_bytes_ += value.size();
  }
  cells.places.push_back(found->second);
}

void ParquetEncoder::end_row() {
  ++rows_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (cells_[i].rows == rows_) continue;
    cells_[i].present.push_back(false);
    ++cells_[i].rows;
  }
  if (rows_ == kGroupRows || text_bytes_ >= kGroupTextBytes) end_group();
}

void ParquetEncoder::end_group() {
  if (rows_ == 0) return;
  RowGroup group{.rows = rows_};
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    group.chunks.push_back(write_column(columns_[i], cells_[i]));
    cells_[i] = {};
  }
  groups_.push_back(std::move(group));
  rows_ = 0;
  text_bytes_ = 0;
}

ParquetEncoder::ColumnChunk ParquetEncoder::write_column(const ParquetColumn& column, Cells& cells) {
  ColumnChunk chunk;
  const std::uint64_t begin = offset_;
  const bool text = column.type == ParquetType::kText;
  if (text) {
    chunk.dictionary_offset = offset_;
    emit(page(kDictionaryPage, kPlain, cells.dictionary.size(), cells.dictionary_plain, chunk.raw_bytes));
  }
  std::string raw;
  if (column.optional) {
    const std::string levels = bit_packed(cells.present, 1);
    put_raw(raw, static_cast<std::uint32_t>(levels.size()));
    raw += levels;
  }
  if (text) {
    const int width =
        std::max(1, static_cast<int>(std::bit_width(std::max<std::size_t>(cells.dictionary.size(), 1) - 1)));
    raw += static_cast<char>(width);
    raw += bit_packed(cells.places, width);
  } else {
    raw += cells.plain;
  }
  chunk.data_offset = offset_;
  emit(page(kDataPage, text ? kRleDictionary : kPlain, cells.rows, raw, chunk.raw_bytes));
  chunk.bytes = offset_ - begin;
  return chunk;
}

std::string ParquetEncoder::footer(std::string_view created_by, const std::map<std::string, std::string>& words) const {
  ThriftWriter file;
  file.int32(1, 2);  // the version of the format
  file.list(2, ThriftType::kStruct, columns_.size() + 1);
  file.begin_element();
  file.text(4, "trainwarden");
  file.int32(5, static_cast<std::int32_t>(columns_.size()));
  file.end_struct();
  for (const ParquetColumn& column : columns_) write_schema(file, column);
  std::uint64_t rows = 0;
  for (const RowGroup& group : groups_) rows += group.rows;
  file.int64(3, static_cast<std::int64_t>(rows));
  file.list(4, ThriftType::kStruct, groups_.size());
  for (const RowGroup& group : groups_) {
    file.begin_element();
    file.list(1, ThriftType::kStruct, group.chunks.size());
    std::uint64_t raw_bytes = 0;
    for (std::size_t i = 0; i < group.chunks.size(); ++i) {
      const ColumnChunk& chunk = group.chunks[i];
      const bool text = columns_[i].type == ParquetType::kText;
      raw_bytes += chunk.raw_bytes;
      file.begin_element();
      file.int64(2, static_cast<std::int64_t>(chunk.data_offset));
      file.begin_struct(3);
      file.int32(1, physical_type(columns_[i].type));
      file.list(2, ThriftType::kInt32, text ? 3 : 2);
      file.element(kPlain);
      file.element(kRle);
      if (text) file.element(kRleDictionary);
      file.list(3, ThriftType::kBinary, 1);
      file.element(std::string_view(columns_[i].name));
      file.int32(4, kGzip);
      file.int64(5, static_cast<std::int64_t>(group.rows));
      file.int64(6, static_cast<std::int64_t>(chunk.raw_bytes));
      file.int64(7, static_cast<std::int64_t>(chunk.bytes));
      file.int64(9, static_cast<std::int64_t>(chunk.data_offset));
      if (text) file.int64(11, static_cast<std::int64_t>(chunk.dictionary_offset));
      file.end_struct();
      file.end_struct();
    }
    file.int64(2, static_cast<std::int64_t>(raw_bytes));
    file.int64(3, static_cast<std::int64_t>(group.rows));
    file.end_struct();
  }
  file.list(5, ThriftType::kStruct, words.size());
  for (const auto& [key, value] : words) {
    file.begin_element();
    file.text(1, key);
    file.text(2, value);
    file.end_struct();
  }
  file.text(6, created_by);
  return file.finish();
}

void ParquetEncoder::finish(std::string_view created_by, const std::map<std::string, std::string>& words) {
  end_group();
  const std::string end = footer(created_by, words);
  emit(end);
  std::string bytes;
  put_raw(bytes, static_cast<std::uint32_t>(end.size()));
  emit(bytes);
  emit(kParquetMagic);
}

}  // namespace trainwarden::foreign
