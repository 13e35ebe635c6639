// How answers are written: words as JSON, numbers as safetensors.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/format/json_number.h"
#include "trainwarden/dtype.h"
#include "ui/answers/route.h"
#include "ui/views/run_steps.h"
#include "ui/views/step_ranges.h"

namespace trainwarden::answers {

using format::json_number;

Reply json_reply(const format::OrderedJson& document);
// [[first, stride, count], ...]
format::OrderedJson step_ranges_json(std::span<const views::StridedSteps> ranges);
// [{mode, steps, mode_steps}, ...]: how each mode counts the run's steps.
format::OrderedJson modes_json(const views::RunSteps& steps);

// A safetensors document (type "application/vnd.safetensors"), one array after another. The words of `metadata` are
// texts; those that are more than a text are JSON in a text.
class ArraysReply {
 public:
  // `bytes` packed, row-major, little-endian: of the length that dtype and shape say.
  void add(std::string name, DType dtype, std::vector<std::int64_t> shape, std::string bytes);
  void add(std::string name, std::vector<std::int64_t> shape, std::span<const float> values);
  void add(std::string name, std::vector<std::int64_t> shape, std::span<const double> values);
  void add(std::string name, std::vector<std::int64_t> shape, std::span<const std::uint8_t> values);
  void note(std::string key, std::string text) { metadata_[std::move(key)] = std::move(text); }
  void note_json(std::string key, const format::OrderedJson& json) {
    metadata_[std::move(key)] = format::dump_json(json);
  }

  Reply to_reply() &&;

 private:
  struct Array {
    std::string name;
    DType dtype;
    std::vector<std::int64_t> shape;
    std::string bytes;
  };
  std::vector<Array> arrays_;
  std::map<std::string, std::string> metadata_;
};

// The run, the tensor that a request's path names.
Result<views::OpenRun::Use> use_run(const Request& request, const Services& services);

}  // namespace trainwarden::answers
