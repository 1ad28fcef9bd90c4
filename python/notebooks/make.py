"""Writes the notebooks from the cells below, without outputs: people edit text, not JSON."""

import pathlib

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

KERNEL = '''
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
'''

SETUP = f'''import numpy as np
import wavebound as wb

TEXT = """{KERNEL}""".format(
    first="  v_add_u32 v4, vcc, 1, v4\\n" * 40,
    second="  v_add_u32 v4, vcc, 2, v4\\n" * 40,
)
program = wb.Program.from_source("gcn3", TEXT, name="diverge.s")
job = program.launch("diverge", np.zeros(64, np.uint32), 32, grid=64, group=64, machine="gcn3")
job'''

DIVERGENCE = [
    "# What divergence costs\n\nA wave of 64 lanes meets an `if`. Lanes below `n` take one side, the others the other one.\n"
    "The wave runs both sides, one after the other, unless all lanes agree.",
    SETUP,
    "Half of the lanes go each way.",
    "run = job.run()\nrun",
    "Lanes that are on, over time: first one half, then the other.",
    "run.picture()",
    "Where do the lane-cycles go?",
    "run.branches()[[\"pc\", \"text\", \"executed\", \"diverged\", \"lane_cycles_lost\"]]",
    "The time depends on `n` only at its ends: with 0 or 64 all lanes agree, and one side is skipped.",
    "cycles = {n: job.with_args(np.zeros(64, np.uint32), n).run().cycles for n in (0, 1, 32, 63, 64)}\ncycles",
    "assert cycles[1] == cycles[32] == cycles[63] > cycles[0]",
    "Mechanisms that split the wave run both sides at once.",
    "found = wb.compare(job, mechanisms=[\"none\", \"thesis\", \"pws\"], contexts=[1])\nfound",
    "found.bars()",
    "job.on(mechanism=\"pws\", contexts=1, split=\"all\").picture()",
]

BOUND = [
    "# From a kernel to a proved bound\n\nHow long can this kernel take, whatever its inputs are?",
    SETUP,
    "Wavebound first asks whether contents can change the time at all. Here they cannot: `x` is only written.",
    "job.bound()",
    "A proof does not need a run.",
    "proved = job.bound(proved=True)\nproved",
    "What it rests on:",
    "proved.assumptions",
    "The bound holds for these arguments. With another `n` it is another launch.",
    "bounds = {n: job.with_args(np.zeros(64, np.uint32), n).bound(proved=True).cycles for n in (0, 32, 64)}\nbounds",
    "A wave that splits can take one side only, if a context is surely free. That makes the worst case shorter.",
    "split = job.on(mechanism=\"pws\", contexts=1, split=\"all\").bound(proved=True)\nsplit",
    "assert split.cycles < proved.cycles",
    "The run beside it:",
    "job.on(mechanism=\"pws\", contexts=1, split=\"all\").run().picture()",
    "The certificate can be checked by `wavebound check-bound`, which shares no code with the prover's search.",
    "proved.certificate[:200]",
]


def write(name, cells):
    kinds = [new_code_cell if code(c) else new_markdown_cell for c in cells]
    made = [kind(cell) for kind, cell in zip(kinds, cells)]
    for i, cell in enumerate(made):
        cell["id"] = f"cell-{i}"
    notebook = new_notebook(cells=made, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    nbformat.write(notebook, pathlib.Path(__file__).with_name(name))


def code(cell):
    try:
        compile(cell, "cell", "exec")
    except SyntaxError:
        return False
    return True


if __name__ == "__main__":
    write("divergence.ipynb", DIVERGENCE)
    write("proved-bound.ipynb", BOUND)
