// What a mutation does to bytes and to JSON; which, a seed decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "data/format/json.h"

namespace trainwarden::hostile {

using Random = std::mt19937_64;

// Numbers that parsers get wrong.
std::uint64_t odd_number(Random& random);
// Some bytes from `begin` up to `end`.
void change_some(std::string& bytes, std::size_t begin, std::size_t end, Random& random);
// One value somewhere in the document: another, gone, many times, or deep within itself.
void change_one_value(format::OrderedJson& document, Random& random);

std::string read_text(const std::filesystem::path& path);
// Of a folder and all below it, relative to it, sorted.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder);

}  // namespace trainwarden::hostile
