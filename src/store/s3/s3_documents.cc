#include "store/s3/s3_documents.h"

#include <pugixml.hpp>

#include <sstream>

#include <fmt/format.h>

#include "core/base/rfc3339.h"
#include "core/base/text.h"

namespace trainwarden::storage {
namespace {

constexpr std::size_t kMaxTokenBytes = 8192;
constexpr std::int64_t kMaxPartNumber = 10'000;

// Of no external thing: pugixml resolves none, and has no entities of documents.
bool load(pugi::xml_document& document, std::string_view text) {
  return static_cast<bool>(document.load_buffer(text.data(), text.size(), pugi::parse_default));
}

Status damaged(std::string_view expected) {
  return Status(Code::kDataLoss, fmt::format("expected {} in the answer of S3", expected));
}

int digit_of(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// What is wrong with its encoding stays as it is. A '+' is a blank, as in forms: that is how S3 writes one.
std::string decode_url(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = i + 2 < text.size() && text[i] == '%' ? digit_of(text[i + 1]) : -1;
    const int low = high >= 0 ? digit_of(text[i + 2]) : -1;
    decoded += low >= 0 ? static_cast<char>(high * 16 + low) : text[i] == '+' ? ' ' : text[i];
    if (low >= 0) i += 2;
  }
  return decoded;
}

Result<ListedObject> object_of(const pugi::xml_node& node) {
  const auto bytes = parse_int(node.child_value("Size"));
  ListedObject object{.key = decode_url(node.child_value("Key")), .info = {}};
  if (object.key.empty() || !bytes || *bytes < 0 || static_cast<std::uint64_t>(*bytes) > kMaxObjectBytes)
    return damaged("Key and Size");
  object.info.bytes = static_cast<std::uint64_t>(*bytes);
  object.info.changed_unix_ns = parse_rfc3339(node.child_value("LastModified")).value_or(0);
  object.info.etag = node.child_value("ETag");
  return object;
}

}  // namespace

Result<ObjectPage> parse_object_page(std::string_view text) {
  pugi::xml_document document;
  const bool is_loaded = load(document, text);
  const pugi::xml_node root = document.child("ListBucketResult");
  if (!is_loaded || !root) return damaged("ListBucketResult");
  ObjectPage page;
  for (const pugi::xml_node& node : root.children("Contents")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(ListedObject object, object_of(node));
    page.objects.push_back(std::move(object));
  }
  for (const pugi::xml_node& node : root.children("CommonPrefixes")) {
    page.prefixes.push_back(decode_url(node.child_value("Prefix")));
  }
  const bool is_cut = std::string_view(root.child_value("IsTruncated")) == "true";
  if (is_cut) page.next = root.child_value("NextContinuationToken");
  if (is_cut && (page.next.empty() || page.next.size() > kMaxTokenBytes)) return damaged("NextContinuationToken");
  return page;
}

Result<UploadPage> parse_upload_page(std::string_view text) {
  pugi::xml_document document;
  const bool is_loaded = load(document, text);
  const pugi::xml_node root = document.child("ListMultipartUploadsResult");
  if (!is_loaded || !root) return damaged("ListMultipartUploadsResult");
  UploadPage page;
  for (const pugi::xml_node& node : root.children("Upload")) {
    page.uploads.push_back({.key = decode_url(node.child_value("Key")),
                            .id = node.child_value("UploadId"),
                            .begun_unix_ns = parse_rfc3339(node.child_value("Initiated")).value_or(0)});
  }
  if (std::string_view(root.child_value("IsTruncated")) == "true") {
    page.next_key = decode_url(root.child_value("NextKeyMarker"));
    page.next_id = root.child_value("NextUploadIdMarker");
    if (page.next_key.empty()) return damaged("NextKeyMarker");
  }
  return page;
}

Result<PartPage> parse_part_page(std::string_view text) {
  pugi::xml_document document;
  const bool is_loaded = load(document, text);
  pugi::xml_node root = document.child("ListPartsResult");
  if (!root) root = document.child("ListPartsResponse");  // as moto has it
  if (!is_loaded || !root) return damaged("ListPartsResult");
  PartPage page;
  for (const pugi::xml_node& node : root.children("Part")) {
    const auto number = parse_int(node.child_value("PartNumber"));
    const auto bytes = parse_int(node.child_value("Size"));
    if (!number || *number < 1 || *number > kMaxPartNumber || !bytes || *bytes < 0)
      return damaged("PartNumber and Size");
    page.parts.push_back({.number = static_cast<int>(*number),
                          .bytes = static_cast<std::uint64_t>(*bytes),
                          .etag = node.child_value("ETag")});
  }
  if (std::string_view(root.child_value("IsTruncated")) == "true") {
    page.next = root.child_value("NextPartNumberMarker");
    if (page.next.empty()) return damaged("NextPartNumberMarker");
  }
  return page;
}

std::string parse_result_etag(std::string_view text) {
  pugi::xml_document document;
  if (!load(document, text)) return "";
  const pugi::xml_node completed = document.child("CompleteMultipartUploadResult");
  return (completed ? completed : document.child("CopyObjectResult")).child_value("ETag");
}

Result<std::string> parse_upload_id(std::string_view text) {
  pugi::xml_document document;
  const bool is_loaded = load(document, text);
  std::string id = document.child("InitiateMultipartUploadResult").child_value("UploadId");
  if (!is_loaded || id.empty()) return damaged("UploadId");
  return id;
}

std::string completed_upload(const std::vector<std::string>& etags) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("CompleteMultipartUpload");
  root.append_attribute("xmlns") = "http://s3.amazonaws.com/doc/2006-03-01/";
  for (std::size_t i = 0; i < etags.size(); ++i) {
    pugi::xml_node part = root.append_child("Part");
    part.append_child("PartNumber").text().set(static_cast<unsigned long long>(i + 1));
    part.append_child("ETag").text().set(etags[i].c_str());
  }
  std::ostringstream text;
  document.save(text, "", pugi::format_raw);
  return text.str();
}

std::string parse_error_code(std::string_view text) {
  pugi::xml_document document;
  if (!load(document, text)) return "";
  return document.child("Error").child_value("Code");
}

}  // namespace trainwarden::storage
