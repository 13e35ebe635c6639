// The tensors of a run, and where one of them was kept.
#include <map>

#include "ui/answers/tensor_handlers.h"
#include "ui/views/tensor_list.h"
#include "ui/views/tensor_sighting.h"

namespace trainwarden::answers {
namespace {

using format::OrderedJson;

OrderedJson sizes_json(const Shape& shape) {
  auto sizes = OrderedJson::array();
  for (const std::int64_t size : shape.sizes()) sizes.push_back(size);
  return sizes;
}

// In columns: a list of 12,345 objects is ten times as long to read.
OrderedJson list_json(const views::TensorList& list) {
  OrderedJson ids = OrderedJson::array(), names = ids, dtypes = ids, shapes = ids, values = ids, statistics = ids,
              scalars = ids, reductions = ids, first_steps = ids, last_steps = ids;
  for (const views::ListedTensor& tensor : list.tensors) {
    ids.push_back(tensor.id);
    names.push_back(tensor.name);
    dtypes.push_back(tensor.has_shape ? OrderedJson(name(tensor.dtype)) : OrderedJson());
    shapes.push_back(tensor.has_shape ? sizes_json(tensor.shape) : OrderedJson());
    values.push_back(tensor.values);
    statistics.push_back(tensor.statistics);
    scalars.push_back(tensor.scalars);
    reductions.push_back(tensor.reductions);
    first_steps.push_back(tensor.first_step);
    last_steps.push_back(tensor.last_step);
  }
  OrderedJson json{{"ids", std::move(ids)},
                   {"names", std::move(names)},
                   {"dtypes", std::move(dtypes)},
                   {"shapes", std::move(shapes)},
                   {"values", std::move(values)},
                   {"statistics", std::move(statistics)},
                   {"scalars", std::move(scalars)},
                   {"reductions", std::move(reductions)},
                   {"first_steps", std::move(first_steps)},
                   {"last_steps", std::move(last_steps)}};
  OrderedJson::object_t collections;  // each there once: no search among those before
  for (const auto& [collection, members] : list.collections) collections.emplace_back(collection, members);
  json["collections"] = std::move(collections);
  return json;
}

// The list of a version of the run, written once for all who ask.
struct WrittenList {
  std::uint64_t version = 0;
  Reply reply;
};

}  // namespace

Result<Reply> answer_tensor_list(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(views::OpenRun::Use use, use_run(request, services));
  auto& written = use.memory<WrittenList>();
  if (written.version != use.version()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const views::TensorList* list, views::tensor_list(use));
    written = {use.version(), json_reply(list_json(*list))};
  }
  return written.reply;
}

Result<Reply> answer_tensor(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(TensorRequest asked, use_tensor(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::FoundTensor found, views::find_listed(asked.use, asked.tensor));
  const views::ListedTensor& info = *found.tensor;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto presence, views::tensor_presence(asked.use, asked.tensor));
  OrderedJson forms = OrderedJson::object();
  for (const views::StepsOfForm& form : presence->forms)
    forms[std::string(views::name(form.form))] = steps_json(form.steps);
  OrderedJson modes = OrderedJson::array();
  for (const views::StepsOfMode& mode : presence->modes) {
    modes.push_back({{"mode", name(mode.mode)}, {"steps", steps_json(mode.steps)}});
  }
  return json_reply({{"id", request.in_path("tensor")},
                     {"name", asked.tensor},
                     {"dtype", info.has_shape ? OrderedJson(name(info.dtype)) : OrderedJson()},
                     {"shape", info.has_shape ? sizes_json(info.shape) : OrderedJson()},
                     {"collections", found.collections},
                     {"workers", presence->workers},
                     {"steps", steps_json(presence->steps)},
                     {"modes", std::move(modes)},
                     {"forms", std::move(forms)}});
}

}  // namespace trainwarden::answers
