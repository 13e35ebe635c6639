// Texts with a label each, such as reviews with their stars, from files of users.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bert {

struct LabelledText {
  std::string text, label;  // UTF-8, neither empty
};

// What the file calls them: columns of a table, or names in each line's object.
struct LabelledFields {
  std::string text = "text", label = "label";
};

struct LabelledTexts {
  std::vector<LabelledText> all;  // in the order of the file
  std::size_t left_out = 0;       // without a text or without a label
};

enum class LabelledForm { kCsv, kTsv, kJsonLines };

// Reads a file by its ending: .csv and .tsv, whose first row names the columns, or .jsonl, an object on each line,
// whose label may be a number. A folder: all such files in it, by name, as a job that prepared them leaves them. Throws
// std::runtime_error that names the file and the line: another ending, no such column, rows of other lengths, no UTF-8,
// no JSON, no text at all, more than 1 GiB.
LabelledTexts read_labelled_texts(const std::filesystem::path& path, const LabelledFields& fields);
LabelledTexts parse_labelled_texts(std::string_view bytes, LabelledForm form, const LabelledFields& fields,
                                   const std::string& source);  // `source` names it in messages

// Writes lines of {"text": ..., "label": ...}.
std::string to_json_lines(const std::vector<const LabelledText*>& texts);

// The labels that occur, each once: by number where all are numbers, else by their bytes.
std::vector<std::string> label_names(const std::vector<LabelledText>& texts);

}  // namespace bert
