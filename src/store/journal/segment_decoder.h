// SegmentDecoder: the frames of one segment, out of bytes that it asks for. Does no I/O itself.
//
//   while (auto range = decoder.next(file_bytes)) decoder.supply(<the bytes of that range>);
//
// It walks from header to header and reads the payloads only of words (names, events, step ends). Behind a header that
// is damaged it looks for the next one that is not, at multiples of 64, and reports what lies between.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/bytes.h"
#include "data/format/frame.h"
#include "trainwarden/status.h"

namespace trainwarden::journal {

// Whose frames are wanted; those of others are refused.
struct FrameOwner {
  std::uint32_t run_salt = 0;
  std::optional<std::uint32_t> writer_id;  // none: not known yet
};

// Why a header that is whole in itself cannot be taken at `offset`; empty when it can.
std::string_view refusal(const format::FrameHeader& header, const FrameOwner& owner, std::uint64_t offset);

// Whether the whole frame at `offset` lies in a file of `file_bytes`, whatever its header claims.
bool fits(const format::FrameHeader& header, std::uint64_t offset, std::uint64_t file_bytes);

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct Damage {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;   // that could not be used
  std::uint64_t frames = 0;  // that are missing by their sequence numbers; at least 1
  std::string_view cause;    // static text
};

inline constexpr std::string_view kDamagedHeader = "damaged header";
inline constexpr std::string_view kDamagedPayload = "damaged payload";
inline constexpr std::string_view kTornTail = "torn tail";
inline constexpr std::string_view kOverBudget =
    "more than the budget for reading allows a file of this size (TRAINWARDEN_READ_BUDGET=4 allows four times as much)";

class FrameSink {
 public:
  virtual ~FrameSink() = default;
  // In the order of the file. `payload`, checked, only for words; empty for all others.
  virtual void on_frame(const format::FrameHeader& header, ByteSpan payload) = 0;
  virtual void on_damage(const Damage& damage) = 0;
};

bool is_words(format::FrameKind kind);  // whose payload is read with the header
bool is_event(format::FrameKind kind);  // of words: event, verdict, action
bool is_data(format::FrameKind kind);   // bundle, statistics, scalars: the parts of a step

class SegmentDecoder {
 public:
  // `sink` must outlive the decoder.
  SegmentDecoder(const FrameOwner& owner, FrameSink& sink) : owner_(owner), sink_(&sink) {}

  // The bytes that it needs to go on, within a file that has `file_bytes` now. None when there are not enough yet
  // (call again when the file has grown), or nothing is left to do.
  std::optional<ByteRange> next(std::uint64_t file_bytes);
  void supply(ByteSpan bytes);  // all of the range of the last next()
  // In place of supply(): the range is not to be had within the budget. A payload is passed over; a search ends, and
  // with it the segment.
  void refuse();
  // Are these bytes, of the range of the last next(), words that are whole and compressed? Then supply_content() takes
  // them in place of supply(): what they say, or why they say nothing.
  bool has_content(ByteSpan bytes) const;
  void supply_content(const Result<ByteSpan>& content);
  // Of a file that is still written: zeros where a header or words must be are bytes that have not come yet, as network
  // file systems show them. next() gives none there, and asks for them again when it is called the next time.
  void wait_for_late_bytes(bool waits) { waits_ = waits; }
  bool at_header() const { return state_ == State::kHeader; }  // no more than a header is asked for

  // No more bytes will come than these: what is left of them is a torn tail.
  void finish(std::uint64_t file_bytes);

  // Tells of what finish() would, and goes on should more come all the same.
  void report_rest(std::uint64_t file_bytes);

  // All that there is to decode has been: the trailer was reached, or finish() called.
  bool done() const { return state_ == State::kDone; }
  std::uint64_t position() const { return position_; }  // everything before it is decoded
  const FrameOwner& owner() const { return owner_; }    // with the writer's id, once a frame was taken

 private:
  enum class State : std::uint8_t { kHeader, kBody, kSearch, kDone };

  std::optional<ByteRange> next_of_body();
  void supply_header(ByteSpan bytes);
  void supply_search(ByteSpan bytes);
  std::string_view fault_of(ByteSpan header_bytes, std::uint64_t offset, format::FrameHeader& header) const;
  void accept(const format::FrameHeader& header);
  void pass_frame();
  void leave_body(ByteSpan payload);
  void search_from_here();

  FrameOwner owner_;
  FrameSink* sink_;
  bool waits_ = false;
  bool is_late_ = false;  // what was supplied last has not come yet
  State state_ = State::kHeader;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t position_ = 0;  // of the frame that is read or looked for
  std::uint64_t next_sequence_ = 0;
  format::FrameHeader header_;       // kBody: of the frame at position_
  std::uint64_t search_offset_ = 0;  // kSearch: everything from position_ to here is damaged
  std::string_view fault_;           // kSearch: what is wrong at position_
};

}  // namespace trainwarden::journal
