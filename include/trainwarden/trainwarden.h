// Everything of the C++ API but the adapters.
#pragma once

#include "trainwarden/collection.h"
#include "trainwarden/control.h"
#include "trainwarden/dtype.h"
#include "trainwarden/guard.h"
#include "trainwarden/hook.h"
#include "trainwarden/mode.h"
#include "trainwarden/reduction.h"
#include "trainwarden/rule.h"
#include "trainwarden/save_policy.h"
#include "trainwarden/statistics.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"
#include "trainwarden/transfer.h"
#include "trainwarden/trial.h"
#include "trainwarden/version.h"
#include "trainwarden/watch.h"
