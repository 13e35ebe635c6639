#include "classes/labelled_texts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "classes/delimited.h"
#include "files/reading.h"
#include "text/characters.h"

namespace bert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMaxFileBytes = 1u << 30;

[[noreturn]] void fail(const std::string& source, std::size_t line, const std::string& what) {
  throw std::runtime_error(source + ", line " + std::to_string(line) + ": " + what);
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

void add(LabelledTexts& texts, LabelledText item, const std::string& source, std::size_t line) {
  if (!is_utf8(item.text) || !is_utf8(item.label)) {
    fail(source, line, "expected UTF-8, found other bytes; iconv turns a file of another encoding into UTF-8");
  }
  if (is_blank(item.text) || is_blank(item.label)) {
    ++texts.left_out;
  } else {
    texts.all.push_back(std::move(item));
  }
}

std::size_t column_of(const std::vector<std::string>& names, const std::string& name, const std::string& source) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string columns;
  for (const std::string& each : names) columns += (columns.empty() ? "\"" : ", \"") + each + "\"";
  throw std::runtime_error(source + ": expected a column \"" + name + "\", found " + columns +
                           "; --text-column and --label-column name others");
}

LabelledTexts parse_table(std::string_view bytes, Delimited form, const LabelledFields& fields,
                          const std::string& source) {
  LabelledTexts texts;
  DelimitedReader rows(bytes, form, source);
  std::vector<std::string> row;
  if (!rows.next(row)) throw std::runtime_error(source + ": expected a row with the names of columns, found nothing");
  const std::size_t columns = row.size();
  const std::size_t text = column_of(row, fields.text, source), label = column_of(row, fields.label, source);
  while (rows.next(row)) {
    if (row.size() != columns) {
      fail(
          source, rows.line(),
          "expected " + std::to_string(columns) + " fields, as the first row has, found " + std::to_string(row.size()));
    }
    add(texts, {row[text], row[label]}, source, rows.line());
  }
  return texts;
}

// Absent and null are an empty text. Numbers and true are what JSON writes.
std::optional<std::string> text_of(const json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return "";
  if (found->is_string()) return found->get<std::string>();
  if (found->is_primitive()) return found->dump();
  return std::nullopt;
}

LabelledTexts parse_json_lines(std::string_view bytes, const LabelledFields& fields, const std::string& source) {
  LabelledTexts texts;
  for (std::size_t line = 1; !bytes.empty(); ++line) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view text = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    if (is_blank(text)) continue;
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object()) fail(source, line, "expected an object of JSON in UTF-8, found something else");
    std::optional<std::string> found = text_of(object, fields.text), label = text_of(object, fields.label);
    if (!found || !label) {
      fail(source, line, "expected texts or numbers as \"" + fields.text + "\" and \"" + fields.label + "\"");
    }
    add(texts, {*std::move(found), *std::move(label)}, source, line);
  }
  return texts;
}

std::optional<LabelledForm> form_of(const fs::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".csv") return LabelledForm::kCsv;
  if (ending == ".tsv") return LabelledForm::kTsv;
  if (ending == ".jsonl") return LabelledForm::kJsonLines;
  return std::nullopt;
}

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.is_regular_file() && form_of(entry.path())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace

LabelledTexts parse_labelled_texts(std::string_view bytes, LabelledForm form, const LabelledFields& fields,
                                   const std::string& source) {
  switch (form) {
    case LabelledForm::kCsv: return parse_table(bytes, Delimited::kCsv, fields, source);
    case LabelledForm::kTsv: return parse_table(bytes, Delimited::kTsv, fields, source);
    case LabelledForm::kJsonLines: break;
  }
  return parse_json_lines(bytes, fields, source);
}

LabelledTexts read_labelled_texts(const fs::path& path, const LabelledFields& fields) {
  LabelledTexts texts;
  for (const fs::path& file : files_of(path)) {
    const std::optional<LabelledForm> form = form_of(file);
    if (!form) throw std::runtime_error(file.string() + ": expected a file that ends in .csv, .tsv or .jsonl");
    LabelledTexts read = parse_labelled_texts(read_text(file, kMaxFileBytes), *form, fields, file.string());
    texts.all.insert(texts.all.end(), std::make_move_iterator(read.all.begin()),
                     std::make_move_iterator(read.all.end()));
    texts.left_out += read.left_out;
  }
  if (texts.all.empty()) {
    throw std::runtime_error(path.string() +
                             ": expected texts with labels in files that end in .csv, .tsv or .jsonl, "
                             "found none");
  }
  return texts;
}

std::string to_json_lines(const std::vector<const LabelledText*>& texts) {
  std::string lines;
  for (const LabelledText* text : texts) {
    lines += nlohmann::ordered_json{{"text", text->text}, {"label", text->label}}.dump() + "\n";
  }
  return lines;
}

std::vector<std::string> label_names(const std::vector<LabelledText>& texts) {
  std::set<std::string> names;
  for (const LabelledText& text : texts) names.insert(text.label);
  std::vector<std::string> sorted(names.begin(), names.end());
  const bool are_numbers = std::all_of(sorted.begin(), sorted.end(), [](const auto& name) { return number_of(name); });
  if (are_numbers) {
    std::stable_sort(sorted.begin(), sorted.end(), [](const std::string& a, const std::string& b) {
      return number_of(a).value() < number_of(b).value();
    });
  }
  return sorted;
}

}  // namespace bert
