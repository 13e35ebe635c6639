#include "data/foreign/smdebug_profiler_config.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/json.h"

namespace trainwarden::foreign {
namespace {

using format::Json;

constexpr std::size_t kMaxBytes = 1 << 20;
constexpr std::size_t kMaxNotes = 32;
constexpr std::int64_t kMaxSteps = std::int64_t{1} << 40;
constexpr double kMaxSeconds = 1e10;

Status wrong(std::string_view key, std::string_view expected, const Json& found) {
  std::string text = found.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 80) text = text.substr(0, 80) + "...";
  return Status(Code::kInvalidArgument,
                fmt::format("profilerconfig.json: {}: expected {}, found {}", key, expected, printable(text)));
}

// None of a JSON number, or of one as a text.
std::optional<double> number_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return parse_double(value.get<std::string>());
  return std::nullopt;
}

Result<std::int64_t> whole_number(std::string_view key, const Json& value, std::int64_t least) {
  const auto number = number_of(value);
  if (number && std::floor(*number) == *number && *number >= static_cast<double>(least) &&
      *number <= static_cast<double>(kMaxSteps)) {
    return static_cast<std::int64_t>(*number);
  }
  return wrong(key, fmt::format("a whole number from {} on", least), value);
}

Result<double> seconds_of(std::string_view key, const Json& value) {
  const auto number = number_of(value);
  if (number && *number >= 0 && *number <= kMaxSeconds) return *number;
  return wrong(key, "seconds", value);
}

Result<bool> switch_of(std::string_view key, const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) {
    if (const auto word = parse_bool(value.get<std::string>())) return *word;
  }
  return wrong(key, "true or false", value);
}

// A dict: as JSON has it, or as Python prints it, {'startstep': 5}. Quotes are all that differs there, and None.
Result<Json> dict_of(std::string_view key, const Json& value) {
  if (value.is_object()) return value;
  if (!value.is_string()) return wrong(key, "a text with a dict", value);
  std::string text = value.get<std::string>();
  Json dict = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (dict.is_discarded() && text.find('"') == std::string::npos) {
    std::replace(text.begin(), text.end(), '\'', '"');
    for (std::size_t at = text.find("none"); at != std::string::npos; at = text.find("none", at + 4)) {
      text.replace(at, 4, "null");
    }
    dict = Json::parse(text, nullptr, false);
  }
  return dict.is_object() ? Result<Json>(std::move(dict)) : wrong(key, "a text with a dict, {\"StartStep\": 5}", value);
}

struct ConfigReading {
  SmdebugProfilerConfig config;

  void no_effect(std::string_view key, std::string_view why) {
    if (config.without_effect.size() < kMaxNotes) {
      config.without_effect.push_back(fmt::format("{}: {}", printable(key), why));
    }
  }

  Status read_key(SmdebugProfileRange& range, const std::string& name, const std::string& key, const Json& value) {
    const std::string path = name + "." + key;
    if (value.is_null()) return {};
    if (key == "startstep") {
      TRAINWARDEN_ASSIGN_OR_RETURN(range.start_step, whole_number(path, value, 0));
    } else if (key == "numsteps") {
      TRAINWARDEN_ASSIGN_OR_RETURN(range.steps, whole_number(path, value, 1));
    } else if (key == "starttimeinsecsinceepoch") {
      TRAINWARDEN_ASSIGN_OR_RETURN(range.start_unix_seconds, seconds_of(path, value));
    } else if (key == "durationinseconds" || key == "duration") {
      TRAINWARDEN_ASSIGN_OR_RETURN(range.seconds, seconds_of(path, value));
    } else if (key == "metricsregex") {
      no_effect(path, "all of a data loader's waits are in the phase data_wait of each step");
    } else if (key == "profilername" || key == "cprofiletimer") {
      no_effect(path, "stacks are sampled, which counts wall time");
    } else {
      no_effect(path, "there is no such key");
    }
    return {};
  }

