#!/usr/bin/env python3
"""Checks that no floor reaches for a disk by itself: runs are reached through a storage (src/store/storage/location.h).

usage: check_disk.py [ROOT]

Prints one line for each direct touch of a disk in src, outside the files of OWN_FILES, and exits 1 when there is any.
"""
import pathlib
import re
import sys

TOUCH = re.compile(
    r"\bstd::(basic_)?[io]?fstream\b"
    r"|\b(fs|filesystem)::(exists|is_regular_file|is_directory|is_empty|is_symlink|directory_iterator|file_size|equivalent"
    r"|recursive_directory_iterator|last_write_time|status|symlink_status|read_symlink|canonical|weakly_canonical|remove"
    r"|remove_all|rename|copy|copy_file|create_directory|create_directories|create_symlink|resize_file|permissions)\b"
    r"|\b(opendir|fopen|mkstemp|mkdtemp)\s*\(|(?<![\w.>])(::)?(stat|lstat|openat|mkdir|unlink|rename)\s*\("
    r"|(?<![\w.>:])::open\s*\(|\bopen_local_storage\s*\(|\bBeneath\b")

# What lies on this machine's disk and in no run, and so has no storage; each with what it touches.
OWN_FILES = {
    # Files that a user names: configuration, rules, patterns, handlers, programs.
    "src/core/base/text_file.cc": "a text file that a user names: patterns, rules, events, secrets' shapes",
    "src/core/base/toml_document.cc": "configuration files",
    "src/react/actions/exec_action.cc": "the handler to run",
    "src/tune/optuna/optuna_journal.cc": "a journal of Optuna that a user names",
    "src/tune/optuna/optuna_study.cc": "a storage of Optuna that a user names",
    "src/react/actions/file_action.cc": "the file that events are appended to",
    "src/react/actions/secret.cc": "a file with a secret",
    "src/hook/capture/config/config_source.cc": "the hook's configuration",
    "src/ui/cli/commands/attach.cc": "the preload libraries beside the program",
    "src/ui/cli/options/profiler_config_choice.cc": "whether a profilerconfig.json lies where SageMaker puts it",
    "src/ui/cli/running/profiler_config_follower.cc": "when that file was changed",
    "src/read/transfer/profiler_export.cc": "the folder that an export goes to",
    "src/ui/cli/running/browser.cc": "the page that a browser is sent to",
    "src/ui/cli/running/report_files.cc": "the report and its twin, which a user names",
    "src/ui/cli/commands/check_runs.cc": "the file for JUnit's report and plain files among arguments",
    "src/work/jobs/owner_seal.cc": "the key in the user's own folder of state",
    "src/ui/cli/commands/job_files.cc": "a job's folder, and the folder that its user copies to",
    "src/ui/cli/commands/experiment_remove.cc": "the files of an experiment that its user removes",
    "src/ui/cli/commands/job_lint.cc": "the files that a job's user names",
    "src/ui/cli/commands/submit.cc": "a copy of the sources that nobody needs",
    "src/ui/cli/commands/submit_request.cc": "the files of a job before it is there, which go again when it is refused",
    "src/work/sagemaker/request_files.cc": "whether the script and the folder that a user names are there",
    "src/measure/machine/kernel_file.cc": "what the kernel says of the machine",
    "src/work/jobs/control_group.cc": "control groups of the kernel",
    "src/work/jobs/job_rules.cc": "the logs of rules, which grow through several processes of a job",
    "src/work/containers/container_mounts.cc": "folders that a container sees",
    "src/ui/cli/running/job_keeper.cc": "our own program",
    "src/ui/cli/commands/metrics.cc": "a program's output",
    "src/work/output/log_tail.cc": "a program's output while it grows",
    "src/ui/cli/commands/demo.cc": "the example beside the program",
    "src/ui/cli/options/program_kind.cc": "the program to start",
    "src/ui/cli/commands/serve.cc": "whether an argument is a folder",
    "src/judge/rules/hosting/hosted_rule.cc": "a rule's file and our own program",
    "src/ui/views/attention/run_attention.cc": "a mapping file that the user named",
    # Files that a user wants written.
    "src/ui/cli/commands/export.cc": "the page as one file",
    "src/ui/cli/commands/export_trace.cc": "the trace of operator calls",
    "src/ui/cli/running/bucket_detour.cc": "what is on its way to a bucket or from one, in a folder that goes again",
    "src/react/network/limits.cc": "the certificates that a user names",
    "src/ui/server/token_file.cc": "the token of the server",
    "src/read/transfer/import.cc": "the new folder of an import, which appears whole",
    "src/read/transfer/kineto_import.cc": "a trace of PyTorch's profiler, and the folder that it becomes a run in",
    "src/read/transfer/npz_target.cc": "exports",
    "src/read/transfer/output_claim.cc": "exports",
    "src/read/transfer/output_file.cc": "exports",
    # What can be a file of this machine only.
    "src/hook/capture/black_box/crash_writer.cc": "a signal handler may call the system and nothing else",
    "src/hook/capture/requests/checkpoint_file.cc": "the training program writes a checkpoint by its path",
    "src/work/experiments/job_fingerprint.cc": "the sources and inputs that a job's user names",
    "src/work/experiments/content_hash.cc": "what a user names as an artifact",
    "src/work/catalogue/catalogue_file.cc": "the database, which SQLite opens by its path",
    # The machine itself.
    "src/core/base/boot_id.cc": "/proc",
    "src/hook/capture/run_identity.cc": "/proc",
    "src/hook/capture/staging/spare_memory.cc": "/proc and the control groups",
    "src/ui/cli/reports/process_use.cc": "/proc",
    "src/ui/cli/options/run_locator.cc": "whether two paths name one folder",
    "src/work/launch/run_naming.cc": "whether an argument is a plain file",
    "src/core/process/descriptors.cc": "the files that a program writes to",
    "src/work/jobs/job_processes.cc": "/proc",
    "src/work/jobs/submitter_environment.cc": "a file that its owner alone may read",
    "src/work/jobs/job_markers.cc": "empty files of our own, which no storage removes",
    "src/work/job_events/subscription_folder.cc": "files that their owner alone may read, and that are removed",
    "src/ui/cli/commands/events_rule.cc": "the folder of jobs, where relative paths of actions begin",
    "src/work/queue/machine.cc": "/proc and /sys",
    "src/work/workspace/channels.cc": "a job's inputs",
    "src/work/workspace/checkpoint_sync.cc": "a job's checkpoints",
    "src/work/workspace/code_copy.cc": "a job's sources",
    "src/work/workspace/files_within.cc": "what a job's program has written",
    "src/work/workspace/job_files.cc": "what a job's program has written",
    "src/work/workspace/results.cc": "what a job's program has written",
    "src/work/workspace/workspace.cc": "the folders of a job's program",
    "src/work/slurm/slurm_commands.cc": "Slurm's programs",
    "src/work/slurm/slurm_witness.cc": "Slurm's list of completed jobs",
    "src/work/ssh/mirror_receiver.cc": "files that grow and that come in pieces, which no storage writes",
    "src/work/ssh/ssh_submission.cc": "the archive that is sent",
    "src/ui/cli/running/ssh_jobs.cc": "the same",
    "src/store/copy/local_end.cc": "a folder that a user names, to be copied or to get a copy",
    "src/work/ssh/upload.cc": "the files of a user that are sent",
    "src/judge/rules/hosting/host_process.cc": "/proc, and what a child does before it starts a program",
}
# Tests and what serves them alone.
TESTING = re.compile(r"(_test\.cc|_testing\.(h|cc)|golden_run\.cc|run_on_disk\.h)$")


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def touches(root: pathlib.Path):
    for path in sorted((root / "src").rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in (".cc", ".h") or name.startswith("src/store/storage/") or TESTING.search(name):
            continue
        for number, line in enumerate(without_comments(path.read_text(encoding="utf-8")).splitlines(), 1):
            if not line.lstrip().startswith("#include") and (match := TOUCH.search(line)):
                yield name, number, match.group(0).strip()


def main(root: pathlib.Path) -> int:
    found = list(touches(root))
    problems = [f"{name}:{number}: {what} reaches for the disk; use the run's storage (store/storage/location.h), or say in "
                "OWN_FILES of scripts/check_disk.py which file of the user's it is"
                for name, number, what in found if name not in OWN_FILES]
    if (root / "scripts/check_disk.py").exists():
        idle = sorted(set(OWN_FILES) - {name for name, _, _ in found})
        problems += [f"{name}: reaches for no disk; take it out of OWN_FILES of scripts/check_disk.py" for name in idle]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
