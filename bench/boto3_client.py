"""boto3 beside us: reads lines "put FOLDER NAMES..." and "get FOLDER NAMES..." and answers each with the seconds it took.

Files of FOLDER are sent to the bucket, or fetched to there, with upload_file and download_file as they are by default:
a TransferConfig of ten threads. Its process stays, so that its start is not measured.
"""
import sys, time
import boto3

client = boto3.client("s3", region_name="us-east-1")


def perform(verb, folder, names):
    for name in names:
        if verb == "put": client.upload_file(f"{folder}/{name}", "bench", f"boto3/{name}")
        else: client.download_file("bench", f"boto3/{name}", f"{folder}/{name}")


for line in sys.stdin:
    verb, folder, *names = line.split()
    begin = time.monotonic()
    perform(verb, folder, names)
    print(time.monotonic() - begin, flush=True)
