// Values of tensors: the exact bits of a part, the whole as a file, pictures.
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "read/transfer/npy.h"
#include "read/transfer/number_text.h"
#include "read/transfer/picture.h"
#include "ui/answers/tensor_handlers.h"
#include "ui/views/tensor_pictures.h"
#include "ui/views/tensor_slice.h"

namespace trainwarden::answers {
namespace {

using format::OrderedJson;
using views::Slice;

constexpr std::int64_t kMostElements = 1 << 20;      // of an answer that is looked at
constexpr std::int64_t kMostFileElements = 1 << 26;  // of a .npy
constexpr std::int64_t kMostTextElements = 1 << 22;  // of a .csv
constexpr std::size_t kMostTextBytes = 16u << 20;    // of strings
constexpr std::int64_t kMostAxes = Shape::kMaxRank;

// A part of a value at a step, that is asked for.
struct Part {
  SharedTensorValue value;
  Slice slice;
  std::string worker;
};

Status too_many(const Slice& slice, std::int64_t most) {
  return {Code::kResourceExhausted, fmt::format("slice \"{}\" has {} elements; an answer has at most {}: narrow it",
                                                slice.to_string(), slice.element_count(), most)};
}

Result<Part> part_of(const Request& request, TensorRequest& asked, std::int64_t step, std::int64_t most) {
  Trial& trial = asked.use.trial();
  Part part;
  part.worker = request.query.text("worker");
  TRAINWARDEN_ASSIGN_OR_RETURN(part.value, trial.shared_value(asked.tensor, step, Mode::kGlobal, part.worker));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto axes, request.query.integers("axes", 0, kMostAxes - 1, kMostAxes));
  TRAINWARDEN_ASSIGN_OR_RETURN(part.slice,
                               views::parse_slice(request.query.text("slice"), part.value.view.shape, axes));
  if (part.slice.element_count() > most) return too_many(part.slice, most);
  if (part.worker.empty()) part.worker = trial.workers_of(asked.tensor, step).at(0);
  return part;
}

OrderedJson place_json(const Trial& trial, std::int64_t step, const Part& part) {
  const auto [mode, mode_step] = mode_of_step(trial, step);
  OrderedJson shape = OrderedJson::array();
  for (const std::int64_t size : part.value.view.shape.sizes()) shape.push_back(size);
  return {{"step", step},
          {"mode", mode},
          {"mode_step", mode_step},
          {"worker", part.worker},
          {"dtype", name(part.value.view.dtype)},
          {"shape", std::move(shape)},
          {"slice", part.slice.to_string()}};
}

Result<Reply> strings_reply(const Part& part, OrderedJson json) {
  const std::vector<std::string> texts = views::gather_strings(part.value.view, part.slice);
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  if (bytes > kMostTextBytes) {
    return Status(Code::kResourceExhausted,
                  fmt::format("the texts of slice \"{}\" have {} bytes; an answer has at most "
                              "{}: narrow it",
                              part.slice.to_string(), bytes, kMostTextBytes));
  }
  json["strings"] = texts;
  json["strings_shape"] = part.slice.shape();
  return json_reply(json);
}

// safetensors has no complex numbers: they are twice as many real ones, in a last dimension.
Reply numbers_reply(const Part& part, const OrderedJson& place) {
  const DType dtype = part.value.view.dtype;
  std::vector<std::int64_t> shape = part.slice.shape();
  DType component = dtype;
  if (is_complex(dtype)) {
    shape.push_back(2);
    component = dtype == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
  }
  ArraysReply reply;
  reply.add("value", component, shape, views::gather(part.value.view, part.slice));
  for (const auto& [key, word] : place.items()) {
    if (word.is_string()) {
      reply.note(key, word.get<std::string>());
    } else {
      reply.note_json(key, word);
    }
  }
  return std::move(reply).to_reply();
}

// The part as a packed tensor of its own. It may be moved: the view is made when it is looked at.
struct Packed {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::string bytes;
  std::vector<std::string> texts;
  std::vector<std::string_view> text_views;

  TensorView view() const {
    const void* data = dtype == DType::kString ? static_cast<const void*>(text_views.data()) : bytes.data();
    return TensorView::of(data, dtype, shape);
  }
};

Result<Packed> pack(const Part& part) {
  Packed packed;
  TRAINWARDEN_ASSIGN_OR_RETURN(packed.shape, Shape::from(part.slice.shape()));
  const TensorView& whole = part.value.view;
  packed.dtype = whole.dtype;
  if (whole.dtype == DType::kString) {
    packed.texts = views::gather_strings(whole, part.slice);
    packed.text_views.assign(packed.texts.begin(), packed.texts.end());
  } else {
    packed.bytes = views::gather(whole, part.slice);
  }
  return packed;
}

// A text that a spreadsheet will not take for a formula.
std::string csv_field(std::string_view text) {
  std::string field = "\"";
  if (!text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos) field += '\'';
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + '"';
}

// A line for each row of the last dimension, without a head: what numpy.loadtxt reads.
std::string csv_of(const TensorView& packed) {
  const int rank = packed.shape.rank();
  const std::int64_t columns = rank == 0 ? 1 : packed.shape[rank - 1];
  std::string text;
  for (std::int64_t i = 0; i < packed.element_count(); ++i) {
    if (packed.dtype == DType::kString) {
      text += csv_field(static_cast<const std::string_view*>(packed.data)[i]);
    } else {
      transfer::append_element(text, packed, i, transfer::kCsvNumbers);
    }
    text += (i + 1) % columns == 0 ? "\r\n" : ",";
  }
  return text;
}

Result<std::string> png_of(const TensorView& packed) {
  const auto picture = transfer::picture_of(packed);
  if (picture) return transfer::encode_png(*picture);
  return Status(Code::kInvalidArgument,
                fmt::format("a {} of shape {} is no picture; a slice that keeps two dimensions of at most {} is one",
                            name(packed.dtype), packed.shape.to_string(), transfer::kLargestSide));
}

Result<Reply> file_reply(const Part& part, std::string_view format) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Packed packed, pack(part));
  Reply reply;
  if (format == "npy") {
    reply.type = "application/octet-stream";
    reply.body = std::make_shared<const std::string>(transfer::encode_npy(packed.view()));
  } else if (format == "csv") {
    reply.type = "text/csv; charset=utf-8";
    reply.body = std::make_shared<const std::string>(csv_of(packed.view()));
  } else {
    TRAINWARDEN_ASSIGN_OR_RETURN(std::string png, png_of(packed.view()));
    reply.type = "image/png";
    reply.body = std::make_shared<const std::string>(std::move(png));
  }
  return reply;
}

