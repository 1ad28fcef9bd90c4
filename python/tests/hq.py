"""`hq submit` as `wavebound sweep --on hyperqueue` calls it, on HyperQueue's own server, scheduler and worker.

HyperQueue's package has them as a library; the command `hq` is not in it. This takes the options of `hq submit` that we use, refuses any
other, and submits the same tasks.
"""

import argparse
import datetime
import os
import re
import sys

from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig
from hyperqueue.ffi.protocol import ResourceRequest


def main() -> int:
    parser = argparse.ArgumentParser(prog="hq", allow_abbrev=False)
    parser.add_argument("--output-mode", choices=["quiet"])
    commands = parser.add_subparsers(required=True)
    submit = commands.add_parser("submit", allow_abbrev=False)
    submit.add_argument("--array", required=True)
    submit.add_argument("--name")
    submit.add_argument("--cpus", type=int, default=1)
    submit.add_argument("--stdout")
    submit.add_argument("--stderr")
    submit.add_argument("--time-limit")
    submit.add_argument("--wait", action="store_true")
    submit.add_argument("command", nargs="+")
    args = parser.parse_args()
    if not args.wait:
        parser.error("the cluster ends with this command: --wait is needed")
    first, last = map(int, re.fullmatch(r"(\d+)-(\d+)", args.array).groups())
    # The server tells about itself on standard output, where `hq` in its quiet mode prints the job's number only.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with LocalCluster(worker_config=WorkerConfig(cores=2)) as cluster:
        client = cluster.client()
        job = Job(name=args.name, max_fails=None)
        for number in range(first, last + 1):
            path = lambda text: text.replace("%{TASK_ID}", str(number)) if text else None
            job.program(
                args.command,
                # `hq` sets it by itself for a task of an array; here every task is one of its own, numbered from 0.
                env={"HQ_TASK_ID": str(number)},
                stdout=path(args.stdout),
                stderr=path(args.stderr),
                resources=ResourceRequest(cpus=args.cpus, min_time=datetime.timedelta(0)),
            )
        submitted = client.submit(job)
        print(submitted.id, file=answer, flush=True)
        return 0 if client.wait_for_jobs([submitted], raise_on_error=False) else 1


if __name__ == "__main__":
    sys.exit(main())
