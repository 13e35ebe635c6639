"""TrainingInput: a channel of a training job."""

from __future__ import annotations

from typing import Any

from ._keywords import Keyword, Keywords, takes

_LINK = "the data are linked as they are, and the program reads them"
TRAINING_INPUT = Keywords(
    "TrainingInput",
    [
        Keyword("s3_data", "where the data are: a path, file:// or s3://"),
        Keyword(
            "distribution",
            "FullyReplicated: each node gets all files; ShardedByS3Key: each gets its share",
            only=("FullyReplicated", "ShardedByS3Key"),
        ),
        Keyword("compression", _LINK, only=("None",)),
        Keyword("content_type", "a text for the program, in inputdataconfig.json"),
        Keyword("record_wrapping", _LINK, only=("None",)),
        Keyword("s3_data_type", "give the folder of the data", default="S3Prefix", only=("S3Prefix",)),
        Keyword("instance_groups", "a job has one kind of node; leave it out", refused=True),
        Keyword(
            "input_mode",
            "the data are linked, as in FastFile mode; Pipe needs a program that reads pipes",
            only=("File", "FastFile"),
        ),
        Keyword("attribute_names", "give the folder of the data, not a manifest", refused=True),
        Keyword("target_attribute_name", "give the folder of the data, not a manifest", refused=True),
        Keyword("shuffle_config", "shuffle in the program's own data loader", refused=True),
        Keyword("hub_access_config", "give the folder of the data", refused=True),
        Keyword("model_access_config", "give the folder of the model", refused=True),
    ],
)


@takes(TRAINING_INPUT)
class TrainingInput:
    """Where a channel's data are, and how nodes share them.

    Attributes:
        config: the channel as SageMaker's API has it; keys are there when they were set.
    """

    def __init__(self, *positional: Any, **given: Any):
        options = TRAINING_INPUT.take(positional, given)
        if not isinstance(options["s3_data"], str) or not options["s3_data"]:
            raise ValueError(f"TrainingInput: s3_data: expected a path, file:// or s3://, found {options['s3_data']!r}")
        self.config: dict[str, Any] = {
            "DataSource": {
                "S3DataSource": {
                    "S3DataType": options["s3_data_type"],
                    "S3Uri": options["s3_data"],
                    "S3DataDistributionType": options["distribution"] or "FullyReplicated",
                }
            }
        }
        for name, key in (
            ("compression", "CompressionType"),
            ("content_type", "ContentType"),
            ("record_wrapping", "RecordWrapperType"),
            ("input_mode", "InputMode"),
        ):
            if options[name] is not None:
                self.config[key] = options[name]


# Its name in version 1 of the SDK.
s3_input = TrainingInput


def channels(inputs: Any) -> list[dict[str, Any]]:
    """The argument of fit() as InputDataConfig: a channel's source alone is the channel "training".

    Raises:
        ValueError: neither a source nor a dict of them.
    """
    if inputs is None:
        return []
    named = inputs if isinstance(inputs, dict) else {"training": inputs}
    return [{"ChannelName": name, **_channel(name, source)} for name, source in named.items()]


def _channel(name: str, source: Any) -> dict[str, Any]:
    if isinstance(source, str):
        return TrainingInput(source).config
    if isinstance(source, TrainingInput):
        return source.config
    raise ValueError(f"inputs: {name}: expected a path, file://, s3:// or a TrainingInput, found {source!r}")