  Result<SmdebugProfileRange> read_range(const std::string& name, const Json& value) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Json dict, dict_of(name, value));
    SmdebugProfileRange range;
    for (const auto& [key, member] : dict.items()) {
      TRAINWARDEN_RETURN_IF_ERROR(read_key(range, name, key, member));
    }
    const bool by_steps = range.start_step.has_value() || (dict.contains("numsteps") && !dict["numsteps"].is_null());
    if (by_steps && range.by_time()) return wrong(name, "either steps or times, not both", value);
    return range;
  }

  Status read_parameters(const Json& parameters) {
    if (!parameters.is_object()) return wrong("ProfilingParameters", "an object", parameters);
    config.framework = true;
    for (const auto& [key, value] : parameters.items()) {
      if (key == "profilerenabled") {
        TRAINWARDEN_ASSIGN_OR_RETURN(config.framework, switch_of("ProfilerEnabled", value));
      } else if (key == "detailedprofilingconfig") {
        TRAINWARDEN_ASSIGN_OR_RETURN(config.operators, read_range("DetailedProfilingConfig", value));
      } else if (key == "pythonprofilingconfig") {
        TRAINWARDEN_ASSIGN_OR_RETURN(config.stacks, read_range("PythonProfilingConfig", value));
      } else if (key == "dataloaderprofilingconfig") {
        TRAINWARDEN_RETURN_IF_ERROR(read_range("DataloaderProfilingConfig", value).status());
        no_effect("DataloaderProfilingConfig", "waits for data are a phase of each step, always");
      } else if (key == "horovodprofilingconfig" || key == "smdataparallelprofilingconfig") {
        no_effect(key, "a timeline of Horovod's is read where it is imported; smdebug never read this either");
      } else if (key == "localpath" || key == "rotatemaxfilesizeinbytes" || key == "rotatefilecloseintervalinseconds" ||
                 key == "fileopenfailthreshold") {
        no_effect(key, "the profile is in the run; `trainwarden export --to smdebug-profiler` writes files");
      } else {
        no_effect(key, "there is no such key");
      }
    }
    if (!config.framework) config.operators = config.stacks = std::nullopt;
    return {};
  }

  Status read_document(const Json& document) {
    if (!document.is_object()) return wrong("the file", "a JSON object", document);
    for (const auto& [key, value] : document.items()) {
      if (value.is_null()) continue;
      if (key == "disableprofiler") {
        TRAINWARDEN_ASSIGN_OR_RETURN(config.disabled, switch_of("DisableProfiler", value));
      } else if (key == "profilingintervalinmilliseconds") {
        TRAINWARDEN_ASSIGN_OR_RETURN(config.interval_ms, whole_number("ProfilingIntervalInMilliseconds", value, 10));
        if (*config.interval_ms > 60'000) return wrong("ProfilingIntervalInMilliseconds", "60000 at most", value);
      } else if (key == "profilingparameters") {
        TRAINWARDEN_RETURN_IF_ERROR(read_parameters(value));
      } else if (key != "s3outputpath") {
        no_effect(key, "there is no such key");
      }
    }
    if (config.disabled) config.operators = config.stacks = std::nullopt;
    return {};
  }
};

}  // namespace

Result<SmdebugProfilerConfig> parse_smdebug_profiler_config(std::string_view json) {
  if (json.size() > kMaxBytes) {
    return Status(Code::kInvalidArgument, "profilerconfig.json: expected 1 MiB at most, and it is larger");
  }
  const Json document = Json::parse(lower(json), nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) {
    return Status(Code::kInvalidArgument, "profilerconfig.json: expected JSON, and it is none");
  }
  ConfigReading reading;
  TRAINWARDEN_RETURN_IF_ERROR(reading.read_document(document));
  return std::move(reading.config);
}

}  // namespace trainwarden::foreign
