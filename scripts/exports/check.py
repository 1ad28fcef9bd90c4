"""Exports of a trace, read by readers that are not ours and compared with each other and with `run --json`.

Usage: check.py RUN.json RUN.pftrace RUN.kanata RUN.parquet RUN.json-export
Every check names what it found; the first difference ends the program with an error.
"""
import collections
import json
import pathlib
import re
import sys

import jsonschema
import pyarrow.parquet as parquet
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got}, expected {want}")
    print(f"  {what}: {got}")


def check_parquet(folder, run):
    """Sums of the tables are the statistics of the run. Returns what the other formats must show, too."""
    stats = run["stats"]
    events = parquet.read_table(folder / "events.parquet").to_pydict()
    kinds = collections.Counter(events["kind"])
    same("events", len(events["kind"]), run["trace"]["events"])
    same("issues", kinds["issue"], stats["wave_instructions"])
    lanes = sum(m.bit_count() for m, k in zip(events["mask"], events["kind"]) if k == "issue")
    same("lane instructions", lanes, stats["lane_instructions"])
    stalls = collections.Counter()
    for reason, cycles in zip(events["stall"], events["stall_cycles"]):
        if reason is not None:
            stalls[reason] += cycles
    same("stall cycles", dict(stalls), {k: v for k, v in stats["stall_cycles"].items() if v})
    ports = collections.defaultdict(lambda: [0, 0, 0, 0])
    for port, lines, hits, misses in zip(events["port"], events["lines"], events["hits"], events["misses"]):
        if port is not None:
            for i, n in enumerate((1, lines, hits, misses)):
                ports[port][i] += n
    want = {p["port"]: [p["accesses"], p["lines"], p["hits"], p["misses"]] for p in stats["memory"] if p["accesses"]}
    same("memory", dict(ports), want)
    table = parquet.read_table(folder / "instructions.parquet")
    same("type of a mask", str(parquet.read_schema(folder / "events.parquet").field("mask").type), "uint64")
    columns = table.to_pydict()
    for name in ("executed", "lane_cycles_lost", "stall_cycles"):
        same(f"sum of {name}", sum(columns[name]), sum(p[name] for p in stats["pcs"]))
    if columns["text"] != [p["text"] for p in stats["pcs"]]:
        sys.exit("instructions have other texts than the statistics")
    issues = [(e, w, p) for e, w, p, k in zip(events["cycle"], events["wave"], events["pc"], events["kind"]) if k == "issue"]
    waves = len({w for w in events["wave"]})
    barriers = kinds["barrier"]
    busy = sum(1 for u in events["unit"] if u is not None)
    return {"kinds": kinds, "issues": sorted(issues), "waves": waves, "barriers": barriers, "units": busy, "ports": ports,
            "stalled": sum(stalls.values())}


def unknown_fields(message):
    """Fields that Perfetto's messages do not have, here and within."""
    count = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            parts = [value] if isinstance(value, Message) else value
            count += sum(map(unknown_fields, parts))
    return count


def check_perfetto(path, want):
    trace = proto.Trace()
    trace.ParseFromString(path.read_bytes())
    names, categories, notes, tracks = {}, {}, {}, {}
    begun, flows, ended = collections.defaultdict(list), collections.Counter(), collections.Counter()
    slices, issues, counters = collections.Counter(), [], collections.defaultdict(int)
    unknown = sum(unknown_fields(p) for p in trace.packet)
    same("unknown fields", unknown, 0)
    lengths = collections.Counter()
    ordered = sorted((p for p in trace.packet if p.HasField("track_event")), key=lambda p: p.timestamp)
    for packet in trace.packet:
        for interned in packet.interned_data.event_names:
            names[interned.iid] = interned.name
        for interned in packet.interned_data.event_categories:
            categories[interned.iid] = interned.name
        for interned in packet.interned_data.debug_annotation_names:
            notes[interned.iid] = interned.name
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
    event_types = proto.TrackEvent
    for packet in ordered:
        event = packet.track_event
        if event.track_uuid not in tracks:
            sys.exit(f"an event is on track {event.track_uuid}, which is not described")
        if event.type == event_types.TYPE_SLICE_BEGIN:
            category = categories[event.category_iids[0]]
            slices[category] += 1
            begun[event.track_uuid].append((category, packet.timestamp))
            about = {notes[a.name_iid]: a for a in event.debug_annotations}
            if category == "issue":
                if not (event.name or names[event.name_iid]):
                    sys.exit("an instruction has no name")
                issues.append((packet.timestamp, about["pc"].uint_value))
        elif event.type == event_types.TYPE_SLICE_END:
            if not begun[event.track_uuid]:
                sys.exit(f"track {event.track_uuid}: a slice ends at {packet.timestamp} that did not begin")
            category, since = begun[event.track_uuid].pop()
            lengths[category] += packet.timestamp - since
        elif event.type == event_types.TYPE_COUNTER:
            name = tracks[event.track_uuid].name
            core = tracks[event.track_uuid].parent_uuid
            counters[core, name] = max(counters[core, name], event.counter_value)
        flows.update(event.flow_ids)
        ended.update(event.terminating_flow_ids)
    same("slices that did not end", sum(map(len, begun.values())), 0)
    same("issue slices", slices["issue"], want["kinds"]["issue"])
    same("stall slices", slices["stall"], want["kinds"]["stall"])
    same("wave slices", slices["wave"], want["kinds"]["wave-start"])
    same("unit slices", slices["unit"], want["units"])
    same("cycles of issue slices", lengths["issue"], want["kinds"]["issue"])
    same("cycles of stall slices", lengths["stall"], want["stalled"])
    if sorted(issues) != sorted((t, p) for t, _, p in want["issues"]):
        sys.exit("issues have other cycles or pcs than the table")
    same("flows", len(flows), want["kinds"]["memory"] + want["barriers"])
    if flows != ended or set(flows.values()) - {1}:
        sys.exit("flows do not pair up")
    for port, (_, _, hits, misses) in want["ports"].items():
        sums = [sum(v for (_, n), v in counters.items() if n == f"{port} {what}") for what in ("hits", "misses")]
        same(f"counters of {port}", sums, [hits, misses])


