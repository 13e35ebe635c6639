// TextFile: text on its way into a file, written in large pieces.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "read/transfer/output_file.h"

namespace trainwarden::transfer {

class TextFile {
 public:
  explicit TextFile(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}

  std::string text;  // append here; what is in the file already is gone from it

  // After each row: bounds the memory.
  Status pass_on_when_large() { return text.size() < kLargeBytes ? Status() : pass_on(); }
  // Writes the rest and gives the file its name.
  Status commit() {
    TRAINWARDEN_RETURN_IF_ERROR(pass_on());
    return file_->commit();
  }

 private:
  static constexpr std::size_t kLargeBytes = std::size_t{1} << 18;

  Status pass_on() {
    TRAINWARDEN_RETURN_IF_ERROR(file_->append(text));
    text.clear();
    return {};
  }

  const std::unique_ptr<OutputFile> file_;
};

}  // namespace trainwarden::transfer
