"""The same handler as a function for AWS Lambda. Not a word of it is ours: it runs there and here.

    python -m trainwarden.lambda_handler lambda_function.py:lambda_handler < event.json
"""

import json
import logging

import boto3


def lambda_handler(event, context):
    job_name = event["detail"]["TrainingJobName"]
    statuses = event["detail"].get("DebugRuleEvaluationStatuses") or []
    issues = [rule for rule in statuses if rule.get("RuleEvaluationStatus") == "IssuesFound"]
    if not issues:
        return {"statusCode": 200, "body": json.dumps("Nothing to do")}
    for rule in issues:
        logging.info("%s has IssuesFound: stopping %s", rule["RuleConfigurationName"], job_name)
    boto3.client("sagemaker").stop_training_job(TrainingJobName=job_name)
    return None
