#include "react/delivery/event_notice.h"

namespace trainwarden::delivery {
namespace {

std::string text_in(const format::OrderedJson& data, const char* field) {
  const auto found = data.find(field);
  return found != data.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string document_of(const events::Event& event, EventFormat format) {
  return format == EventFormat::kEventBridge ? events::encode_as_eventbridge(event) : events::encode_event(event);
}

actions::EventNotice make_notice(const events::Event& event, EventFormat format, const std::string& run_name,
                                 const std::filesystem::path& run, int attempt) {
  actions::EventNotice notice;
  notice.key = event.key;
  notice.event_id = event.id;
  notice.type = event.type;
  notice.subject = event.subject;
  notice.unix_ns = event.unix_ns;
  notice.run_name = run_name.empty() ? text_in(event.data, "TrainingJobName") : run_name;
  notice.run = run_name.empty() ? std::filesystem::path(text_in(event.data, "RunFolder")) : run;
  notice.headline = event.headline;
  notice.text = event.text;
  notice.rule = event.change.rule;
  notice.global_step = event.global_step;
  notice.document = document_of(event, format);
  notice.content_type = format == EventFormat::kEventBridge ? "application/json" : "application/cloudevents+json";
  notice.attempt = attempt;
  return notice;
}

}  // namespace trainwarden::delivery
