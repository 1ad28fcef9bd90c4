"""Sweeps on HyperQueue: the parts run on its engine, workers are killed, and the data set is that of an undisturbed sweep."""

import json
import os
import pathlib
import random
import re
import signal
import stat
import subprocess
import sys
import time

PROGRAM = pathlib.Path(__file__).parents[2] / "crates/lab/programs/pdom-1.harp"
FRONT = pathlib.Path(__file__).parent / "hq.py"
POINTS = 8000


def sweep(command, folder, name, *more, env=None):
    args = [command, "sweep", str(folder / "plan.toml"), "--store", str(folder / name), "--out", str(folder / f"out-{name}")]
    return subprocess.Popen(
        [*args, "--format", "json", *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )


def outcome(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return json.loads(out)


def workers(store):
    """Processes that the parts of a sweep with this store have started."""
    parents, parts = {}, set()
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        # Not the shell and the submission, which do not know the number yet.
        if re.search(r"--shard \d+/2", line) and store in line:
            parts.add(int(entry.name))
    return [child for child, parent in parents.items() if parent in parts]


def stored(store):
    return sum(f.stat().st_size for f in store.rglob("*") if f.is_file()) if store.exists() else 0


def test_parts_on_hyperqueue_whose_workers_are_killed(command, tmp_path):
    (tmp_path / "p.harp").write_bytes(PROGRAM.read_bytes())
    (tmp_path / "plan.toml").write_text(
        "[axes]\nprogram = 'p.harp'\nmachine = 'harp-pdom'\n"
        f"dram.latency = {{ from = 1, to = {POINTS // 16} }}\nlimits.cycles = {{ from = 100001, to = 100016 }}\n"
    )
    alone = outcome(sweep(command, tmp_path, "alone"))
    assert alone["found"]["ok"] == POINTS
    bin = tmp_path / "bin"
    bin.mkdir()
    front = bin / "hq"
    front.write_text(f"#!/bin/sh\nexec {sys.executable} {FRONT} \"$@\"\n")
    front.chmod(front.stat().st_mode | stat.S_IXUSR)
    env = dict(os.environ, PATH=f"{bin}:{os.environ['PATH']}")
    store = tmp_path / "parts"
    running = sweep(command, tmp_path, "parts", "--on", "hyperqueue", "--shards", "2", env=env)
    kills, chance = 0, random.Random(7)
    while running.poll() is None and kills < 10:
        time.sleep(chance.uniform(0.005, 0.03))
        found = workers(str(store))
        if not found:
            continue
        before, begun = stored(store), time.monotonic()
        try:
            os.kill(chance.choice(found), signal.SIGKILL)
        except ProcessLookupError:
            continue
        kills += 1
        # A point that loses three workers in a row is given up: let something be done in between.
        while stored(store) == before and time.monotonic() - begun < 20 and running.poll() is None:
            time.sleep(0.002)
    parts = outcome(running)
    assert kills == 10, "the sweep was over before ten workers were killed"
    assert parts["data"]["digest"] == alone["data"]["digest"]
    assert parts["missing"] == 0
