// Mistakes: all that is wrong with a document, so that it is told at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::document {

struct Mistake {
  std::string place;  // "job.toml, line 7"
  std::string what;   // "name: expected a text, found a list"
  friend bool operator==(const Mistake&, const Mistake&) = default;
};

// "PLACE: WHAT", without the names at the begin of WHAT that PLACE has already, as in JSON: "job.json, inputs.train:
// ...".
std::string text_of(const Mistake& mistake);

// One thread at a time.
class Mistakes {
 public:
  // Of more than these only the number is told.
  static constexpr std::size_t kMaxListed = 50;

  void add(std::string_view place, std::string_view what);  // those of one line stay in the order of their coming
  bool any() const { return count_ > 0; }
  std::size_t count() const { return count_; }
  const std::vector<Mistake>& listed() const { return listed_; }  // by line; without one first

  // kInvalidArgument with a line each, PLACE: WHAT. Ok when there are none.
  Status status() const;

 private:
  std::vector<Mistake> listed_;
  std::size_t count_ = 0;
};

}  // namespace trainwarden::document