LINES = {
    "C=": r"C=\t\d+", "C": r"C\t\d+", "I": r"I\t\d+\t\d+\t\d+", "L": r"L\t\d+\t[012]\t[^\t]+",
    "S": r"S\t\d+\t\d+\t\w+", "E": r"E\t\d+\t\d+\t\w+", "R": r"R\t\d+\t\d+\t[01]", "W": r"W\t\d+\t\d+\t\d+",
}


def check_konata(path, want):
    """A strict reader of Kanata 0004, from its published description."""
    lines = path.read_text().split("\n")
    same("header", lines[0], "Kanata\t0004")
    if lines.pop() != "":
        sys.exit("the log does not end with a line")
    time, open_stages, alive, issued, next_id, retired = None, {}, {}, [], 0, 0
    for number, line in enumerate(lines[1:], 2):
        command = line.split("\t")[0]
        if not re.fullmatch(LINES.get(command, "(?!)"), line):
            sys.exit(f"line {number} is no line of a Kanata log: {line!r}")
        fields = line.split("\t")[1:]
        if command == "C=":
            if time is not None:
                sys.exit(f"line {number}: the time is set twice")
            time = int(fields[0])
        elif time is None:
            sys.exit(f"line {number}: before the first time")
        elif command == "C":
            if int(fields[0]) == 0:
                sys.exit(f"line {number}: no time passes")
            time += int(fields[0])
        elif command == "I":
            if int(fields[0]) != next_id:
                sys.exit(f"line {number}: instruction {fields[0]} is not the next one, {next_id}")
            next_id += 1
            alive[fields[0]] = (int(fields[2]), None)
        elif fields[0] not in alive:
            sys.exit(f"line {number}: instruction {fields[0]} has not begun or is over")
        elif command == "L" and fields[1] == "0":
            alive[fields[0]] = (alive[fields[0]][0], int(fields[2].split(":")[0]))
        elif command == "S":
            key = (fields[0], fields[1])
            if key in open_stages:
                sys.exit(f"line {number}: stage {open_stages[key]} has not ended")
            open_stages[key] = fields[2]
            if fields[2] == "Is":
                issued.append((time, *alive[fields[0]]))
        elif command == "E":
            if open_stages.pop((fields[0], fields[1]), None) != fields[2]:
                sys.exit(f"line {number}: stage {fields[2]} has not begun")
        elif command == "R":
            if any(key[0] == fields[0] for key in open_stages):
                sys.exit(f"line {number}: an instruction is over within a stage")
            if int(fields[1]) != retired:
                sys.exit(f"line {number}: it is not the {retired}. that is over")
            retired += 1
            del alive[fields[0]]
    same("instructions that are not over", len(alive), 0)
    same("instructions", next_id, want["kinds"]["issue"])
    if sorted(issued) != want["issues"]:
        sys.exit("instructions issue at other cycles, in other waves or at other pcs than the table says")


def check_chrome(path, want):
    events = json.loads(path.read_text())
    schema = json.loads((pathlib.Path(__file__).parent / "chrome.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    for error in validator.iter_errors(events):
        sys.exit(f"{error.json_path}: {error.message[:300]}")
    slices = collections.Counter(e["cat"] for e in events if e["ph"] == "X")
    same("issue events", slices["issue"], want["kinds"]["issue"])
    same("stall events", slices["stall"], want["kinds"]["stall"])
    same("wave events", slices["wave"], want["kinds"]["wave-start"])
    starts = sorted(e["id"] for e in events if e["ph"] == "s")
    ends = sorted(e["id"] for e in events if e["ph"] == "f")
    same("flows", len(starts), want["kinds"]["memory"] + want["barriers"])
    if starts != ends:
        sys.exit("flows do not pair up")
    issues = sorted((e["ts"], e["args"]["pc"]) for e in events if e.get("cat") == "issue")
    if issues != sorted((t, p) for t, _, p in want["issues"]):
        sys.exit("issues have other cycles or pcs than the table")


def main():
    run, perfetto, konata, folder, chrome = map(pathlib.Path, sys.argv[1:])
    print("parquet, by pyarrow")
    want = check_parquet(folder, json.loads(run.read_text()))
    print("perfetto, by its own protobuf classes")
    check_perfetto(perfetto, want)
    print("konata, by a strict reader")
    check_konata(konata, want)
    print("chrome, by a JSON schema")
    check_chrome(chrome, want)


main()
