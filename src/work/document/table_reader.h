// TableReader: the fields of a table, taken one by one; what is left over is a mistake.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "work/document/document.h"
#include "work/document/mistakes.h"

namespace trainwarden::document {

// Capitals and "_" make no difference: "entry_point", "EntryPoint" and "entrypoint" are one field. A field may have
// several names, ours first; given under two of them it is a mistake. What is there and of the wrong kind is a mistake,
// and counts as not there. `table` and `mistakes` must outlive it. One thread at a time.
class TableReader {
 public:
  using Names = std::initializer_list<const char*>;

  TableReader(const DocumentValue& table, Mistakes& mistakes);

  const std::string& place() const { return table_.place; }
  // Of the fields that were taken, by our name for them.
  const std::map<std::string, std::string, std::less<>>& places() const { return places_; }
  std::string place_of(std::string_view field) const;  // the table's when it was not there
  const DocumentValue* take(Names names);              // null: not there
  std::optional<std::string> text(Names names);
  std::optional<bool> boolean(Names names);
  std::optional<std::int64_t> integer(Names names, std::int64_t min, std::int64_t max);
  std::vector<std::string> texts(Names names);  // a list of texts, or one text
  // One of `words`, as its place among them; capitals and "_" make no difference here either.
  std::optional<std::size_t> choice(Names names, std::span<const char* const> words);
  const DocumentValue* table(Names names);  // null: not there, or no table
  // "1.5 h", "90 min", "30 s", "2 d", or a number of seconds; in seconds.
  std::optional<double> seconds(Names names, double min, double max);
  // "16 GiB", "512 MB", or a number of bytes.
  std::optional<std::uint64_t> bytes(Names names);

  // Each field that nobody took is a mistake, with the nearest name that was asked for, or all of them. Call it last.
  void refuse_rest();

  void wrong(const DocumentValue& value, std::string_view field, std::string_view what);
  // "expected WANTED, found a list"
  void wrong_kind(const DocumentValue& value, std::string_view field, std::string_view wanted);

 private:
  const DocumentValue& table_;
  Mistakes& mistakes_;
  std::vector<bool> taken_;
  std::vector<std::string> known_;  // our names, in the order in which they were asked for
  std::map<std::string, std::string, std::less<>> places_;
};

// What TableReader compares names by.
std::string plain_name(std::string_view name);

// As TableReader::seconds() and bytes() read texts.
std::optional<double> parse_seconds(std::string_view text);
std::optional<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace trainwarden::document
