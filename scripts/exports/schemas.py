"""What every command prints with --json, against the schema that `wavebound schema` prints for it.

usage: schemas.py WAVEBOUND

Fields that a schema does not list are refused, so that a schema cannot say too little. Every schema has a command here.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).parents[2]
BASIC = str(ROOT / "fixtures/gcn3/basic.O2.co")
COLLATZ = [BASIC, "--kernel", "collatz", "--grid", "64", "--group", "64", "--arg", "buf:u32:64:iota", "--arg", "buf:u32:64", "--arg", "u32:50"]
HARP = str(ROOT / "crates/lab/programs/pdom-1.harp")
VORTEX = str(ROOT / "fixtures/vortex/psort.elf")


def commands(folder):
    """Schema, command, and exit codes besides 0 that are no failure."""
    plan = folder / "plan.toml"
    plan.write_text(f"[axes]\nprogram = '{HARP}'\nmachine = 'harp-pdom'\ndram.latency = [1, 2]\n")
    store = ["--store", str(folder / "store"), "--out", str(folder / "out")]
    certificate = str(folder / "bound.json")
    return [
        ("bench", ["bench", "harp", "--seconds", "0.01", "--json"], ()),
        ("campaign", ["campaign", "--cases", "3", "--out", str(folder / "campaign"), "--json"], ()),
        ("campaign-case", ["campaign", "--case", "1", "--json"], ()),
        ("campaign-exact", ["campaign", "--exact", "2", "--json"], ()),
        ("campaign-loops", ["campaign", "--loops", "2", "--json"], ()),
        ("campaign-planted", ["campaign", "--planted", "--only", "division-by-zero", "--json"], ()),
        ("campaign-proved", ["campaign", "--proved", "2", "--json"], ()),
        ("cfg", ["cfg", BASIC, "--kernel", "collatz", "--format", "json"], ()),
        ("wcet", ["wcet", *COLLATZ, "--unmeasured", "exclude", "--facts-from-trace", "--certificate", certificate, "--json"], ()),
        ("check-bound", ["check-bound", certificate, "--json"], ()),
        ("compare", ["compare", *COLLATZ, "--mechanisms", "none,pws,dws", "--json"], ()),
        ("facts", ["facts", BASIC, "--kernel", "collatz", "--json"], ()),
        ("hip", ["hip", "--json", "--", "true"], ()),
        ("kernels", ["kernels", BASIC, "--json"], ()),
        ("machines", ["machines", "--json"], ()),
        ("machines-policies", ["machines", "policies", "--json"], ()),
        ("machines-show", ["machines", "show", "pws", "--json"], ()),
        ("mechanisms", ["mechanisms", "--json"], ()),
        ("predict", ["predict", VORTEX, "--arg", "u32:64", "--arg", "buf:f32:64:random=3", "--arg", "buf:f32:64", "--json"], ()),
        ("reproduce", ["reproduce", "guppy-5", "--quick", "--out", str(folder / "reproduce"), "--json"], (3, 4)),
        ("run", ["run", *COLLATZ, "--show", "arg1", "--dump-registers", "--trace", str(folder / "run.wbt"), "--json"], ()),
        ("run-launches", ["run", "--workload", "nn", "--size", "tiny", "--json"], ()),
        ("split", ["split", BASIC, "--all", "-o", str(folder / "marked.co"), "--json"], ()),
        ("split-list", ["split", BASIC, "--list", "--json"], ()),
        ("split-optimal", ["split", *COLLATZ, "--optimal", "--s", "1", "-o", str(folder / "best.co"), "--unmeasured", "exclude", "--facts-from-trace", "--json"], ()),
        ("sweep-dry-run", ["sweep", str(plan), *store, "--dry-run", "--format", "json"], ()),
        ("sweep", ["sweep", str(plan), *store, "--format", "json"], ()),
        ("sweep-show", ["sweep", "show", str(folder / "out"), "--rows", "dram.latency", "--format", "json"], ()),
        ("synthetic", ["synthetic", "--layers", "2", "--run", "--json"], ()),
        ("wcet-points", ["wcet", *COLLATZ, "--list-points", "--json"], ()),
        ("workloads", ["workloads", "--json"], ()),
        ("worst", ["worst", *COLLATZ, "--seconds", "1", "--out", str(folder / "worst"), "--json"], ()),
    ]


def strict(schema):
    """The same schema, refusing fields that it does not list."""
    if isinstance(schema, dict):
        schema = {key: strict(value) for key, value in schema.items()}
        if "properties" in schema and "additionalProperties" not in schema:
            schema["additionalProperties"] = False
    elif isinstance(schema, list):
        schema = [strict(value) for value in schema]
    return schema


def main():
    wavebound = sys.argv[1]
    listed = subprocess.run([wavebound, "schema"], check=True, capture_output=True, text=True).stdout.split()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        tried = commands(pathlib.Path(folder))
        failures += [f"{name}: no command here prints it" for name in set(listed) ^ {t[0] for t in tried}]
        for name, command, codes in tried:
            ran = subprocess.run([wavebound, *command], capture_output=True, text=True, cwd=folder)
            if ran.returncode != 0 and ran.returncode not in codes:
                failures.append(f"{name}: exit {ran.returncode}: {ran.stderr[-600:]}")
                continue
            schema = json.loads(subprocess.run([wavebound, "schema", name], check=True, capture_output=True, text=True).stdout)
            try:
                jsonschema.Draft202012Validator.check_schema(schema)
                value = json.loads(ran.stdout)
                jsonschema.validate(value, strict(schema))
            except (json.JSONDecodeError, jsonschema.ValidationError, jsonschema.SchemaError) as error:
                failures.append(f"{name}: {str(error)[:600]}")
                continue
            # The check can fail: without a field that it needs, nothing is valid.
            first = value[0] if isinstance(value, list) else value
            first.pop(next(iter(first)))
            if not any(jsonschema.Draft202012Validator(strict(schema)).iter_errors(value)):
                failures.append(f"{name}: its schema accepts anything")
    for failure in failures:
        print(failure)
    print(f"{len(listed) - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


main()
