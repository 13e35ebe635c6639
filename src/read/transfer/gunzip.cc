#include "read/transfer/gunzip.h"

#include <algorithm>
#include <array>
#include <limits>

#include <zlib.h>

#include <fmt/format.h>

#include "core/base/dynamic_library.h"

namespace trainwarden::transfer {
namespace {

struct Zlib {
  decltype(&::inflateInit2_) begin;
  decltype(&::inflate) inflate;
  decltype(&::inflateEnd) end;
};

Result<Zlib> load_zlib() {
  constexpr std::array kLibraries = {"libz.so.1"};
  auto library = DynamicLibrary::load(kLibraries);
  if (!library.ok()) {
    return Status(Code::kUnavailable,
                  fmt::format("compressed traces need zlib, which is not installed ({}); install the package zlib1g",
                              library.status().message()));
  }
  Zlib zlib{};
  library->find("inflateInit2_", zlib.begin);
  library->find("inflate", zlib.inflate);
  library->find("inflateEnd", zlib.end);
  if (library->missing().empty()) return zlib;
  return Status(Code::kUnavailable, fmt::format("the zlib that is installed has no {}", library->missing()));
}

Status inflate_all(const Zlib& zlib, z_stream& stream, std::uint64_t most_bytes, std::string& text) {
  constexpr std::size_t kPiece = 1 << 18;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream.avail_out = kPiece;
    const int outcome = zlib.inflate(&stream, Z_NO_FLUSH);
    text.resize(before + kPiece - stream.avail_out);
    if (outcome == Z_STREAM_END) return {};
    if (outcome != Z_OK || (text.size() == before && stream.avail_in == 0)) {
      return Status(Code::kDataLoss, "damaged gzip: it cannot be decompressed to its end");
    }
    if (text.size() > most_bytes) {
      return Status(Code::kResourceExhausted, fmt::format("it is larger than {} bytes when decompressed", most_bytes));
    }
  }
}

}  // namespace

Result<std::string> gunzip(std::string_view packed, std::uint64_t most_bytes) {
  static const Result<Zlib> zlib = load_zlib();
  if (!zlib.ok()) return zlib.status();
  if (packed.size() > std::numeric_limits<uInt>::max()) {
    return Status(Code::kResourceExhausted, "more than 4 GiB in one compressed file");
  }
  constexpr int kGzip = 16 + MAX_WBITS;
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  if (zlib->begin(&stream, kGzip, ZLIB_VERSION, static_cast<int>(sizeof(stream))) != Z_OK) {
    return Status(Code::kResourceExhausted, "no memory to decompress");
  }
  std::string text;
  const Status status = inflate_all(*zlib, stream, most_bytes, text);
  zlib->end(&stream);
  if (!status.ok()) return status;
  return text;
}

}  // namespace trainwarden::transfer
