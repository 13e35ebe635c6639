"""What estimators and their methods take."""

from __future__ import annotations

from ._keywords import Keyword, Keywords
from .debugger.profiling import INTERVALS

_ENCRYPTION = "nothing leaves this machine; encrypt the disk"
_NETWORK = "a job has the network of this machine; leave it out"
_ONE_KIND = "a job has one kind of node; leave it out"
_COMPILER = "compile in the program itself (docs/guide/compile.md)"

_SCRIPT = [
    Keyword("entry_point", "the script that trains: a file, or a path within source_dir"),
    Keyword("source_dir", "the folder of the sources; it is copied when the job is submitted"),
    Keyword("dependencies", "folders that are copied beside the sources"),
    Keyword("hyperparameters", "the script's arguments, by name: --epochs 3"),
]
_WHERE = [
    Keyword("role", "is shown by describe(); the job runs as whoever submits it"),
    Keyword("instance_count", "how many nodes", default=1, also=("train_instance_count",)),
    Keyword(
        "instance_type", "a name for the kind of machine, for the program and describe()", also=("train_instance_type",)
    ),
    Keyword("cpus", "Trainwarden's own: how many processors it takes; without it, all, and no job runs beside it"),
    Keyword("gpus", "Trainwarden's own: how many GPUs it takes"),
    Keyword("volume_size", "GB of free disk; less is a warning", also=("train_volume_size",)),
    Keyword("max_run", "seconds that it may run", also=("train_max_run",)),
    Keyword("max_wait", "seconds that it may wait and run", also=("train_max_wait",)),
    Keyword("use_spot_instances", "it may be interrupted, and goes on later", also=("train_use_spot_instances",)),
    Keyword("max_retry_attempts", "how often it goes on after its agent was lost"),
    Keyword("image_uri", "the container image to run it in", also=("image_name", "image")),
    Keyword("environment", "variables of the program"),
    Keyword("input_mode", "FastFile or File, for channels that do not say so", default="File"),
    Keyword("output_path", "model.tar.gz and output.tar.gz are written to PATH/JOB/output"),
    Keyword("checkpoint_s3_uri", "where checkpoints are kept, for this job and those that go on with it"),
    Keyword("checkpoint_local_path", "where the program writes its checkpoints"),
    Keyword("model_uri", "a model that the program finds in the channel model_channel_name"),
    Keyword("model_channel_name", "the name of that channel", default="model"),
]
_WATCHED = [
    Keyword("rules", "a list of Rule: what judges the training"),
    Keyword("debugger_hook_config", "what is captured; False: nothing"),
    Keyword("tensorboard_output_config", "where the run is exported for TensorBoard"),
    Keyword("metric_definitions", "metrics from what the program prints"),
    Keyword("profiler_config", "a ProfilerConfig: how often the machine is sampled, which steps are recorded"),
    Keyword("disable_profiler", "whether nothing is profiled", default=False, only=(True, False)),
    Keyword("enable_sagemaker_metrics", "metrics are series of the run in any case; leave it out", refused=True),
]
_RECORDS = [
    Keyword("base_job_name", "what names of jobs begin with"),
    Keyword("tags", "labels of the run: a list of Key and Value, or a dict"),
    Keyword("sagemaker_session", "where jobs, runs and buckets are"),
]
_OF_THE_CLOUD = [
    Keyword("volume_kms_key", _ENCRYPTION, also=("train_volume_kms_key",), refused=True),
    Keyword("output_kms_key", _ENCRYPTION, refused=True),
    Keyword("encrypt_inter_container_traffic", _NETWORK, refused=True),
    Keyword("subnets", _NETWORK, refused=True),
    Keyword("security_group_ids", _NETWORK, refused=True),
    Keyword("enable_network_isolation", _NETWORK, refused=True),
    Keyword("keep_alive_period_in_seconds", "this machine is not given back; leave it out", refused=True),
    Keyword("code_location", "sources are copied into the job's folder; leave it out", refused=True),
    Keyword("git_config", "clone the repository, and name its folder as source_dir", refused=True),
    Keyword("container_log_level", "set a variable of your program's in environment", default=20, refused=True),
    Keyword("instance_groups", _ONE_KIND, refused=True),
    Keyword("instance_placement_config", _ONE_KIND, refused=True),
    Keyword("training_plan", _ONE_KIND, refused=True),
    Keyword("training_repository_access_mode", "pull the image with podman before", refused=True),
    Keyword("training_repository_credentials_provider_arn", "log in with podman before", refused=True),
    Keyword("enable_infra_check", "`trainwarden job lint` checks this machine; leave it out", refused=True),
    Keyword("container_entry_point", "give entry_point, the script", refused=True),
    Keyword("container_arguments", "give hyperparameters", refused=True),
    Keyword("disable_output_compression", "results are packed; unpack model.tar.gz", refused=True),
    Keyword("enable_remote_debug", "the program runs on this machine; attach a debugger to it", refused=True),
    Keyword("enable_session_tag_chaining", "there are no sessions to tag; leave it out", refused=True),
]
_OF_FRAMEWORKS = [
    Keyword(
        "framework_version", "is shown by describe(); the framework of this environment runs, whatever its version"
    ),
    Keyword("py_version", "is shown by describe(); this Python runs"),
    Keyword(
        "distribution",
        "start the workers in the program (torch.multiprocessing), or leave it out",
        also=("distributions",),
        refused=True,
    ),
    Keyword("compiler_config", _COMPILER, refused=True),
    Keyword("image_uri_region", "images are pulled by their whole address; leave it out", refused=True),
]
_OF_TENSORFLOW = [
    Keyword("model_dir", "the script's argument --model_dir; without it the script is given none"),
    Keyword("script_mode", "jobs are scripts", default=True, only=(True,)),
]

