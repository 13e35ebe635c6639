// Output: the one place where text leaves the program for a terminal, a pipe or a file that one of them was turned
// into. Whatever a run, a file or the command line brought along has its control characters shown, not sent.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

// Several lines that we laid out: a line feed ends a line, everything else that drives a terminal is shown.
struct Lines {
  std::string_view text;
};

// Writes what waits in standard output's buffer. kResourceExhausted: a full disk behind a redirection, say.
Status flush_output();

// What a status says, which may quote a file on lines of their own: they stand two columns in, where no line of ours
// begins.
struct Message {
  std::string_view text;
};

// Text of ours that is written as it is: a picture with its colours, a script of completions. What is of a run in it
// has been through printable() or Screen::put() before.
struct Painted {
  std::string_view text;
};

// printable() but for the line feeds, after which `indent` follows where a line does not begin with it.
std::string printable_lines(std::string_view text, std::string_view indent = {});

// What an argument is written as: numbers as they are, all text through printable().
template <class T>
auto shown(const T& value) {
  if constexpr (std::is_same_v<T, Painted>) {
    return std::string(value.text);
  } else if constexpr (std::is_same_v<T, Lines>) {
    return printable_lines(value.text);
  } else if constexpr (std::is_same_v<T, Message>) {
    return printable_lines(value.text, "  ");
  } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, char>) {
    return value;
  } else {
    return printable(fmt::format("{}", value));
  }
}

template <class Iterator, class End>
std::string shown(const fmt::join_view<Iterator, End>& list) {
  return printable(fmt::format("{}", fmt::join_view<Iterator, End>(list)));
}

template <class T>
using Shown = decltype(shown(std::declval<const std::remove_cvref_t<T>&>()));

// Whatever cannot be written is lost, and ferror() says so: a full disk behind a redirection must not end a program
// that a training depends on.
void write_text(std::FILE* stream, std::string_view text);

// The format is ours, its arguments need not be. The command line prints by this alone (scripts/check_output.py).
template <class... Args>
void emit(std::FILE* stream, fmt::format_string<Shown<Args>...> format, const Args&... args) {
  write_text(stream, fmt::format(format, shown(args)...));
}

template <class... Args>
void emit(fmt::format_string<Shown<Args>...> format, const Args&... args) {
  write_text(stdout, fmt::format(format, shown(args)...));
}

}  // namespace trainwarden::cli
