#include "read/trial/smdebug/index_reader.h"

#include <algorithm>
#include <system_error>
#include <thread>

#include "core/base/no_throw.h"
#include "store/journal/segment_decoder.h"

namespace trainwarden::trial {
namespace {

// Reading and parsing one file takes some microseconds, starting a thread some tens.
constexpr std::size_t kFilesPerThread = 128;
constexpr std::size_t kMaxThreads = 4;
constexpr std::size_t kLargeBytes = 1 << 20;
constexpr std::size_t kFilesAtOnce = 16;  // that a thread takes for itself

std::size_t thread_count(std::size_t files) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return std::clamp<std::size_t>(files / kFilesPerThread, 1, std::min(cores, kMaxThreads));
}

}  // namespace

std::span<const ReadIndex> IndexReader::read(std::span<const IndexFile> files) {
  const std::size_t threads = thread_count(files.size());
  while (parsers_.size() < threads) parsers_.push_back(std::make_unique<foreign::SmdebugIndexParser>());
  if (results_.size() < files.size()) results_.resize(files.size());
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> helpers;
    try {
      for (std::size_t i = 1; i < threads; ++i) {
        helpers.emplace_back([&, i] { work(files, next, *parsers_[i]); });
      }
    } catch (const std::system_error&) {
      // No more threads are to be had: those that there are do the work.
    }
    work(files, next, *parsers_[0]);
  }
  return std::span(results_).first(files.size());
}

void IndexReader::work(std::span<const IndexFile> files, std::atomic<std::size_t>& next,
                       foreign::SmdebugIndexParser& parser) {
  for (;;) {
    const std::size_t first = next.fetch_add(kFilesAtOnce, std::memory_order_relaxed);
    if (first >= files.size()) return;
    const std::size_t last = std::min(first + kFilesAtOnce, files.size());
    for (std::size_t i = first; i < last; ++i) read(files[i], parser, results_[i]);
  }
}

void IndexReader::read(const IndexFile& file, foreign::SmdebugIndexParser& parser, ReadIndex& result) {
  result.file_bytes = 0;
  result.status = no_throw([&]() -> Status {
    if (unusable_bytes_ > kMostUnusableBytes)
      return Status(Code::kResourceExhausted, std::string(journal::kOverBudget));
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string json, storage_.read(file.path));
    result.file_bytes = json.size();
    if (json.size() <= kLargeBytes) return parser.parse(json, result.index);
    const std::scoped_lock lock(large_);
    return foreign::SmdebugIndexParser().parse(json, result.index);
  });
  if (!result.status.ok()) unusable_bytes_ += result.file_bytes;
}

}  // namespace trainwarden::trial
