// A server of S3 for figures: objects in memory, a thread for each connection, no checks of who asks. It is there so
// that clients are what limits, as far as this machine allows; `curl` beside them shows how far that is.
//
// Prints "port N" once it listens. GET /-/requests: how many requests came so far.
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Header = http::request<http::empty_body>;
using Socket = asio::ip::tcp::socket;

struct Bytes {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;
};
using Part = std::shared_ptr<const Bytes>;

struct Object {
  std::vector<Part> parts;  // one after the other
  std::size_t size = 0;
  std::string etag;
};

// "/bucket/key?query", decoded as far as our clients encode.
struct Target {
  std::string path;
  std::map<std::string, std::string> query;
};

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    const bool escaped = text[i] == '%' && i + 2 < text.size() &&
                         std::from_chars(text.data() + i + 1, text.data() + i + 3, code, 16).ptr == text.data() + i + 3;
    plain += escaped ? static_cast<char>(code) : text[i];
    if (escaped) i += 2;
  }
  return plain;
}

Target parse_target(std::string_view text) {
  Target target;
  const std::size_t mark = text.find('?');
  target.path = decoded(text.substr(0, mark));
  while (mark != std::string_view::npos && text.size() > mark + 1) {
    text.remove_prefix(mark + 1);
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find('&', begin), text.size());
      const std::string_view pair = text.substr(begin, end - begin);
      const std::size_t equals = std::min(pair.find('='), pair.size());
      target.query[decoded(pair.substr(0, equals))] = equals < pair.size() ? decoded(pair.substr(equals + 1)) : "";
      begin = end + 1;
    }
    break;
  }
  return target;
}

// The chunks of "content-encoding: aws-chunked" put together: "SIZE;...\r\n" and the bytes, until a size of 0.
Bytes without_chunks(const Bytes& body, std::size_t decoded_size) {
  Bytes plain{std::make_unique_for_overwrite<char[]>(decoded_size), 0};
  const char* at = body.data.get();
  const char* const end = at + body.size;
  while (at < end) {
    std::size_t size = 0;
    const char* const digits_end = std::from_chars(at, end, size, 16).ptr;
    const auto* line_end =
        static_cast<const char*>(std::memchr(digits_end, '\n', static_cast<std::size_t>(end - digits_end)));
    if (size == 0 || line_end == nullptr || line_end + 1 + size > end || plain.size + size > decoded_size) break;
    std::memcpy(plain.data.get() + plain.size, line_end + 1, size);
    plain.size += size;
    at = line_end + 1 + size + 2;
  }
  return plain;
}

class Bucket {
 public:
  std::string put(const std::string& path, std::vector<Part> parts) {
    auto object = std::make_shared<Object>();
    for (const Part& part : parts) object->size += part->size;
    object->parts = std::move(parts);
    const std::lock_guard guard(mutex_);
    object->etag = fmt::format("\"{:032x}-1\"", ++last_etag_);
    return (objects_[path] = std::move(object))->etag;
  }
  std::shared_ptr<const Object> find(const std::string& path) {
    const std::lock_guard guard(mutex_);
    const auto found = objects_.find(path);
    return found == objects_.end() ? nullptr : found->second;
  }
  void remove(const std::string& path) {
    const std::lock_guard guard(mutex_);
    objects_.erase(path);
  }
  std::string begin_upload() {
    const std::lock_guard guard(mutex_);
    return fmt::format("upload-{}", ++last_etag_);
  }
  std::string put_part(const std::string& upload, int number, Part part) {
    const std::lock_guard guard(mutex_);
    uploads_[upload][number] = std::move(part);
    return fmt::format("\"{:032x}-1\"", ++last_etag_);
  }
  std::string end_upload(const std::string& path, const std::string& upload) {
    std::vector<Part> parts;
    {
      const std::lock_guard guard(mutex_);
      for (auto& [number, part] : uploads_[upload]) parts.push_back(std::move(part));
      uploads_.erase(upload);
    }
    return put(path, std::move(parts));
  }
  // One page of a listing of the keys behind "/bucket/" + prefix.
  std::string list(const std::string& bucket_path, const Target& target);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Object>> objects_;  // by "/bucket/key"
  std::map<std::string, std::map<int, Part>> uploads_;
  std::uint64_t last_etag_ = 0;  // tags are not of the form that a digest has, which clients would compare
};

std::string query_value(const Target& target, const std::string& name) {
  const auto found = target.query.find(name);
  return found == target.query.end() ? "" : found->second;
}

