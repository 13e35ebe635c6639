"""What notebooks of training jobs ask boto3, without the cloud: sessions, and clients of jobs, logs and buckets.

    region = boto3.Session().region_name
    boto3.client("sagemaker").describe_training_job(TrainingJobName="bert-7")

All of it is sagemaker.aws, of the package trainwarden-sagemaker.
"""

from __future__ import annotations

from sagemaker import aws as session
from sagemaker.aws import Session, client, resource

__all__ = ["Session", "client", "resource", "session"]
