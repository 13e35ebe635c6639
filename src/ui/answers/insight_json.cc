#include "ui/answers/insight_json.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "ui/answers/replies.h"
#include "ui/views/shelf.h"

namespace trainwarden::answers {
namespace {

using format::OrderedJson;

constexpr std::size_t kMostNames = 500;

OrderedJson numbers_words() {
  return {"actual",         "predicted", "hits",       "precision",   "precision_low",
          "precision_high", "recall",    "recall_low", "recall_high", "f1"};
}

std::vector<double> numbers_of(const views::Confusion& confusion) {
  std::vector<double> numbers;
  for (const views::ClassNumbers& row : confusion.numbers) {
    const double all[] = {row.actual,         row.predicted,    row.hits,       row.precision.value, row.precision.low,
                          row.precision.high, row.recall.value, row.recall.low, row.recall.high,     row.f1};
    numbers.insert(numbers.end(), std::begin(all), std::end(all));
  }
  return numbers;
}

// The class's name, its number, or "other".
OrderedJson names_json(const views::Confusion& confusion, const views::ClassNames& names) {
  OrderedJson list = OrderedJson::array();
  for (const std::int64_t number : confusion.classes) {
    const bool named = number >= 0 && static_cast<std::uint64_t>(number) < names.names.size();
    if (number == views::Confusion::kOther) {
      list.push_back("other");
    } else {
      list.push_back(named ? names.names[static_cast<std::size_t>(number)] : std::to_string(number));
    }
  }
  return list;
}

OrderedJson json_of(const views::Parting& parting) {
  return {{"tensor", parting.tensor},
          {"tensor_id", views::tensor_id_of(parting.tensor)},
          {"worker", parting.worker},
          {"form", parting.form},
          {"quantity", parting.quantity},
          {"a", json_number(parting.a)},
          {"b", json_number(parting.b)},
          {"place", parting.place},
          {"difference", json_number(parting.difference)},
          {"relative", json_number(parting.relative)},
          {"differing", parting.differing},
          {"elements", parting.elements}};
}

OrderedJson some_of(const std::vector<std::string>& names) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNames));
  return {{"count", names.size()}, {"names", std::vector<std::string>(names.begin(), end)}};
}

}  // namespace

Reply reply_of(const views::Confusion& confusion, const views::ClassNames& names) {
  const auto size = static_cast<std::int64_t>(confusion.classes.size());
  std::vector<double> classes;
  for (const std::int64_t number : confusion.classes) {
    classes.push_back(number == views::Confusion::kOther ? std::nan("") : static_cast<double>(number));
  }
  ArraysReply reply;
  reply.add("counts", {size, size}, std::span<const double>(confusion.counts));
  reply.add("classes", {size}, std::span<const double>(classes));
  reply.add("numbers", {size, 10}, std::span<const double>(numbers_of(confusion)));
  reply.note_json("columns", numbers_words());
  reply.note_json("names", names_json(confusion, names));
  reply.note("names_source", names.source);
  reply.note_json("samples", confusion.samples);
  reply.note_json("folded_classes", confusion.folded_classes);
  reply.note_json("accuracy", {json_number(confusion.accuracy.value), confusion.accuracy.low, confusion.accuracy.high});
  reply.note_json("steps", confusion.steps);
  reply.note_json("counted_steps", confusion.counted_steps);
  reply.note_json("first_step", confusion.first_step);
  reply.note_json("last_step", confusion.last_step);
  reply.note_json("unfit_steps", confusion.unfit_steps);
  reply.note("first_problem", confusion.first_problem);
  return std::move(reply).to_reply();
}

OrderedJson json_of(const views::Comparison& comparison) {
  OrderedJson fields = OrderedJson::array();
  for (const views::ComparedField& field : comparison.fields) {
    fields.push_back(
        {{"group", field.group}, {"name", field.name}, {"a", field.a}, {"b", field.b}, {"differs", field.differs()}});
  }
  OrderedJson parting = nullptr;
  if (comparison.parted_step >= 0) {
    OrderedJson tensors = OrderedJson::array();
    for (const views::Parting& one : comparison.partings) tensors.push_back(json_of(one));
    parting = {{"step", comparison.parted_step},
               {"mode", name(comparison.mode)},
               {"mode_step", comparison.mode_step},
               {"tensor_count", comparison.parted_tensors},
               {"tensors", std::move(tensors)}};
  }
  return {{"fields", std::move(fields)},
          {"common_tensors", comparison.common_tensors},
          {"only_a", some_of(comparison.only_a)},
          {"only_b", some_of(comparison.only_b)},
          {"common_steps", comparison.common_steps},
          {"compared_steps", comparison.compared_steps},
          {"compared_tensors", comparison.compared_tensors},
          {"damaged", comparison.damaged},
          {"last_step", comparison.last_step},
          {"cut", comparison.cut},
          {"parting", std::move(parting)}};
}

}  // namespace trainwarden::answers
