#include "match/matcher.h"
