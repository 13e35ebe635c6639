// JSON for other programs: one document on standard output, keys in a fixed order.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "trainwarden/run_loss.h"
#include "trainwarden/statistics.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::cli {

using Json = nlohmann::ordered_json;

// A number, or one of the strings "NaN", "Infinity" and "-Infinity", which JSON has no numbers for.
Json json_number(double value);
Json json_of(const Shape& shape);
Json json_of(const Statistics& statistics);
Json json_of(const RunLoss& loss);

// Bytes that are not UTF-8 are shown as U+FFFD; what would drive a terminal is escaped (core/base/json_marks.h). These
// are the only ways in which JSON leaves the command line.
std::string to_text(const Json& document);
void print_json(const Json& document);
void print_json_line(const Json& document);  // in one line, for programs that read lines
void print_json_text(std::string document);  // one that was serialized elsewhere

}  // namespace trainwarden::cli
