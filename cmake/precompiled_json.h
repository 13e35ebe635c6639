// The JSON library's header as it is compiled once (TrainwardenTargets.cmake), without its literal "..."_json. That is
// a function and no template, and calls the parser: every source that includes it would make a parser, of which only
// those that parse have a use. g++ takes half a second for that, in each of a hundred sources.
#pragma once

// Of `inline json operator "" _json(text, length) { return json::parse(...); }` becomes a function that nobody may
// call, and a template that nobody does.
#define _json(text, length)     \
  _json(text, length) = delete; \
  template <class Unused>       \
  nlohmann::json parse_literal(text, length)
#include <nlohmann/json.hpp>
#undef _json
