#include "ui/answers/one_file_page.h"

#include <fmt/format.h>
#include <zlib.h>

#include "ui/answers/page_file.h"
#include "ui/answers/percent.h"
#include "ui/answers/replies.h"
#include "ui/answers/run_archive.h"

namespace trainwarden::answers {
namespace {

constexpr std::string_view kPlace = "<!--TRAINWARDEN-ANSWERS-->";  // of the answers (web/vite.onefile.config.ts)

// A safetensors document of bytes "0", "1", ..., whose metadata names their addresses (web/src/data/archive.ts).
std::string document_of(const RunArchive& archive) {
  ArraysReply arrays;
  format::OrderedJson addresses = format::OrderedJson::array();
  for (std::size_t i = 0; i < archive.answers.size(); ++i) {
    const std::string& body = *archive.answers[i].body;
    arrays.add(std::to_string(i), DType::kUInt8, {static_cast<std::int64_t>(body.size())}, body);
    addresses.push_back(archive.answers[i].address);
  }
  arrays.note_json("addresses", addresses);
  return *std::move(arrays).to_reply().body;
}

Result<std::string> compress(const std::string& bytes) {
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return Status(Code::kResourceExhausted, "no memory to compress the answers");
  }
  std::string compressed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  const int ended = deflate(&stream, Z_FINISH);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  if (ended != Z_STREAM_END) return Status(Code::kInternal, "the answers could not be compressed");
  return compressed;
}

// RFC 4648, section 4.
std::string base64_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) -> unsigned {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U;
    };
    const unsigned bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    text += kDigits[bits >> 18];
    text += kDigits[bits >> 12 & 63];
    text += i + 1 < bytes.size() ? kDigits[bits >> 6 & 63] : '=';
    text += i + 2 < bytes.size() ? kDigits[bits & 63] : '=';
  }
  return text;
}

}  // namespace

Result<OneFilePage> one_file_page(const storage::Location& run, const ArchiveChoice& choice,
                                  const OneFileStart& start) {
  const page::File* file = find_page_file("one_file/index.html");
  if (file == nullptr) {
    return Status(Code::kFailedPrecondition,
                  "this trainwarden was built without its page (docs/guide/page.md); one that has it can write it");
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(std::string html, decompress(*file));
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunArchive archive, archive_run(run, choice));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string compressed, compress(document_of(archive)));
  const std::size_t place = html.find(kPlace);
  if (place == std::string::npos) return Status(Code::kInternal, "the page has no place for a run's answers");
  // The name is escaped for an address: nothing of it means anything in HTML.
  const std::string shown = encode_percent(archive.run_name) + (start.view.empty() ? "" : "/" + start.view);
  const std::string element = fmt::format("<script type=\"text/plain\" id=\"answers\" data-run=\"{}\">{}</script>",
                                          shown, base64_of(compressed));
  html.replace(place, kPlace.size(), element);
  if (const std::size_t line = html.find('\n'); !start.mark.empty() && line != std::string::npos) {
    html.insert(line + 1, start.mark + "\n");
  }
  return OneFilePage{std::move(html), archive.answers.size(), archive.left_out, archive.profile};
}

}  // namespace trainwarden::answers
