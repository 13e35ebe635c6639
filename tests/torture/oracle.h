// Oracle: what a journal must hold: all that was acknowledged, nothing that nobody wrote, in the order of writing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "case_log.h"

namespace trainwarden::torture {

// Of one stream: the steps of a journal, or its events. Numbers count from 0.
class Oracle {
 public:
  explicit Oracle(std::string of) : of_(std::move(of)) {}

  std::int64_t attempt() {
    items_.push_back({});
    return static_cast<std::int64_t>(items_.size()) - 1;
  }
  // Another process goes on from here: it answers for what it writes itself.
  void begin_life() { life_begin_ = items_.size(); }
  // It was answered with ok, and lies in this file.
  void acknowledge(std::int64_t number, const std::string& file) {
    items_[static_cast<std::size_t>(number)].state = State::kAcknowledged;
    items_[static_cast<std::size_t>(number)].file = file;
  }
  // All that was acknowledged in this life survives a power loss from now on; of one file, when it is named.
  void synced(const std::string& file = {});
  // A sync has failed: what was not synced in this life may go with the power, and the program was told so.
  void sync_failed();
  // What was not synced may be gone.
  void lose_power();
  // A reader of the whole, before anything else is written, has found `seen`: what it has not found will never come.
  void settle(std::span<const std::int64_t> seen);

  // What a reader has found is what it may have: nothing that was not written, in order, and without a hole. `whole`:
  // nothing is left out at the end either. `reports_damage`: it has said that something is missing.
  void check(std::span<const std::int64_t> seen, bool whole, bool reports_damage, std::string_view reader,
             CaseLog& log) const;
  std::size_t attempts() const { return items_.size(); }
  std::uint64_t acknowledged() const;

 private:
  enum class State : std::uint8_t {
    kTried,         // may be there, or not
    kAcknowledged,  // must be there
    kUnsafe,        // must be there, and no later sync says that it survives a power loss
    kSynced,        // must be there, also after a power loss
    kEndangered,    // was acknowledged, and a power loss came
    kGone,          // must not be there
  };
  struct Item {
    State state = State::kTried;
    std::string file;
  };
  void check_order(std::span<const std::int64_t> seen, std::string_view reader, CaseLog& log) const;
  bool hole_is_told(std::size_t missing, std::span<const std::int64_t> seen, bool reports_damage) const;

  const std::string of_;
  std::vector<Item> items_;
  std::size_t life_begin_ = 0;
};

}  // namespace trainwarden::torture
