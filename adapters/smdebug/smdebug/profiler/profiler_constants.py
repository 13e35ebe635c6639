"""Names and numbers that programs of smdebug's profiler import."""

from __future__ import annotations

DEFAULT_PREFIX = "framework/pevents"
DEFAULT_SYSTEM_PROFILER_PREFIX = "system"
TRACE_DIRECTORY_FORMAT = "%Y%m%d%H"
PYTHONTIMELINE_SUFFIX = "pythontimeline.json"
MODELTIMELINE_SUFFIX = "model_timeline.json"
TENSORBOARDTIMELINE_SUFFIX = "trace.json.gz"
HOROVODTIMELINE_SUFFIX = "horovod_timeline.json"
SMDATAPARALLELTIMELINE_SUFFIX = "smdataparallel_timeline.json"
MERGEDTIMELINE_SUFFIX = "merged_timeline.json"
PT_DATALOADER_WORKER = "DataLoaderWorker"
PT_DATALOADER_ITER = "DataLoaderIter"
PT_DATALOADER_INITIALIZE = "DataLoaderIterInitialize"
TF_DATALOADER_ITER = "DataIterator"
CONVERT_TO_MICROSECS = 1000000
CONVERT_MICRO_TO_NS = 1000
CONFIG_PATH_DEFAULT = "/opt/ml/input/config/profilerconfig.json"
BASE_FOLDER_DEFAULT = "/opt/ml/output/profiler"
CPROFILE_NAME = "cprofile"
CPROFILE_STATS_FILENAME = "python_stats"
PYINSTRUMENT_NAME = "pyinstrument"
PYINSTRUMENT_JSON_FILENAME = "python_stats.json"
PYINSTRUMENT_HTML_FILENAME = "python_stats.html"
