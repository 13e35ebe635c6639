// The words of the hook's configuration, as they stand in a JSON file or in an environment variable.
//
// Each parser answers kInvalidArgument with what it expected and what it found.
#pragma once

#include <cstdint>
#include <string_view>

#include "trainwarden/hook.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

// "4096", "64KiB", "256 MiB", "1GB": a whole number of bytes, KiB, MiB, GiB, TiB (powers of 1024) or kB, MB, GB, TB
// (powers of 1000).
Result<std::uint64_t> parse_byte_size(std::string_view text);
// "1%", "0.5 %", "0.01", "0": a share, from 0 to 1.
Result<double> parse_share(std::string_view text);
// "3": so many steps; "on": kDefaultBlackBoxSteps; "off": 0.
Result<int> parse_black_box_steps(std::string_view text);
// "5:15": from the first to before the second, counted from where the process begins; "on": kDefaultOperatorSteps from
// the default on; "auto": unasked_operator_window(); "off": none.
Result<OperatorWindow> parse_operator_window(std::string_view text);
// The window where nobody has chosen one: it takes little of a training, even of one whose steps have a million calls.
OperatorWindow unasked_operator_window();
// Samples a second: a number up to kMaxStackHz, "on" or "off".
Result<int> parse_stack_hz(std::string_view text);
Result<KeepForm> parse_keep(std::string_view text);  // a list of "values", "statistics", "histogram", "hash", "shape"
Result<IncludeWorkers> parse_include_workers(std::string_view text);  // "one", "all"
Result<WhenFull> parse_when_full(std::string_view text);              // "drop", "statistics", "block"
Result<Durability> parse_durability(std::string_view text);           // "none", "interval", "step"

}  // namespace trainwarden::capture
