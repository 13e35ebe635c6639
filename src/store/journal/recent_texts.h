// RecentTexts: the texts of a journal's newest events, so that who follows it reads none of them twice.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace trainwarden::journal {

class RecentTexts {
 public:
  static constexpr std::size_t kMaxBytes = 256 << 10;

  // Of event `index`, which is the one after the last that was added; otherwise the others are forgotten.
  void add(std::size_t index, std::string_view text) {
    if (index != first_ + texts_.size()) clear(index);
    texts_.emplace_back(text);
    bytes_ += text.size();
    while (bytes_ > kMaxBytes) {
      bytes_ -= texts_.front().size();
      texts_.pop_front();
      ++first_;
    }
  }

  // Null when it is not there any more.
  const std::string* find(std::size_t index) const {
    return index >= first_ && index - first_ < texts_.size() ? &texts_[index - first_] : nullptr;
  }

 private:
  void clear(std::size_t next) {
    texts_.clear();
    bytes_ = 0;
    first_ = next;
  }

  std::deque<std::string> texts_;
  std::size_t first_ = 0;  // the index of the front
  std::size_t bytes_ = 0;
};

}  // namespace trainwarden::journal
