#include "trainwarden/metric.h"

namespace trainwarden {

std::string_view name(MetricKind kind) {
  switch (kind) {
    case MetricKind::kGauge: return "gauge";
    case MetricKind::kCounter: return "counter";
    case MetricKind::kDelta: return "delta";
    case MetricKind::kRatio: return "ratio";
    case MetricKind::kUnknown: break;
  }
  return "unknown";
}

std::string_view name(MetricSource source) {
  switch (source) {
    case MetricSource::kHost: return "host";
    case MetricSource::kProcess: return "process";
    case MetricSource::kDevice: return "device";
    case MetricSource::kRank: return "rank";
    case MetricSource::kUnknown: break;
  }
  return "unknown";
}

}  // namespace trainwarden
