// BillView: what capture costs a run's training, and what was left out to keep to the budget, as its workers reported
// it.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "ui/cli/terminal/json_out.h"
#include "ui/views/capture_bill.h"

namespace trainwarden::cli {

OrderedJson json_of(const views::WorkerBill& bill);
// "30 steps"; where more were trained than kept "61 steps kept, trained up to step 1999".
std::string progress_text(const Trial& trial);
void print_bills(std::FILE* stream, const std::vector<views::WorkerBill>& bills);

}  // namespace trainwarden::cli
