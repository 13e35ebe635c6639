// PatternReader: where one is in the text of a pattern, and what is wrong there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "react/match/json_scanner.h"
#include "trainwarden/status.h"

namespace trainwarden::match {

// A scanner that knows the path it is on. The first thing that is wrong is kept, and everything returns false then.
class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : text_(text), scanner_(text) {}

  JsonScanner& scanner() { return scanner_; }
  std::string_view text() const { return text_; }
  bool failed() const { return !error_.ok() || scanner_.failed(); }
  // What is wrong, with its place: `detail.state[1].prefix (line 1, column 30): expected a string, found 5`.
  Status status() const;

  // The path: field names and indices, as messages show it.
  void enter_field(std::string_view name);
  void enter_item(std::size_t index);
  void leave() { path_.pop_back(); }

  // The value that comes next is not what it should be. False.
  bool expected(std::string_view what);
  // What was expected at `offset`, and what was found there, in words.
  bool expected_at(std::size_t offset, std::string_view what, std::string_view found);
  bool refuse(std::size_t offset, std::string_view why);
  bool explain(std::string_view hint);  // adds a hint to what was refused

  bool read_text(std::string_view what, std::string& text);  // a string
  bool read_number(std::string_view what, double& number);   // one that a double can hold
  // The key of the next item of the object that is open.
  bool read_field(std::string& name, std::size_t& offset);

 private:
  Status error_at(std::size_t offset, std::string_view why) const;
  std::string path() const;
  std::string next_value() const;  // as messages show it

  std::string_view text_;
  JsonScanner scanner_;
  std::vector<std::string> path_;
  Status error_;
};

}  // namespace trainwarden::match
