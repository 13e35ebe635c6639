// Request address: the run that a request in a control/ folder is meant for, and whether two requests are the same.
#pragma once

#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::format {

// The request (a JSON object of control_record.h or delivery_request.h) with the field "run".
std::string address_request(std::string_view request, std::string_view run_id);

// Is the request meant for this run? Fine when it names none, as those of earlier versions and of people do.
// kFailedPrecondition when it names another, kDataLoss when it is no request.
Status check_address(std::string_view request, std::string_view run_id);

// Does `there` ask for what `wanted` asks for? When, by whom and for which reason does not matter, nor does a run that
// only one of them names. kAlreadyExists with what is there when it does not.
Status check_same_request(std::string_view wanted, std::string_view there);

}  // namespace trainwarden::format
