"""A worker of a sweep: ``python -m wavebound._worker [--memory BYTES]``."""

import sys

from ._wavebound import sweep_worker

if __name__ == "__main__":
    memory = int(sys.argv[2]) if sys.argv[1:2] == ["--memory"] else None
    sweep_worker(memory)
