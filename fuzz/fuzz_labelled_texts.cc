// Any text as a file of labelled texts: it is refused with a message, or what is read comes back from lines of JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "classes/splits.h"

namespace {

using namespace bert;

void check(const LabelledTexts& read) {
  std::vector<const LabelledText*> all;
  for (const LabelledText& text : read.all) all.push_back(&text);
  const LabelledTexts again = parse_labelled_texts(to_json_lines(all), LabelledForm::kJsonLines, {}, "again");
  if (again.all.size() != read.all.size() || again.left_out != 0) std::abort();
  for (std::size_t i = 0; i < read.all.size(); ++i) {
    if (again.all[i].text != read.all[i].text || again.all[i].label != read.all[i].label) std::abort();
  }
  if (read.all.empty()) return;
  const Splits splits = split_texts(read.all, {.train = 1, .validation = 0, .test = 0});
  if (splits.train.size() != read.all.size() || label_names(read.all).empty()) std::abort();
}

}  // namespace

// The first byte says in which form the others are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  if (bytes == 0) return 0;
  constexpr LabelledForm kForms[] = {LabelledForm::kCsv, LabelledForm::kTsv, LabelledForm::kJsonLines};
  LabelledTexts read;
  try {
    read = parse_labelled_texts({reinterpret_cast<const char*>(data + 1), bytes - 1}, kForms[data[0] % 3], {}, "any");
  } catch (const std::runtime_error& error) {
    if (std::string_view(error.what()).find("any") != 0) std::abort();
    return 0;
  }
  check(read);
  return 0;
}