_FIRST = {"Estimator": ("image_uri", "role", "instance_count", "instance_type")}
_FIRST_OF_FRAMEWORKS = ("entry_point", "framework_version", "py_version", "source_dir", "hyperparameters", "image_uri")


def _ordered(owner: str, *groups: list[Keyword]) -> Keywords:
    """With those first that the SDK lets be given by position."""
    named = {keyword.name: keyword for group in groups for keyword in group}
    first = [named.pop(name) for name in _FIRST.get(owner, _FIRST_OF_FRAMEWORKS)]
    return Keywords(owner, [*first, *named.values()])


_COMMON = [*_SCRIPT, *_WHERE, *_WATCHED, *_RECORDS, *_OF_THE_CLOUD]
ESTIMATOR = _ordered("Estimator", _COMMON)
PYTORCH = _ordered("PyTorch", _COMMON, _OF_FRAMEWORKS)
MXNET = _ordered("MXNet", _COMMON, _OF_FRAMEWORKS)
XGBOOST = _ordered("XGBoost", _COMMON, _OF_FRAMEWORKS)
TENSORFLOW = _ordered("TensorFlow", _COMMON, _OF_FRAMEWORKS, _OF_TENSORFLOW)

FIT = Keywords(
    "fit",
    [
        Keyword("inputs", "the channels: a dict of paths, s3:// addresses and TrainingInput, or one of these"),
        Keyword("wait", "whether it waits for the job's end", default=True, only=(True, False)),
        Keyword("logs", "what it prints meanwhile: All, Training, Rules, None, or a list", default="All"),
        Keyword("job_name", "the job's name"),
        Keyword("experiment_config", "a dict of ExperimentName, TrialName, TrialComponentDisplayName and RunName; else the Run that is open"),
        Keyword("run_tensorboard_locally", "give the estimator tensorboard_output_config", refused=True),
    ],
)
UPDATE_PROFILER = Keywords(
    "update_profiler",
    [
        Keyword("rules", "judge a run that is there with `trainwarden watch RUN --rules profiler`", refused=True),
        Keyword(
            "system_monitor_interval_millis", "milliseconds between samples of the machine from now on", only=INTERVALS
        ),
        Keyword("s3_output_path", "the profile is in the job's run; leave it out", refused=True),
        Keyword("framework_profile_params", "a FrameworkProfile with the steps that are recorded"),
        Keyword(
            "disable_framework_metrics", "whether steps that were to be recorded later are not", False, only=(True, False)
        ),
    ],
)
