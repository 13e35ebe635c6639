// BillView: what capture costs a run's training, and what was left out to keep to the budget, as its workers told it.
#pragma once

#include <cstdio>
#include <vector>

#include "cli/json_out.h"
#include "views/capture_bill.h"

namespace trainwarden::cli {

Json json_of(const views::WorkerBill& bill);
void print_bills(std::FILE* stream, const std::vector<views::WorkerBill>& bills);

}  // namespace trainwarden::cli
