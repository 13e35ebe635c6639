// What the grammar alone does not see: which tensors each part of a rule goes over.
#pragma once

#include "judge/rules/language/expression.h"
#include "trainwarden/status.h"

namespace trainwarden::rules::language {

// Chooses the leader of each scope. kInvalidArgument where the tensors of a part cannot be told one from the other, or
// where it reads none.
Status check_scopes(Expression& expression);

}  // namespace trainwarden::rules::language
