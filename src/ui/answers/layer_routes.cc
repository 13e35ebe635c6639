// Layers over steps.
#include <chrono>
#include <limits>

#include "ui/answers/replies.h"
#include "ui/answers/route.h"
#include "ui/views/layers/layers.h"

namespace trainwarden::answers {
namespace {

using format::OrderedJson;

constexpr std::int64_t kMostLayerColumns = 2048;
constexpr std::int64_t kFarthestStep = std::numeric_limits<std::int64_t>::max();
// So long one answer reads while others wait for the run; what is left then comes with the next.
constexpr std::chrono::milliseconds kLayerPatience(200);

Result<views::LayerQuestion> layer_question_of(const views::Query& query) {
  views::LayerQuestion question;
  TRAINWARDEN_ASSIGN_OR_RETURN(question.quantity, views::parse_layer_quantity(query.text("quantity", "norm")));
  question.collection = query.text("collection");
  TRAINWARDEN_ASSIGN_OR_RETURN(question.mode, query.mode());
  if (question.mode == Mode::kGlobal) question.mode.reset();
  question.worker = query.text("worker");
  TRAINWARDEN_ASSIGN_OR_RETURN(question.stretch.from,
                               query.integer("from", -kFarthestStep, kFarthestStep, -kFarthestStep));
  TRAINWARDEN_ASSIGN_OR_RETURN(question.stretch.to, query.integer("to", -kFarthestStep, kFarthestStep, kFarthestStep));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t columns, query.integer("columns", 1, kMostLayerColumns, 1024));
  question.columns = static_cast<std::size_t>(columns);
  return question;
}

template <class Items, class Pick>
std::vector<double> column_of(const Items& items, const Pick& pick) {
  std::vector<double> numbers;
  numbers.reserve(items.size());
  for (const auto& item : items) numbers.push_back(static_cast<double>(pick(item)));
  return numbers;
}

template <class Items, class Pick>
void add_numbers(ArraysReply& reply, std::string name, std::vector<std::int64_t> shape, const Items& items,
                 const Pick& pick) {
  const std::vector<double> numbers = column_of(items, pick);
  reply.add(std::move(name), std::move(shape), std::span<const double>(numbers));
}

void add_columns(ArraysReply& reply, const std::vector<views::LayerColumn>& columns) {
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(columns.size())};
  add_numbers(reply, "first_step", shape, columns, [](const auto& c) { return c.first_step; });
  add_numbers(reply, "last_step", shape, columns, [](const auto& c) { return c.last_step; });
  add_numbers(reply, "steps", shape, columns, [](const auto& c) { return c.steps; });
  add_numbers(reply, "read", shape, columns, [](const auto& c) { return c.read; });
}

// What is not finite is seldom: only the cells that have it are named.
void add_odd_cells(ArraysReply& reply, const std::vector<views::LayerCell>& cells) {
  std::vector<std::pair<std::size_t, const views::LayerCell*>> odd;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].odd_step >= 0) odd.emplace_back(i, &cells[i]);
  }
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(odd.size())};
  add_numbers(reply, "odd_cell", shape, odd, [](const auto& each) { return each.first; });
  add_numbers(reply, "odd_step", shape, odd, [](const auto& each) { return each.second->odd_step; });
  add_numbers(reply, "nan", shape, odd, [](const auto& each) { return each.second->nan; });
  add_numbers(reply, "inf", shape, odd, [](const auto& each) { return each.second->inf; });
}

OrderedJson layers_json(const std::vector<std::string>& names) {
  OrderedJson list = OrderedJson::array();
  for (const std::string& name : names) list.push_back({{"id", views::tensor_id_of(name)}, {"name", name}});
  return list;
}

OrderedJson kept_json(const std::vector<views::KeptCollection>& kept) {
  OrderedJson list = OrderedJson::array();
  for (const views::KeptCollection& each : kept) {
    list.push_back({{"name", each.name}, {"statistics", each.has_statistics}, {"values", each.has_values}});
  }
  return list;
}

Result<Reply> layers_over_steps(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(
      request.query.only({"quantity", "collection", "mode", "worker", "from", "to", "columns"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::LayerQuestion question, layer_question_of(request.query));
  TRAINWARDEN_ASSIGN_OR_RETURN(auto use, use_run(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::LayerLook look, views::look_at_layers(use, question, kLayerPatience));
  ArraysReply reply;
  add_columns(reply, look.columns);
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(look.layers.size()),
                                        static_cast<std::int64_t>(look.columns.size())};
  add_numbers(reply, "max", shape, look.cells, [](const auto& cell) { return cell.max; });
  add_numbers(reply, "max_step", shape, look.cells, [](const auto& cell) { return cell.max_step; });
  add_odd_cells(reply, look.cells);
  reply.note_json("layers", layers_json(look.layers));
  reply.note_json("about", {{"quantity", question.quantity.name},
                            {"collection", look.collection},
                            {"worker", look.worker},
                            {"workers", look.workers},
                            {"left_out", look.left_out},
                            {"steps", look.steps},
                            {"left", look.left},
                            {"unreadable", look.unreadable}});
  reply.note_json("kept", kept_json(look.kept));
  return std::move(reply).to_reply();
}

}  // namespace

std::vector<Route> layer_routes() {
  return {{Method::kGet, "/runs/{run}/layers", layers_over_steps}};
}

}  // namespace trainwarden::answers
