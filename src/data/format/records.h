// What the payload of each kind of frame holds. Bytes in, bytes out; the byte tables are in docs/format/records.md.
//
//   frame kind      payload                                    here
//   kSegmentStart   JSON                                       segment_start.h
//   kNames          JSON                                       names_record.h
//   kBundle         safetensors: values                        bundle.h
//   kStatistics     safetensors columns                        statistics_record.h
//   kScalars        safetensors columns                        scalars_record.h
//   kStepEnd        JSON                                       step_end.h
//   kEvent          JSON                                       run_event.h
//   kIndex          safetensors columns                        segment_index.h
//   kTrailer        JSON of 64 bytes                           segment_index.h
//   kReductions     safetensors columns                        reductions_record.h
//   kSamples        safetensors columns                        samples_record.h
//   kOperators      safetensors columns                        operators_record.h
//
// Decoders take any bytes: they never throw, and say kDataLoss with the name of the field at fault.
#pragma once

#include "data/format/bundle.h"
#include "data/format/names_record.h"
#include "data/format/operators_record.h"
#include "data/format/reductions_record.h"
#include "data/format/run_event.h"
#include "data/format/samples_record.h"
#include "data/format/scalars_record.h"
#include "data/format/segment_index.h"
#include "data/format/segment_start.h"
#include "data/format/statistics_record.h"
#include "data/format/step_end.h"
