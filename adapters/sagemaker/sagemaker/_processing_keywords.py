"""What processors, their run() and their inputs and outputs take."""

from __future__ import annotations

from ._keywords import Keyword, Keywords

_ENCRYPTION = "nothing leaves this machine; encrypt the disk"
_LINKED = "the data are linked as they are"
INPUT = Keywords(
    "ProcessingInput",
    [
        Keyword("source", "where the data are: a path, file:// or s3://"),
        Keyword("destination", "the folder that the arguments call it by, /opt/ml/processing/...; they get the real one"),
        Keyword("input_name", "its channel: the step finds the folder in SM_CHANNEL_NAME too"),
        Keyword("s3_data_type", "give the folder of the data", default="S3Prefix", only=("S3Prefix",)),
        Keyword("s3_input_mode", _LINKED, default="File", only=("File",)),
        Keyword(
            "s3_data_distribution_type",
            "FullyReplicated: each node gets all files; ShardedByS3Key: each gets its share",
            default="FullyReplicated",
            only=("FullyReplicated", "ShardedByS3Key"),
        ),
        Keyword("s3_compression_type", _LINKED, default="None", only=("None",)),
        Keyword("s3_input", "give source and destination", refused=True),
        Keyword("dataset_definition", "give the folder of the data as source", refused=True),
        Keyword("app_managed", _LINKED, default=False, only=(False,)),
    ],
)
OUTPUT = Keywords(
    "ProcessingOutput",
    [
        Keyword("source", "the folder that the arguments call it by, /opt/ml/processing/...; they get the destination"),
        Keyword("destination", "the folder that the step writes into: a path, file:// or s3://; else one in the bucket"),
        Keyword("output_name", "its name in describe() and in the lineage"),
        Keyword(
            "s3_upload_mode",
            "is shown by describe(); what is written is in its place at once",
            default="EndOfJob",
            only=("EndOfJob", "Continuous"),
        ),
        Keyword("app_managed", "what is written is in its place at once", default=False, only=(False,)),
        Keyword("feature_store_output", "there is no feature store; leave it out", refused=True),
    ],
)

_ROLE = Keyword("role", "is shown by describe(); the job runs as whoever submits it")
_IMAGE = Keyword("image_uri", "the container image to run it in, of a step without outputs; else leave it out")
_WHERE = [
    Keyword("instance_count", "how many nodes", default=1),
    Keyword("instance_type", "a name for the kind of machine, for the program and describe()"),
]
_COMMAND = Keyword("command", 'what runs the script (["python3"])')
_COMMON = [
    Keyword("volume_size_in_gb", "GB of free disk; less is a warning"),
    Keyword("volume_kms_key", _ENCRYPTION, refused=True),
    Keyword("output_kms_key", _ENCRYPTION, refused=True),
    Keyword("max_runtime_in_seconds", "seconds that it may run"),
    Keyword("base_job_name", "what names of jobs begin with"),
    Keyword("sagemaker_session", "where jobs and buckets are"),
    Keyword("env", "variables of the program; a folder of an input or output becomes the real one"),
    Keyword("tags", "labels: a list of Key and Value"),
    Keyword("network_config", "a job has the network of this machine; leave it out", refused=True),
]
_VERSION = Keyword("framework_version", "a message says that the framework of this environment runs")
PROCESSOR = Keywords(
    "Processor",
    [_ROLE, _IMAGE, *_WHERE, Keyword("entrypoint", 'the program and its words: ["python3", "prepare.py"]'), *_COMMON],
)
SCRIPT_PROCESSOR = Keywords("ScriptProcessor", [_ROLE, _IMAGE, _COMMAND, *_WHERE, *_COMMON])
_OF_FRAMEWORKS = [
        _VERSION,
        _ROLE,
        *_WHERE,
        Keyword("py_version", "this Python runs", default="py3", only=("py3",)),
        _IMAGE,
        _COMMAND,
        *_COMMON,
        Keyword("estimator_cls", "the environment is this one, whatever the framework; leave it out", refused=True),
        Keyword("code_location", "the script is linked; leave it out", refused=True),
]
FRAMEWORK_PROCESSOR = Keywords("FrameworkProcessor", _OF_FRAMEWORKS)
PYTORCH_PROCESSOR = Keywords("PyTorchProcessor", _OF_FRAMEWORKS)
SKLEARN_PROCESSOR = Keywords("SKLearnProcessor", [_VERSION, _ROLE, *_WHERE, _COMMAND, _IMAGE, *_COMMON])

_RUN = [
    Keyword("inputs", "a list of ProcessingInput"),
    Keyword("outputs", "a list of ProcessingOutput"),
    Keyword("arguments", "words for the program; a folder of an input or output becomes the real one"),
    Keyword("wait", "whether it waits for the job's end", default=True, only=(True, False)),
    Keyword("logs", "whether it prints meanwhile what the step prints", default=True, only=(True, False)),
    Keyword("job_name", "the job's name"),
    Keyword("experiment_config", "a dict of ExperimentName, TrialName and RunName; else the Run that is open"),
    Keyword("kms_key", _ENCRYPTION, refused=True),
]
_CODE = Keyword("code", "the script: a file, or a path within source_dir")
RUN = Keywords("run", _RUN)
RUN_SCRIPT = Keywords("run", [_CODE, *_RUN])
RUN_FRAMEWORK = Keywords(
    "run",
    [
        _CODE,
        Keyword("source_dir", "the folder of the script"),
        Keyword("dependencies", "put them into source_dir", refused=True),
        Keyword("git_config", "clone the repository, and name its folder as source_dir", refused=True),
        *_RUN,
    ],
)
