// JsonObject: reads the members of one JSON object, and says exactly what is wrong with them.
//
//   JsonObject object(json, "collections[0].save", status);
//   object.read("save_interval", schedule.save_interval, 1);
//   object.finish();                        // unknown keys are errors
//
// Members that are absent leave their variable alone. The first error goes to `status`; after it nothing more is read.
// Messages: `collections[0].save.save_interval: expected an integer of at least 1, found the text "ten"`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "trainwarden/status.h"

namespace trainwarden::capture {

class JsonObject {
 public:
  // `path` is the object's place in the document, "" for the document itself. `value` and `status` must outlive this.
  JsonObject(const nlohmann::json& value, std::string path, Status& status);

  // The member, which is then a known key; nullptr when it is absent or something was wrong before.
  const nlohmann::json* find(const std::string& key);
  // "collections[0].save.save_interval"
  std::string path_of(std::string_view key) const;

  void read(const std::string& key, bool& value);
  void read(const std::string& key, std::string& value);
  void read(const std::string& key, std::int64_t& value, std::int64_t at_least);
  void read(const std::string& key, std::optional<std::int64_t>& value, std::int64_t at_least);  // null: none
  void read(const std::string& key, std::vector<std::string>& value);
  void read(const std::string& key, std::vector<std::int64_t>& value, std::int64_t at_least);
  void read(const std::string& key, std::map<std::string, std::string>& value);
  // A text that `parse` (text → Result<T>) turns into the value.
  template <class T, class Parse>
  void read_word(const std::string& key, T& value, Parse parse);

  // What is wrong with the member; only the first call counts.
  void fail(std::string_view key, std::string_view problem);
  void fail_type(std::string_view key, std::string_view expected, const nlohmann::json& found);
  // Call after all reads: a key that was never asked for is an error that names the nearest one that was.
  void finish();

 private:
  const nlohmann::json& value_;
  const std::string path_;
  Status& status_;
  std::vector<std::string> known_keys_;
};

template <class T, class Parse>
void JsonObject::read_word(const std::string& key, T& value, Parse parse) {
  const nlohmann::json* member = find(key);
  if (member == nullptr) return;
  if (!member->is_string()) return fail_type(key, "a text", *member);
  auto parsed = parse(member->get_ref<const std::string&>());
  if (!parsed.ok()) return fail(key, parsed.status().message());
  value = *std::move(parsed);
}

}  // namespace trainwarden::capture
