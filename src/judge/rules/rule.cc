// Names of what a rule answers.
#include "trainwarden/rule.h"

namespace trainwarden {

StepWindow::~StepWindow() = default;

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk: return "ok";
    case Outcome::kFired: return "fired";
    case Outcome::kNotApplicable: return "not_applicable";
    case Outcome::kInsufficientData: return "insufficient_data";
    case Outcome::kError: return "error";
  }
  return "unknown";
}

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::kInfo: return "info";
    case Severity::kWarning: return "warning";
    case Severity::kError: return "error";
  }
  return "unknown";
}

std::string_view name(RuleStatus status) {
  switch (status) {
    case RuleStatus::kInProgress: return "InProgress";
    case RuleStatus::kIssuesFound: return "IssuesFound";
    case RuleStatus::kNoIssuesFound: return "NoIssuesFound";
    case RuleStatus::kStopping: return "Stopping";
    case RuleStatus::kStopped: return "Stopped";
    case RuleStatus::kError: return "Error";
    case RuleStatus::kNotApplicable: return "NotApplicable";
  }
  return "Unknown";
}

}  // namespace trainwarden
