#include "hook/capture/operators/call_log.h"

#include <new>

namespace trainwarden::capture {

CallLog::~CallLog() {
  Piece* piece = first_.load(std::memory_order_acquire);
  while (piece != nullptr) {
    Piece* const next = piece->next.load(std::memory_order_acquire);
    delete piece;
    piece = next;
  }
}

void CallLog::begin(std::uint32_t window, const void* key, const LoggedCall& call) {
  if (window_ != window) {
    window_ = window;
    depth_ = 0;
  }
  if (depth_ == kMaxDepth) return lose(1);
  open_[depth_++] = {key, call};
}

// What began inside it and has not ended ends in another thread, or never: where it would belong is not known.
void CallLog::end(std::uint32_t window, const void* key, std::int64_t now_ns) {
  if (window_ != window) return;
  std::size_t at = depth_;
  while (at > 0 && open_[at - 1].key != key) --at;
  if (at == 0) return;
  if (at != depth_) lose(depth_ - at);
  depth_ = at - 1;
  LoggedCall& call = open_[depth_].call;
  call.duration_ns = now_ns - call.start_ns;
  push(call);
}

void CallLog::push(const LoggedCall& call) {
  Piece* const piece = piece_with_room();
  if (piece == nullptr) return lose(1);
  const std::size_t count = piece->count.load(std::memory_order_relaxed);
  piece->calls[count] = call;
  piece->count.store(count + 1, std::memory_order_release);
}

CallLog::Piece* CallLog::piece_with_room() {
  if (last_ != nullptr && last_->count.load(std::memory_order_relaxed) < kPieceCalls) return last_;
  if (!room_.take(kPieceCalls)) return nullptr;
  Piece* const piece = new (std::nothrow) Piece;
  if (piece == nullptr) return nullptr;
  auto& place = last_ == nullptr ? first_ : last_->next;
  last_ = piece;
  place.store(piece, std::memory_order_release);
  return piece;
}

// A piece that has a next one is full: so the next one is looked at first.
void CallLog::take(std::vector<LoggedCall>& calls) {
  calls.reserve(calls.size() + taken_last_ + taken_last_ / 8);
  taken_last_ = 0;
  Piece* piece = first_.load(std::memory_order_acquire);
  while (piece != nullptr) {
    Piece* const next = piece->next.load(std::memory_order_acquire);
    const std::size_t count = piece->count.load(std::memory_order_acquire);
    calls.insert(calls.end(), piece->calls.begin() + static_cast<std::ptrdiff_t>(taken_),
                 piece->calls.begin() + static_cast<std::ptrdiff_t>(count));
    taken_last_ += count - taken_;
    taken_ = count;
    if (next == nullptr) return;
    first_.store(next, std::memory_order_relaxed);
    taken_ = 0;
    delete piece;
    piece = next;
  }
}

}  // namespace trainwarden::capture
