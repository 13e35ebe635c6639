// Faults of the adapter end here: the training goes on.
#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <exception>
#include <string_view>

namespace trainwarden::torch {

// Logs the first few to standard error, counts all.
void report_fault(std::string_view doing, std::string_view what) noexcept;
std::uint64_t fault_count() noexcept;

// Calls `action`. `doing` says for the log what could not be done: "capture the model".
template <class Action>
void without_throwing(std::string_view doing, Action&& action) noexcept {
  try {
    action();
  } catch (const c10::Error& error) {
    report_fault(doing, error.what_without_backtrace());
  } catch (const std::exception& error) {
    report_fault(doing, error.what());
  } catch (...) {
    report_fault(doing, "unknown fault");
  }
}

}  // namespace trainwarden::torch
