#include "ui/answers/page_file.h"

#include <algorithm>

#include <fmt/format.h>
#include <page_files.h>
#include <zlib.h>

namespace trainwarden::answers {

const page::File* find_page_file(std::string_view path) {
  const auto files = page::files();
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const page::File& file) { return file.path == path; });
  return found == files.end() ? nullptr : &*found;
}

Result<std::string> decompress(const page::File& file) {
  std::string bytes(file.bytes, '\0');
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzip) != Z_OK) return Status(Code::kResourceExhausted, "no memory to decompress the page");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.gzip.data()));
  stream.avail_in = static_cast<uInt>(file.gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  const int ended = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (ended != Z_STREAM_END) return Status(Code::kInternal, fmt::format("{} of the page is damaged", file.path));
  return bytes;
}

}  // namespace trainwarden::answers
