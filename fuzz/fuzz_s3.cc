// What a server of S3, a service for credentials or a user's own files say: each is refused with a message, or within
// what the parsers promise. The first byte chooses.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "store/s3/appended_file.h"
#include "store/s3/aws_profile.h"
#include "store/s3/credentials.h"
#include "store/s3/listing_cache.h"
#include "store/s3/s3_address.h"
#include "store/s3/s3_documents.h"

namespace {

using namespace trainwarden;
using namespace trainwarden::storage;

void check_refused(const Status& status, Code expected) {
  if (!status.ok() && (status.code() != expected || status.message().empty())) std::abort();
}

// Names in a folder are files that can be opened, each once.
void list_folder(std::string_view text) {
  auto page = parse_object_page(text);
  check_refused(page.status(), Code::kDataLoss);
  if (!page.ok()) return;
  const DeepListing listing(std::move(page->objects));
  for (const std::string beginning : {"", "runs/", "runs/first/"}) {
    std::string last;
    for (const Entry& entry : listing.entries(beginning)) {
      if (entry.name <= last || entry.name.find('/') != std::string::npos) std::abort();
      last = entry.name;
      const bool is_file = entry.info.kind == FileInfo::Kind::kFile;
      if (is_file && bytes_of(listing.parts(beginning + entry.name)) != entry.info.bytes) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  if (bytes == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, bytes - 1);
  switch (data[0] % 5) {
    case 0: list_folder(text); break;
    case 1:
      parse_error_code(text);
      check_refused(parse_upload_id(text).status(), Code::kDataLoss);
      break;
    case 2: check_refused(parse_credentials(text).status(), Code::kDataLoss); break;
    case 3: aws_section(text, "default"); break;
    default: check_refused(parse_s3_address("s3://" + std::string(text)).status(), Code::kInvalidArgument); break;
  }
  return 0;
}
