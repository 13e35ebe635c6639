// sms: a text message by the user's gateway, whatever that calls its fields.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "react/actions/action_kind.h"
#include "trainwarden/status.h"

namespace trainwarden::network {

actions::ActionKind sms_kind();

// The text cut to what `parts` messages hold, in the alphabet of GSM 03.38: 160 characters in one, 153 in each of
// several; [ ] { } \ ^ ~ | count twice. A character that is not in it becomes '?': one would halve the room.
std::string sms_text(std::string_view text, std::size_t parts);

enum class SmsBody { kForm, kJson };

// The template with each {name} of `values` replaced, escaped for this kind of body. Other braces stay as they are.
std::string fill_template(std::string_view text, const std::map<std::string, std::string>& values, SmsBody body);

// kInvalidArgument: a {word} that is none of `values`, with the nearest; or what is to be JSON is none.
Status check_template(std::string_view text, const std::map<std::string, std::string>& values, SmsBody body);

}  // namespace trainwarden::network