std::string Bucket::list(const std::string& bucket_path, const Target& target) {
  const std::string begin = fmt::format("{}/{}", bucket_path, query_value(target, "prefix"));
  const std::string delimiter = query_value(target, "delimiter");
  std::string after = query_value(target, "continuation-token");
  if (after.empty() && target.query.contains("start-after")) {
    after = fmt::format("{}/{}", bucket_path, query_value(target, "start-after"));
  }
  const std::string most = query_value(target, "max-keys");
  std::size_t left = most.empty() ? 1000 : std::stoul(most);
  std::string rows, last, prefix;
  bool truncated = false;
  const std::lock_guard guard(mutex_);
  for (auto found = objects_.lower_bound(std::max(begin, after)); found != objects_.end(); ++found) {
    const auto& [path, object] = *found;
    if (!path.starts_with(begin)) break;
    if (path <= after || (!prefix.empty() && path.starts_with(prefix))) continue;
    if (left-- == 0) {
      truncated = true;
      break;
    }
    const std::string_view key = std::string_view(path).substr(bucket_path.size() + 1);
    const std::size_t mark = delimiter.empty() ? std::string::npos : path.find(delimiter, begin.size());
    if (mark != std::string::npos) {
      prefix = path.substr(0, mark + 1);
      rows +=
          fmt::format("<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", prefix.substr(bucket_path.size() + 1));
    } else {
      rows += fmt::format(
          "<Contents><Key>{}</Key><LastModified>2026-11-27T00:00:00.000Z</LastModified><ETag>{}</ETag>"
          "<Size>{}</Size></Contents>",
          key, object->etag, object->size);
    }
    last = prefix.empty() ? path : prefix + "\x7f";
  }
  const std::string next =
      truncated ? fmt::format("<NextContinuationToken>{}</NextContinuationToken>", last) : std::string();
  return fmt::format(
      "<?xml version=\"1.0\" "
      "encoding=\"UTF-8\"?><ListBucketResult><IsTruncated>{}</IsTruncated>{}{}</ListBucketResult>",
      truncated, next, rows);
}

struct Answer {
  int status = 200;
  std::string headers;               // lines
  std::string text;                  // the body, or
  std::shared_ptr<const Object> of;  // these bytes of an object
  std::size_t begin = 0, end = 0;
};

std::atomic<std::uint64_t> request_count = 0;

class Connection {
 public:
  Connection(Socket socket, Bucket& bucket) : socket_(std::move(socket)), bucket_(bucket) {
    socket_.set_option(asio::ip::tcp::no_delay(true));
  }

  // Until the client goes.
  void serve() {
    boost::system::error_code error;
    while (!error) {
      http::request_parser<http::empty_body> parser;
      parser.skip(true);
      http::read_header(socket_, buffer_, parser, error);
      if (error) return;
      const Header& header = parser.get();
      const Bytes body = read_body(header, error);
      if (!error) write(header, answer(header, body), error);
    }
  }

 private:
  static std::string header_value(const Header& header, std::string_view name) {
    const auto found = header.find(boost::string_view(name.data(), name.size()));
    return found == header.end() ? "" : std::string(found->value());
  }

  Bytes read_body(const Header& header, boost::system::error_code& error) {
    const std::string length = header_value(header, "content-length");
    Bytes body;
    body.size = length.empty() ? 0 : std::stoull(length);
    if (header_value(header, "expect") == "100-continue") {
      asio::write(socket_, asio::buffer(std::string_view("HTTP/1.1 100 Continue\r\n\r\n")), error);
    }
    if (body.size == 0) return body;
    body.data = std::make_unique_for_overwrite<char[]>(body.size);
    const std::size_t taken = asio::buffer_copy(asio::buffer(body.data.get(), body.size), buffer_.data());
    buffer_.consume(taken);
    asio::read(socket_, asio::buffer(body.data.get() + taken, body.size - taken), error);
    const std::string plain = header_value(header, "x-amz-decoded-content-length");
    return plain.empty() ? std::move(body) : without_chunks(body, std::stoull(plain));
  }

