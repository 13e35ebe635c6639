#include "ui/cli/options/capture_form.h"

#include <utility>

#include "hook/capture/capture_plan.h"
#include "hook/capture/config/option_values.h"
#include "hook/capture/requests/capture_change.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/terminal/json_out.h"

namespace trainwarden::cli {
namespace {

Result<OrderedJson> keep_as_json(const std::string& text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const KeepForm keep, capture::parse_keep(text));
  return OrderedJson{{"values", keep.values},
                     {"statistics", keep.statistics},
                     {"histogram", keep.histogram},
                     {"hash", keep.hash},
                     {"shape", keep.shape}};
}

// What --save-interval and --keep say.
Result<OrderedJson> way_as_json(const CaptureForm& form) {
  OrderedJson way = OrderedJson::object();
  if (form.save_interval > 0) way["save"] = {{"save_interval", form.save_interval}};
  if (!form.keep.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(way["keep"], keep_as_json(form.keep));
  }
  return way;
}

Result<OrderedJson> options_as_json(const CaptureForm& form) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const OrderedJson way, way_as_json(form));
  std::vector<std::string> included = form.include_collections;
  if (!form.include.empty()) included.emplace_back("default");  // the collection of patterns
  OrderedJson options = OrderedJson::object();
  if (included.empty()) options.update(way);
  if (!form.include.empty()) options["include"] = form.include;
  if (!form.include_collections.empty()) options["include_collections"] = form.include_collections;
  if (!included.empty() && !way.empty()) {
    options["collections"] = OrderedJson::array();
    for (const std::string& collection : included) {
      OrderedJson member = {{"name", collection}};
      member.update(way);
      options["collections"].push_back(std::move(member));
    }
  }
  if (!form.budget.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(options["budget"], capture::parse_share(form.budget));
  }
  return options;
}

}  // namespace

bool CaptureForm::asks_for_nothing() const {
  return include_collections.empty() && include.empty() && exclude_collections.empty() && save_interval == 0 &&
         keep.empty() && budget.empty() && !only && !reset;
}

Result<format::CaptureRequest> make_request(const CaptureForm& form) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const OrderedJson options, options_as_json(form));
  format::CaptureRequest request;
  request.options = to_text(options);
  request.exclude_collections = form.exclude_collections;
  request.only = form.only;
  request.reset = form.reset;
  return request;
}

Status check_request(const format::CaptureRequest& request, const Trial& trial) {
  HookOptions opened;
  capture::CaptureState now;
  for (const std::string& name : trial.collections()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Collection collection, trial.collection(name));
    if (collection.save) now.options.collections.push_back(collection);
    opened.collections.push_back(std::move(collection));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const capture::CaptureState next, capture::change_capture(now, opened, request));
  return capture::CapturePlan::resolve(next.options).status();
}

void add_capture_form(CLI::App& command, CaptureForm& form) {
  const auto repeated = [&](const char* option, std::vector<std::string>& values, const char* description,
                            const char* type) { add_words(command, option, values, description)->type_name(type); };
  repeated("--include-collection", form.include_collections, "Capture this collection too; several times for several",
           "NAME");
  repeated("--include", form.include, "Capture tensors in whose name this pattern is found, too", "PATTERN");
  repeated("--exclude-collection", form.exclude_collections, "Do not capture this collection any more", "NAME");
  command.add_flag("--only", form.only, "Capture what is included here, losses and scalars, and nothing else");
  command.add_flag("--reset", form.reset, "Start from what the training was started with");
  command
      .add_option("--save-interval", form.save_interval,
                  "Every N-th step; of what is included here, else of all that has no interval of its own")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, INT64_MAX).description(""));
  command.add_option("--keep", form.keep, "In which form: values, statistics, histogram, hash, shape; a list")
      ->type_name("FORMS");
  command.add_option("--budget", form.budget, "Share of the training's time that capture may take, as 1%; 0: no limit")
      ->type_name("SHARE");
}

}  // namespace trainwarden::cli
