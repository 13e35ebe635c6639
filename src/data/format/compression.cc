#include "data/format/compression.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace trainwarden::format {
namespace {

// bench/compression_bench.cc: higher levels take several times as long and gain a tenth.
constexpr int kLevel = 1;
constexpr std::uint64_t kMinContentBytes = 1024;  // shorter ones gain little, and each is a call where it is read
// Within what a 64-bit length may be, and far above what any step says in words.
constexpr std::uint64_t kMaxContentBytes = std::uint64_t{1} << 32;
constexpr std::uint32_t kZstdMagic = ZSTD_MAGICNUMBER;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// A context takes as long to make as a small payload to compress, so that each thread keeps one.
ZSTD_CCtx* compressing() {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  return context.get();
}

ZSTD_DCtx* decompressing() {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  return context.get();
}

// On the disk frames end at multiples of kFrameAlignment.
bool is_worth_it(std::uint64_t content_bytes, std::uint64_t packed_bytes) {
  const std::uint64_t before = align_up(content_bytes, kFrameAlignment);
  return align_up(packed_bytes, kFrameAlignment) <= before - before / 8 &&
         packed_bytes * kMaxCompression >= content_bytes;
}

Status damaged_compression(std::size_t zstd_error) {
  return Status(Code::kDataLoss,
                fmt::format("a compressed payload that is damaged: {}", ZSTD_getErrorName(zstd_error)));
}

std::string joined(std::span<const ByteSpan> parts, std::uint64_t bytes) {
  std::string whole;
  whole.reserve(bytes);
  for (const ByteSpan part : parts) whole.append(as_text(part));
  return whole;
}

}  // namespace

bool may_be_compressed(FrameKind kind) {
  switch (kind) {
    case FrameKind::kNames:
    case FrameKind::kStatistics:
    case FrameKind::kScalars:
    case FrameKind::kReductions:
    case FrameKind::kSamples:
    case FrameKind::kOperators:
    case FrameKind::kEvent:
    case FrameKind::kVerdict:
    case FrameKind::kAction: return true;
    default: return false;
  }
}

std::optional<std::string> compress_payload(std::span<const ByteSpan> parts) {
  std::uint64_t bytes = 0;
  for (const ByteSpan part : parts) bytes += part.size();
  if (bytes < kMinContentBytes || bytes > kMaxContentBytes || compressing() == nullptr) return std::nullopt;
  const std::string together = parts.size() > 1 ? joined(parts, bytes) : std::string();
  const ByteSpan whole = parts.size() > 1 ? as_bytes(together) : parts.front();
  std::string packed(ZSTD_compressBound(bytes), '\0');
  const std::size_t size =
      ZSTD_compressCCtx(compressing(), packed.data(), packed.size(), whole.data(), whole.size(), kLevel);
  if (ZSTD_isError(size) != 0 || !is_worth_it(bytes, size)) return std::nullopt;
  packed.resize(size);
  return packed;
}

Result<std::uint64_t> content_bytes(ByteSpan payload) {
  // Neither a frame that is to be skipped nor one of zstd before version 0.8, both of which the library would take.
  if (payload.size() < sizeof(kZstdMagic) || load_le<std::uint32_t>(payload, 0) != kZstdMagic) {
    return Status(Code::kDataLoss, "a compressed payload that is no frame of zstd");
  }
  const unsigned long long bytes = ZSTD_getFrameContentSize(payload.data(), payload.size());
  if (bytes == ZSTD_CONTENTSIZE_ERROR || bytes == ZSTD_CONTENTSIZE_UNKNOWN) {
    return Status(Code::kDataLoss, "a compressed payload that does not say how long its content is");
  }
  if (bytes > kMaxContentBytes || bytes > kMaxCompression * payload.size()) {
    return Status(Code::kDataLoss, fmt::format("a compressed payload of {} bytes whose content would have {}, more "
                                               "than {} times as many",
                                               payload.size(), bytes, kMaxCompression));
  }
  return bytes;
}

Status decompress_payload(ByteSpan payload, std::vector<std::byte>& content) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t bytes, content_bytes(payload));
  const std::size_t frame_bytes = ZSTD_findFrameCompressedSize(payload.data(), payload.size());
  if (ZSTD_isError(frame_bytes) != 0) return damaged_compression(frame_bytes);
  if (frame_bytes != payload.size()) {
    return Status(Code::kDataLoss,
                  fmt::format("a compressed payload of {} bytes that ends after {}", payload.size(), frame_bytes));
  }
  if (decompressing() == nullptr) return Status(Code::kResourceExhausted, "out of memory for decompression");
  content.resize(bytes);
  const std::size_t size =
      ZSTD_decompressDCtx(decompressing(), content.data(), content.size(), payload.data(), payload.size());
  if (ZSTD_isError(size) != 0) return damaged_compression(size);
  if (size == bytes) return Status();
  return Status(Code::kDataLoss,
                fmt::format("a compressed payload whose content has {} bytes and should have {}", size, bytes));
}

}  // namespace trainwarden::format