  Answer answer(const Header& header, const Bytes& body) {
    const Target target = parse_target({header.target().data(), header.target().size()});
    if (target.path == "/-/requests") return {.text = fmt::format("{}", request_count.load())};
    ++request_count;
    const std::size_t slash = target.path.find('/', 1);
    const bool of_bucket = slash == std::string::npos || slash + 1 == target.path.size();
    switch (header.method()) {
      case http::verb::put: return put(target, body, of_bucket);
      case http::verb::post: return post(target);
      case http::verb::delete_: bucket_.remove(target.path); return {.status = 204};
      case http::verb::get:
      case http::verb::head:
        if (of_bucket) return {.text = bucket_.list(target.path.substr(0, slash), target)};
        return get(target, header);
      default: return {.status = 501};
    }
  }

  Answer put(const Target& target, const Bytes& body, bool of_bucket) {
    if (of_bucket) return {};
    auto part = std::make_shared<Bytes>();
    part->size = body.size;
    part->data = std::move(const_cast<Bytes&>(body).data);
    const std::string upload = query_value(target, "uploadId");
    const std::string etag =
        upload.empty() ? bucket_.put(target.path, {std::move(part)})
                       : bucket_.put_part(upload, std::stoi(query_value(target, "partNumber")), std::move(part));
    return {.headers = fmt::format("ETag: {}\r\n", etag)};
  }

  Answer post(const Target& target) {
    if (target.query.contains("uploads")) {
      return {.text = fmt::format("<?xml version=\"1.0\"?><InitiateMultipartUploadResult><UploadId>{}</UploadId>"
                                  "</InitiateMultipartUploadResult>",
                                  bucket_.begin_upload())};
    }
    const std::string etag = bucket_.end_upload(target.path, query_value(target, "uploadId"));
    return {.text = fmt::format("<?xml version=\"1.0\"?><CompleteMultipartUploadResult><ETag>{}</ETag>"
                                "</CompleteMultipartUploadResult>",
                                etag)};
  }

  Answer get(const Target& target, const Header& header) {
    Answer answer;
    answer.of = bucket_.find(target.path);
    if (!answer.of) return {.status = 404, .text = "<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code></Error>"};
    answer.end = answer.of->size;
    unsigned long long first = 0, last = 0;
    const std::string range = header_value(header, "range");
    const int found = std::sscanf(range.c_str(), "bytes=%llu-%llu", &first, &last);
    if (found >= 1 && first >= answer.of->size) return {.status = 416};
    if (found >= 1) {
      answer.status = 206;
      answer.begin = first;
      if (found == 2) answer.end = std::min<std::size_t>(answer.of->size, last + 1);
      answer.headers = fmt::format("Content-Range: bytes {}-{}/{}\r\n", answer.begin, answer.end - 1, answer.of->size);
    }
    answer.headers += fmt::format(
        "ETag: {}\r\nLast-Modified: Fri, 27 Nov 2026 00:00:00 GMT\r\nAccept-Ranges: bytes\r\n", answer.of->etag);
    return answer;
  }

  void write(const Header& header, const Answer& answer, boost::system::error_code& error) {
    const std::size_t size = answer.of ? answer.end - answer.begin : answer.text.size();
    const std::string head = fmt::format("HTTP/1.1 {} X\r\nServer: bench\r\n{}Content-Length: {}\r\n\r\n",
                                         answer.status, answer.headers, answer.status == 204 ? 0 : size);
    std::vector<asio::const_buffer> buffers = {asio::buffer(head)};
    if (header.method() != http::verb::head) {
      if (!answer.of) buffers.push_back(asio::buffer(answer.text));
      std::size_t part_begin = 0;
      for (std::size_t i = 0; answer.of && i < answer.of->parts.size(); ++i) {
        const Bytes& part = *answer.of->parts[i];
        const std::size_t from = std::max(answer.begin, part_begin), to = std::min(answer.end, part_begin + part.size);
        if (from < to) buffers.push_back(asio::buffer(part.data.get() + (from - part_begin), to - from));
        part_begin += part.size;
      }
    }
    asio::write(socket_, buffers, error);
  }

  Socket socket_;
  boost::beast::flat_buffer buffer_;
  Bucket& bucket_;
};

}  // namespace

int main() {
  asio::io_context context;
  asio::ip::tcp::acceptor acceptor(context, {asio::ip::make_address("127.0.0.1"), 0});
  std::printf("port %u\n", static_cast<unsigned>(acceptor.local_endpoint().port()));
  std::fflush(stdout);
  Bucket bucket;  // lives as long as the process, which is ended by a signal
  for (;;) {
    std::thread([socket = acceptor.accept(), &bucket]() mutable {
      try {
        Connection(std::move(socket), bucket).serve();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "bucket_server: %s\n", error.what());
      }
    }).detach();
  }
}
