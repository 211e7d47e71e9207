"""CI fails on a test that is skipped without a reason on the list, and on no other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import skips

TESTS = Path(__file__).resolve().parent


@pytest.fixture
def suite(tmp_path):
    """``suite("REASON", CI="true")``: status and output of a run, by xdist, of a test that is skipped so."""

    def run(reason: str, module: bool = False, **environment: str) -> tuple[int, str]:
        how = f"pytest.skip({reason!r}, allow_module_level=True)" if module else "pass"
        (tmp_path / "test_it.py").write_text(
            f"import pytest\n{how}\n@pytest.mark.skip(reason={reason!r})\ndef test_one(): ...\ndef test_two(): ...\n"
        )
        env = {k: v for k, v in os.environ.items() if k != "CI" and not k.startswith("PYTEST")} | environment
        env |= {"PYTHONPATH": str(TESTS / "helpers"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        plugins = ["-p", "no:cacheprovider", "-p", "xdist", "-p", "skips"]
        command = [sys.executable, "-m", "pytest", "-q", *plugins, "-n", "1", str(tmp_path)]
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=600)
        return done.returncode, done.stdout

    return run


def test_this_suite_is_held_to_it(pytestconfig):
    assert pytestconfig.pluginmanager.hasplugin("skips")


@pytest.mark.parametrize("module", [False, True])
def test_a_skip_that_nobody_expects_fails_in_ci(suite, module):
    status, said = suite("the moon is full", module, CI="true")
    assert status == 1
    assert "skipped without an expected reason" in said
    assert ": the moon is full" in said


def test_elsewhere_it_does_not(suite):
    assert suite("the moon is full")[0] == 0


def test_an_expected_skip_does_not_fail(suite):
    assert suite(f"{skips.expected()[0]} of some kind", CI="true")[0] == 0
