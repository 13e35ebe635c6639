#include "ui/answers/replies.h"

#include "data/format/safetensors.h"

namespace trainwarden::answers {
namespace {

template <class T>
std::string bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

Reply json_reply(const format::OrderedJson& document) {
  Reply reply;
  reply.body = std::make_shared<const std::string>(format::dump_json(document));
  return reply;
}

format::OrderedJson step_ranges_json(std::span<const views::StridedSteps> ranges) {
  auto list = format::OrderedJson::array();
  for (const views::StridedSteps& range : ranges) list.push_back({range.first, range.stride, range.count});
  return list;
}

format::OrderedJson modes_json(const views::RunSteps& steps) {
  auto modes = format::OrderedJson::array();
  for (const views::ModeSteps& mode : steps.modes) {
    modes.push_back({{"mode", name(mode.mode)},
                     {"steps", step_ranges_json(mode.steps)},
                     {"mode_steps", step_ranges_json(mode.mode_steps)}});
  }
  return modes;
}

void ArraysReply::add(std::string name, DType dtype, std::vector<std::int64_t> shape, std::string bytes) {
  arrays_.push_back({std::move(name), dtype, std::move(shape), std::move(bytes)});
}

void ArraysReply::add(std::string name, std::vector<std::int64_t> shape, std::span<const float> values) {
  add(std::move(name), DType::kFloat32, std::move(shape), bytes_of(values));
}

void ArraysReply::add(std::string name, std::vector<std::int64_t> shape, std::span<const double> values) {
  add(std::move(name), DType::kFloat64, std::move(shape), bytes_of(values));
}

void ArraysReply::add(std::string name, std::vector<std::int64_t> shape, std::span<const std::uint8_t> values) {
  add(std::move(name), DType::kUInt8, std::move(shape), bytes_of(values));
}

Reply ArraysReply::to_reply() && {
  std::vector<format::SafetensorsEntry> entries;
  for (const Array& array : arrays_) entries.push_back({array.name, array.dtype, array.shape});
  auto body = std::make_shared<std::string>(format::encode_safetensors_header(entries, metadata_));
  for (const Array& array : arrays_) body->append(array.bytes);
  Reply reply;
  reply.type = "application/vnd.safetensors";
  reply.body = std::move(body);
  return reply;
}

Result<views::OpenRun::Use> use_run(const Request& request, const Services& services) {
  const auto run = services.shelf.run(request.in_path("run"));
  if (!run.ok()) return run.status();
  return (*run)->use();
}

}  // namespace trainwarden::answers
