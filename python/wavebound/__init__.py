"""Wavebound: how long a GPU kernel takes in the worst case, and how to make that shorter.

>>> import numpy as np, wavebound as wb
>>> program = wb.Program.from_source("gcn3", '''
... .kernel triple
... .arg buf x
...   s_load_dwordx2 s[4:5], s[0:1], 0x0
...   v_lshlrev_b32 v1, 2, v0
...   v_mul_u32_u24 v4, 3, v0
...   s_waitcnt lgkmcnt(0)
...   v_mov_b32 v3, s5
...   v_add_u32 v2, vcc, s4, v1
...   v_addc_u32 v3, vcc, 0, v3, vcc
...   flat_store_dword v[2:3], v4
...   s_endpgm
... ''')
>>> job = program.launch("triple", np.zeros(64, np.uint32), grid=64, group=64)
>>> run = job.run()
>>> run["x"][:4].tolist()
[0, 3, 6, 9]
>>> job.bound(proved=True).cycles >= run.cycles
True
"""

from ._wavebound import BoundError, JobError, MachineError, WaveboundError, __version__
from .bound import Bound, bound
from .compare import Comparison, compare
from .display import Svg
from .launch import Job, Local, Run
from .machine import Machine, presets
from .program import Program
from .sweeps import Sweep, sweep

__all__ = [
    "Bound",
    "BoundError",
    "Comparison",
    "Job",
    "JobError",
    "Local",
    "Machine",
    "MachineError",
    "Program",
    "Run",
    "Svg",
    "Sweep",
    "WaveboundError",
    "__version__",
    "bound",
    "compare",
    "presets",
    "sweep",
]
