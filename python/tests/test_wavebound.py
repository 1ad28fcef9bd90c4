"""The package as its users meet it."""

import doctest
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pandas
import pytest

import wavebound as wb

DIVERGE = """
.kernel diverge
.arg buf x
.arg u32 n
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x8
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v3, s5
  v_add_u32 v2, vcc, s4, v1
  v_addc_u32 v3, vcc, 0, v3, vcc
  v_mov_b32 v4, 0
  v_cmp_gt_u32 vcc, s6, v0
  s_and_saveexec_b64 s[8:9], vcc
  s_xor_b64 s[8:9], exec, s[8:9]
  s_cbranch_execz ELSE
{first}
ELSE:
  s_andn2_saveexec_b64 s[8:9], s[8:9]
  s_cbranch_execz END
{second}
END:
  s_or_b64 exec, exec, s[8:9]
  flat_store_dword v[2:3], v4
  s_endpgm
""".format(
    first="\n".join("  v_add_u32 v4, vcc, 1, v4" for _ in range(30)),
    second="\n".join("  v_add_u32 v4, vcc, 2, v4" for _ in range(30)),
)

LONG = """
.kernel long
  s_mov_b32 s4, 0
round:
  s_add_u32 s4, s4, 1
  s_cmp_lt_u32 s4, 0x7fffffff
  s_cbranch_scc1 round
  s_endpgm
"""


def launch(**options):
    program = wb.Program.from_source("gcn3", DIVERGE)
    return program.launch("diverge", np.zeros(64, np.uint32), 32, grid=64, group=64, **options)


def test_the_documentation_is_true():
    assert doctest.testmod(wb).failed == 0
    assert doctest.testmod(sys.modules["wavebound.machine"]).failed == 0


def test_results_are_numpy_arrays():
    run = launch().run()
    expected = np.where(np.arange(64) < 32, 30, 60)
    assert run["x"].dtype == np.uint32
    assert np.array_equal(run["x"], expected)
    assert np.array_equal(run["arg0"], expected)
    untimed = launch().run(timed=False, statistics=False)
    assert np.array_equal(untimed["x"], expected)
    assert untimed.stats == {}
    with pytest.raises(KeyError):
        run["y"]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "int64", "float16", "float32", "float64"])
def test_buffers_of_every_type_go_there_and_back(dtype):
    text = ".kernel k\n.arg buf x\n  s_endpgm\n"
    data = np.arange(24).astype(dtype).reshape(4, 6)
    for given in (data, data.T, data[::2]):
        run = wb.Program.from_source("gcn3", text).launch("k", given, grid=64, group=64).run()
        assert run["x"].dtype == given.dtype
        assert np.array_equal(run["x"], given.reshape(-1))


def test_the_same_launch_takes_the_same_time():
    job = launch()
    assert len({job.run().cycles for _ in range(5)}) == 1


def test_machines():
    m = wb.Machine("gcn3").set({"core.waves": 8}, cores=2)
    assert (m["core.waves"], m["cores"]) == (8, 2)
    assert m != wb.Machine("gcn3") and m == pickle.loads(pickle.dumps(m))
    assert "gcn3" in wb.presets() and dict(m.flat())["cores"] == 2
    assert "<table>" in m._repr_html_()
    with pytest.raises(wb.MachineError, match="gcn4"):
        wb.Machine("gcn4")
    with pytest.raises(wb.MachineError, match="core.wavs"):
        wb.Machine("gcn3").set({"core.wavs": 8})
    with pytest.raises(KeyError):
        m["no.such"]


def test_splitting_is_faster_and_computes_the_same():
    found = wb.compare(launch(), mechanisms=["none", "pws", "thesis"], contexts=[1, 3])
    rows = {(r["mechanism"], r["contexts"]): r for r in found}
    assert len(rows) == 5
    assert rows["pws", 1]["cycles"] < rows["none", 0]["cycles"]
    assert rows["pws", 1]["splits"] > 0
    assert "<table>" in found._repr_html_() and "<svg" in found.bars()._repr_svg_()
    assert len(found.frame()) == 5


def test_bounds():
    job = launch()
    run = job.run()
    proved = job.bound(proved=True)
    assert proved.cycles >= run.cycles and proved.status == "proved" and proved.certificate
    best = job.bound()
    assert best.status == "exact" and best.cycles == run.cycles
    assert "<table>" in best._repr_html_()
    measured = wb.bound([job, job.with_args(np.zeros(64, np.uint32), 7)], measured=True)
    assert measured.cycles >= run.cycles
    with pytest.raises(ValueError):
        job.bound(proved=True, measured=True)


