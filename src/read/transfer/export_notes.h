// ExportNotes: what a format could not hold, or holds in another form, by cause.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/transfer.h"

namespace trainwarden::transfer {

inline constexpr std::string_view kTwiceUnderOneName = "kept twice under one name: the second";

class ExportNotes {
 public:
  void at_step(std::int64_t global_step) { global_step_ = global_step; }  // of what follows

  // `tensor` is the first example's.
  void lost(std::string_view cause, std::string_view tensor, std::uint64_t count = 1);
  void changed(std::string_view cause, std::string_view tensor, std::uint64_t count = 1);

  const std::vector<ExportNote>& list() const { return notes_; }  // in the order of their first occurrence

 private:
  void add(std::string_view cause, bool lost, std::string_view tensor, std::uint64_t count);

  std::int64_t global_step_ = 0;
  std::vector<ExportNote> notes_;
};

}  // namespace trainwarden::transfer
