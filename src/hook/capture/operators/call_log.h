// CallLog: the operator calls of one thread, on their way from it to the thread that collects them. No locks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "core/base/pages.h"
#include "hook/capture/operators/operator_names.h"
#include "trainwarden/operator_calls.h"

namespace trainwarden::capture {

// A call that has ended. Times are of the steady clock.
struct LoggedCall {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t sequence = -1;
  std::uint32_t name = 0;  // of OperatorNames
  OperatorKind kind = OperatorKind::kOperator;
};

// How many calls may still be logged, by all threads: so much memory is taken at most.
class CallRoom {
 public:
  void set(std::int64_t calls) {
    left_.store(calls, std::memory_order_relaxed);
    used_up_.store(false, std::memory_order_relaxed);
  }
  bool take(std::int64_t calls) {
    if (left_.fetch_sub(calls, std::memory_order_relaxed) >= calls) return true;
    left_.fetch_add(calls, std::memory_order_relaxed);
    used_up_.store(true, std::memory_order_relaxed);
    return false;
  }
  // Somebody found none.
  bool is_used_up() const { return used_up_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> left_ = 0;
  std::atomic<bool> used_up_ = false;
};

class CallLog {
 public:
  static constexpr std::size_t kMaxDepth = 256;    // of calls within each other
  static constexpr std::size_t kPieceCalls = 512;  // 16 KiB

  // `thread_id`: as the system counts them. `room` must outlive this.
  CallLog(std::uint64_t thread_id, CallRoom& room) : thread_id_(thread_id), room_(room) {}
  ~CallLog();
  CallLog(const CallLog&) = delete;
  CallLog& operator=(const CallLog&) = delete;

  std::uint64_t thread_id() const { return thread_id_; }

  // These for the thread itself.
  NameCache& names() { return names_; }
  // Calls that began in another window than this are forgotten.
  void begin(std::uint32_t window, const void* key, const LoggedCall& call);
  void end(std::uint32_t window, const void* key, std::int64_t now_ns);
  void end_thread() { ended_.store(true, std::memory_order_release); }

  // These for one other thread at a time.
  bool has_ended() const { return ended_.load(std::memory_order_acquire); }
  // Appends what was logged since the last time.
  void take(std::vector<LoggedCall>& calls);
  std::uint64_t take_lost() { return lost_.exchange(0, std::memory_order_relaxed); }

 private:
  struct Open {
    const void* key = nullptr;
    LoggedCall call;
  };
  // Filled from the front and never emptied; the next one is there when it is full. In pages of its own
  // (core/base/pages.h).
  struct Piece {
    static void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return take_pages(bytes); }
    static void operator delete(void* memory, std::size_t bytes) { give_pages_back(memory, bytes); }
    static void operator delete(void* memory, const std::nothrow_t&) { operator delete(memory, sizeof(Piece)); }

    std::array<LoggedCall, kPieceCalls> calls;
    std::atomic<std::size_t> count = 0;
    std::atomic<Piece*> next = nullptr;
  };
  void lose(std::uint64_t count) { lost_.fetch_add(count, std::memory_order_relaxed); }
  void push(const LoggedCall& call);
  Piece* piece_with_room();

  const std::uint64_t thread_id_;
  CallRoom& room_;
  std::atomic<bool> ended_ = false;
  std::atomic<std::uint64_t> lost_ = 0;

  // Of the thread itself.
  NameCache names_;
  std::uint32_t window_ = 0;
  std::size_t depth_ = 0;
  std::array<Open, kMaxDepth> open_;
  Piece* last_ = nullptr;

  std::atomic<Piece*> first_ = nullptr;  // set once by the thread, then moved on by who takes
  std::size_t taken_ = 0;                // these two by who takes: of the first piece,
  std::size_t taken_last_ = 0;           // and the last time, which is about what the next time brings
};

}  // namespace trainwarden::capture
