// OutputTail: the last of what a program writes into a pipe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/owned_descriptor.h"

namespace trainwarden::process {

// One thread at a time.
class OutputTail {
 public:
  OutputTail() = default;  // of no pipe
  // `pipe` must not block.
  OutputTail(FileDescriptor pipe, std::size_t max_bytes) : pipe_(std::move(pipe)), max_bytes_(max_bytes), open_(true) {}

  void read();                      // what is there; a bounded part of it, since it may never cease
  void add(std::string_view text);  // as if it had come from the pipe
  void clear() { text_.clear(); }
  int number() const { return open_ ? pipe_.get() : -1; }  // to poll for; -1: the program has closed its end
  std::string text() const { return text_.substr(text_.size() - std::min(text_.size(), max_bytes_)); }
  std::string last_lines() const;  // "a / b": at most six, in one printable line

 private:
  OwnedDescriptor pipe_;
  std::size_t max_bytes_ = 0;
  bool open_ = false;
  std::string text_;  // up to twice as long, so that its head is cut off seldom
};

}  // namespace trainwarden::process