Result<Reply> answer_in(std::string_view format, const Part& part, const OrderedJson& place) {
  if (format != "arrays") return file_reply(part, format);
  if (part.value.view.dtype == DType::kString) return strings_reply(part, place);
  return numbers_reply(part, place);
}

// How many elements an answer of this format may have. kInvalidArgument for an unknown one.
Result<std::int64_t> most_elements(std::string_view format) {
  if (format == "arrays") return kMostElements;
  if (format == "npy") return kMostFileElements;
  if (format == "csv" || format == "png") return kMostTextElements;
  return Status(Code::kInvalidArgument,
                fmt::format("parameter \"format\": expected arrays, npy, csv or png, found \"{}\"", format));
}

Result<views::PictureChoice> picture_choice(const Request& request) {
  constexpr std::size_t kMostSteps = 256;
  const views::Query& query = request.query;
  views::PictureChoice choice;
  TRAINWARDEN_ASSIGN_OR_RETURN(choice.steps,
                               query.integers("steps", 0, std::numeric_limits<std::int64_t>::max(), kMostSteps));
  TRAINWARDEN_ASSIGN_OR_RETURN(choice.axes, query.integers("axes", 0, kMostAxes - 1, kMostAxes));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t size, query.integer("size", 1, 1024, 64));
  choice.size = static_cast<int>(size);
  choice.slice = query.text("slice");
  choice.worker = query.text("worker");
  const std::string pool = query.text("pool", "mean");
  if (pool != "mean" && pool != "max") {
    return Status(Code::kInvalidArgument, fmt::format("parameter \"pool\": expected mean or max, found \"{}\"", pool));
  }
  choice.pooling = pool == "max" ? views::Pooling::kMax : views::Pooling::kMean;
  return choice;
}

std::vector<double> steps_as_doubles(std::span<const std::int64_t> steps) {
  return {steps.begin(), steps.end()};
}

Reply pictures_reply(const views::Pictures& pictures) {
  const auto steps = static_cast<std::int64_t>(pictures.steps.size());
  const std::int64_t rows = pictures.rows;
  ArraysReply reply;
  reply.add("steps", {steps}, steps_as_doubles(pictures.steps));
  reply.add("low", {rows, steps}, pictures.low);
  reply.add("high", {rows, steps}, pictures.high);
  reply.add("nan", {rows, steps}, pictures.nans);
  reply.add("inf", {rows, steps}, pictures.infs);
  reply.add("pixels", {rows, steps, pictures.height, pictures.width}, pictures.pixels);
  reply.note_json("full_height", pictures.full_height);
  reply.note_json("full_width", pictures.full_width);
  OrderedJson instead = OrderedJson::array();
  for (const views::InsteadOf& step : pictures.instead)
    instead.push_back({{"asked", step.asked}, {"shown", step.shown}});
  reply.note_json("instead", instead);
  reply.note_json("left_out", pictures.left_out);
  reply.note("why_left_out", pictures.why_left_out);
  reply.note("slice", pictures.slice);
  return std::move(reply).to_reply();
}

}  // namespace

Result<Reply> answer_value(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"slice", "axes", "worker", "format"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t step, step_in_path(request));
  const std::string format = request.query.text("format", "arrays");
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t most, most_elements(format));
  std::optional<TensorRequest> asked;
  TRAINWARDEN_ASSIGN_OR_RETURN(asked, use_tensor(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Part part, part_of(request, *asked, step, most));
  const OrderedJson place = place_json(asked->use.trial(), step, part);
  const bool complete = is_complete(asked->use.trial(), step);
  const std::string file_name = format == "arrays" ? "" : download_name(asked->tensor, step, "." + format);
  asked.reset();  // others may look at the run while a large answer is written; the value outlives the trial
  Result<Reply> reply = answer_in(format, part, place);
  if (!reply.ok()) return reply;
  reply->file_name = file_name;
  reply->immutable = complete;
  return reply;
}

Result<Reply> answer_pictures(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"steps", "slice", "axes", "worker", "size", "pool"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::PictureChoice choice, picture_choice(request));
  TRAINWARDEN_ASSIGN_OR_RETURN(TensorRequest asked, use_tensor(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto pictures, views::tensor_pictures(asked.use, asked.tensor, choice));
  Reply reply = pictures_reply(pictures);
  reply.immutable = pictures.instead.empty();  // a nearer step may still come
  for (const std::int64_t step : choice.steps) {
    reply.immutable = reply.immutable && is_complete(asked.use.trial(), step);
  }
  return reply;
}

}  // namespace trainwarden::answers
