#include "react/actions/command_words.h"

#include <cstddef>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::actions {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kOnlyForShells = "|&;<>()$`";
constexpr std::string_view kOnlyForShellsQuoted = "$`";
constexpr std::string_view kEscapedInQuotes = "\"\\$`";

class CommandSplitter {
 public:
  explicit CommandSplitter(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> split() {
    while (place_ < text_.size()) {
      const char next = text_[place_];
      if (kBlanks.find(next) != std::string_view::npos) {
        end_word();
        ++place_;
      } else {
        TRAINWARDEN_RETURN_IF_ERROR(take(next));
      }
    }
    end_word();
    if (words_.empty()) return refused("has no word in it");
    return std::move(words_);
  }

 private:
  Status take(char next) {
    in_word_ = true;
    if (next == '\'') return take_single_quoted();
    if (next == '"') return take_double_quoted();
    if (kOnlyForShells.find(next) != std::string_view::npos) return refused_for_shell(next);
    if (next == '\\') {
      if (place_ + 1 == text_.size()) return refused("ends with a backslash");
      ++place_;
    }
    word_ += text_[place_++];
    return {};
  }

  Status take_single_quoted() {
    const std::size_t end = text_.find('\'', place_ + 1);
    if (end == std::string_view::npos) return refused("has a ' without its end");
    word_ += text_.substr(place_ + 1, end - place_ - 1);
    place_ = end + 1;
    return {};
  }

  Status take_double_quoted() {
    for (++place_; place_ < text_.size(); ++place_) {
      const char here = text_[place_];
      if (here == '"') {
        ++place_;
        return {};
      }
      if (kOnlyForShellsQuoted.find(here) != std::string_view::npos) return refused_for_shell(here);
      const bool escapes = here == '\\' && place_ + 1 < text_.size() &&
                           kEscapedInQuotes.find(text_[place_ + 1]) != std::string_view::npos;
      if (escapes) ++place_;
      word_ += text_[place_];
    }
    return refused("has a \" without its end");
  }

  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  // Without the command itself: it may hold what is not to be shown.
  Status refused(std::string_view what) const {
    return Status(Code::kInvalidArgument, fmt::format("the command {}", what));
  }
  Status refused_for_shell(char what) const {
    return refused(
        fmt::format("has a {} at its character {}, which only a shell understands, and no shell runs it; "
                    "put it into single quotes, or start a shell: [\"sh\", \"-c\", \"...\"]",
                    what, place_ + 1));
  }

  const std::string_view text_;
  std::size_t place_ = 0;
  bool in_word_ = false;
  std::string word_;
  std::vector<std::string> words_;
};

}  // namespace

Result<std::vector<std::string>> split_command(std::string_view text) {
  return CommandSplitter(text).split();
}

}  // namespace trainwarden::actions
