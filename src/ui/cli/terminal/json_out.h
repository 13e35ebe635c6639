// JSON for other programs: one document on standard output, keys in a fixed order.
#pragma once

#include <string>

#include "data/format/json_number.h"
#include "trainwarden/run_loss.h"
#include "trainwarden/statistics.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::cli {

using format::json_number;
using format::OrderedJson;

OrderedJson json_of(const Shape& shape);
OrderedJson json_of(const Statistics& statistics);
OrderedJson json_of(const RunLoss& loss);

// Bytes that are not UTF-8 are shown as U+FFFD; what would drive a terminal is escaped (core/base/json_marks.h). These
// are the only ways in which JSON leaves the command line.
std::string to_text(const OrderedJson& document);
void print_json(const OrderedJson& document);
void print_json_line(const OrderedJson& document);  // in one line, for programs that read lines
void print_json_text(std::string document);         // one that was serialized elsewhere

}  // namespace trainwarden::cli
