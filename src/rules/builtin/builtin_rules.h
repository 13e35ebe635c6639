// The rules that come with Trainwarden, one file each.
#pragma once

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind vanishing_gradient();
RuleKind exploding_tensor();
RuleKind loss_not_decreasing();

}  // namespace trainwarden::rules
