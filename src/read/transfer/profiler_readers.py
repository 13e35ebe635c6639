"""What smdebug's own readers of profiles find in a folder of ours: profiler_readers.py FOLDER SAMPLES STEPS CALLS.

The run is that of profiler_export_test.cc. Ends with 1 and a message at the first difference.
"""

import logging
import sys

logging.disable(logging.CRITICAL)

from smdebug.profiler.algorithm_metrics_reader import LocalAlgorithmMetricsReader  # noqa: E402
from smdebug.profiler.analysis.utils.pandas_data_analysis import PandasFrameAnalysis, Resource, StatsBy  # noqa: E402
from smdebug.profiler.analysis.utils.profiler_data_to_pandas import PandasFrame  # noqa: E402
from smdebug.profiler.system_metrics_reader import LocalSystemMetricsReader  # noqa: E402


def expect(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: expected {expected!r}, found {found!r}")


folder, samples, steps, calls = sys.argv[1], *map(int, sys.argv[2:])
FAR = 4_000_000_000_000_000

system = LocalSystemMetricsReader(folder)
events = system.get_events(0, FAR)
expect("system events", len(events), samples)
expect("nodes", {event.node_id for event in events}, {"algo-1"})
expect("types", {event.type for event in events}, {"cpu", "gpu", "memory", "i/o"})
busy = [event.value for event in events if (event.name, event.dimension) == ("cpu0", "CPUUtilization")]
expect("cpu0", busy, [25, 25, 50])
expect("GPUs", [e.value for e in events if e.type == "gpu"], [50, 50, 75, 100])
expect("gpu's name", {e.name for e in events if e.type == "gpu"}, {"gpu0"})

framework = LocalAlgorithmMetricsReader(folder)
events = framework.get_events(0, FAR)
found = [event for event in events if event.event_name == "Step:ModeKeys.TRAIN"]
expect("steps", len(found), steps)
expect("their phase", {event.event_phase for event in found}, {"Step:ModeKeys.TRAIN"})
expect("their duration", {event.duration for event in found}, {125_000})
operators = [event for event in events if event.event_phase in ("cpu_functions", "gpu_functions-dev:1")]
expect("calls", sorted(event.event_name for event in operators), ["aten::mm", 'gemm_kernel "x"'])
expect("calls, counted", len(operators), calls)
waits = [event.duration for event in events if event.event_phase == "DataLoaderIter"]
expect("waits for data", set(waits), {31_250})
expect("steps 1 to 2", framework.get_events_by_step(1, 2) != [], True)

frame = PandasFrame(folder)
system_frame = frame.get_all_system_metrics()
framework_frame = frame.get_all_framework_metrics()
expect("rows of system metrics", len(system_frame), samples)
expect("rows of steps", len(framework_frame[framework_frame["framework_metric"] == "Step:ModeKeys.TRAIN"]), steps)
expect("steps of rows", set(framework_frame["step"]), {0, 1, 2, 3})
analysis = PandasFrameAnalysis(system_frame, framework_frame)
statistics = analysis.get_step_statistics(by=StatsBy.PROCESS)
forward = statistics[statistics["process"] == "Forward-node"]
expect("processes of statistics", "Backward(post-forward)-node" in set(statistics["process"]), True)
expect("forward passes", len(forward), 1)
usage = analysis.get_utilization_stats(resource=Resource.GPU)
expect("highest use of a GPU", list(usage["utilization_max"]), [100])
