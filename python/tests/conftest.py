import os
import pathlib

import pytest


@pytest.fixture
def command():
    """The command `wavebound`, which checks what the package made."""
    path = os.environ.get("WAVEBOUND")
    if not path:
        if os.environ.get("CI") == "true":
            pytest.fail("WAVEBOUND must name the command in CI")
        pytest.skip("WAVEBOUND does not name the command")
    return str(pathlib.Path(path).resolve())
