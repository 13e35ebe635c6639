#include "ui/cli/commands/trace_file.h"

#include <algorithm>
#include <string>
#include <utility>

#include <zlib.h>

namespace trainwarden::cli {
namespace {

class PlainTraceFile final : public TraceFile {
 public:
  Status open(const std::filesystem::path& path) {
    TRAINWARDEN_ASSIGN_OR_RETURN(file_, transfer::OutputFile::create(path, tally_));
    return {};
  }
  Status append(std::string_view text) override { return file_->append(text); }
  Status commit() override { return file_->commit(); }

 private:
  std::unique_ptr<transfer::OutputFile> file_;
};

class GzipTraceFile final : public TraceFile {
 public:
  GzipTraceFile() = default;
  ~GzipTraceFile() override {
    if (begun_) deflateEnd(&stream_);
  }
  GzipTraceFile(const GzipTraceFile&) = delete;
  GzipTraceFile& operator=(const GzipTraceFile&) = delete;

  Status open(const std::filesystem::path& path) {
    constexpr int kLevel = 3;  // a tenth is left already; more takes three times as long
    constexpr int kGzip = 16 + MAX_WBITS;
    constexpr int kMemory = 8;
    TRAINWARDEN_ASSIGN_OR_RETURN(file_, transfer::OutputFile::create(path, tally_));
    begun_ = deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) == Z_OK;
    return begun_ ? Status() : Status(Code::kResourceExhausted, "no memory to compress the trace");
  }

  Status append(std::string_view text) override {
    while (!text.empty()) {
      const std::size_t piece = std::min(text.size(), kLargestPiece);
      TRAINWARDEN_RETURN_IF_ERROR(compress(text.substr(0, piece), Z_NO_FLUSH));
      text.remove_prefix(piece);
    }
    return {};
  }

  Status commit() override {
    TRAINWARDEN_RETURN_IF_ERROR(compress({}, Z_FINISH));
    return file_->commit();
  }

 private:
  static constexpr std::size_t kLargestPiece = std::size_t{1} << 30;  // zlib counts in 32 bits

  Status compress(std::string_view text, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed_.data());
      stream_.avail_out = static_cast<uInt>(packed_.size());
      if (deflate(&stream_, flush) == Z_STREAM_ERROR) return Status(Code::kInternal, "the trace cannot be compressed");
      TRAINWARDEN_RETURN_IF_ERROR(
          file_->append(std::string_view(packed_).substr(0, packed_.size() - stream_.avail_out)));
    } while (stream_.avail_out == 0);
    return {};
  }

  std::unique_ptr<transfer::OutputFile> file_;
  z_stream stream_{};
  bool begun_ = false;
  std::string packed_ = std::string(std::size_t{1} << 18, '\0');
};

template <class File>
Result<std::unique_ptr<TraceFile>> open_as(const std::filesystem::path& path) {
  auto file = std::make_unique<File>();
  TRAINWARDEN_RETURN_IF_ERROR(file->open(path));
  return std::unique_ptr<TraceFile>(std::move(file));
}

}  // namespace

Result<std::unique_ptr<TraceFile>> TraceFile::create(const std::filesystem::path& path) {
  return path.extension() == ".gz" ? open_as<GzipTraceFile>(path) : open_as<PlainTraceFile>(path);
}

}  // namespace trainwarden::cli