def test_the_checker_accepts_the_certificate(tmp_path, command):
    bound = launch().bound(proved=True)
    bound.save_certificate(tmp_path / "c.json")
    (tmp_path / "program.s").write_text(DIVERGE)
    out = subprocess.run(
        [command, "check-bound", "c.json"], cwd=tmp_path, capture_output=True, text=True
    )
    assert out.returncode == 0, out.stderr


def test_there_is_no_bound_for_everything():
    text = ".kernel k\n.arg buf x\n  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\nr:\n"
    text += "  s_load_dword s6, s[4:5], 0x0\n  s_waitcnt lgkmcnt(0)\n  s_cmp_lg_u32 s6, 0\n  s_cbranch_scc1 r\n  s_endpgm\n"
    job = wb.Program.from_source("gcn3", text).launch("k", np.zeros(1, np.uint32), grid=64, group=64)
    with pytest.raises(wb.BoundError, match="loop"):
        job.bound(proved=True)


def test_statistics_and_events():
    job = launch()
    run = job.run()
    assert run.stats["cycles"] == run.cycles
    assert isinstance(run.instructions(), pandas.DataFrame) and len(run.branches()) >= 2
    events = job.events()
    frame = events.to_pandas()
    issued = frame[frame.kind == "issue"]
    assert len(issued) == run.wave_instructions
    assert frame.cycle.is_monotonic_increasing or len(frame.wave.unique()) > 1
    short = job.events(most=10)
    assert len(short) == 10 and int(short.schema.metadata[b"left_out"]) == len(events) - 10


def test_pictures():
    picture = launch().run().picture()
    assert picture._repr_svg_().lstrip().startswith("<svg")
    assert "SVG" in repr(picture)


def test_errors_say_where():
    with pytest.raises(wb.JobError, match="program.s") as e:
        wb.Program.from_source("gcn3", ".kernel k\n  v_ad_u32 v0\n  s_endpgm\n").launch("k", grid=64, group=64)
    assert "v_ad_u32" in str(e.value)
    with pytest.raises(wb.WaveboundError):
        wb.Program("no-such-file.co")
    with pytest.raises(TypeError, match="complex"):
        launch().with_args(np.zeros(3, complex), 1)
    with pytest.raises(TypeError, match="truth"):
        launch().with_args(np.zeros(64, np.uint32), True)
    with pytest.raises(wb.JobError):
        launch().with_args(np.zeros(64, np.uint32))
    with pytest.raises(ValueError):
        wb.Program.from_source("gcn3", DIVERGE).launch("diverge", grid=(1, 1, 1, 1))


def test_the_interpreter_runs_beside_a_long_run():
    job = wb.Program.from_source("gcn3", LONG).launch("long", grid=64, group=64, machine="gcn3")
    job = job.on(fields={"limits.cycles": 3_000_000})
    ticks = []

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    done = threading.Event()
    thread = threading.Thread(target=tick)
    thread.start()
    started = time.monotonic()
    with pytest.raises(wb.JobError, match="limit"):
        job.run()
    took = time.monotonic() - started
    done.set()
    thread.join()
    assert len(ticks) > 0.2 * took / 0.005


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_an_interrupt_ends_a_run():
    code = textwrap.dedent(
        """
        import wavebound as wb
        text = {text!r}
        job = wb.Program.from_source("gcn3", text).launch("long", grid=64, group=64)
        job = job.on(fields={{"limits.cycles": 10**12}})
        print("ready", flush=True)
        try:
            job.run()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    ).format(text=LONG)
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert out == "interrupted\n" and child.returncode == 0


PLAN = """
measure = ["stats"]

[axes]
workload = "nn"
size = "tiny"
mechanism = ["none", "pws"]
core.waves = [8, 16]
"""


def test_sweeps(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    first = wb.sweep(plan, store=tmp_path / "store", out=tmp_path / "out", jobs=2)
    assert (first.points, first.known, first.left) == (4, 0, 0)
    frame = first.frame()
    assert len(frame) == 4 and (frame["cycles"] > 0).all()
    again = wb.sweep(plan, store=tmp_path / "store", out=tmp_path / "out", jobs=2)
    assert again.known == again.results and again.frame().equals(frame)
    plan.write_text(PLAN + "core.wavs = 3\n")
    with pytest.raises(wb.WaveboundError, match="wavs"):
        wb.sweep(plan, store=tmp_path / "store", out=tmp_path / "out")


def test_a_sweep_of_the_command_is_known_here(tmp_path, command):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    ran = subprocess.run(
        [command, "sweep", str(plan), "--store", str(tmp_path / "store"), "--out", str(tmp_path / "out")],
        capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    here = wb.sweep(plan, store=tmp_path / "store", out=tmp_path / "out2")
    assert here.known == here.results
