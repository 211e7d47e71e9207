"""The bar that shows that work goes on."""

from __future__ import annotations

import io
import sys

import pytest

from fairseq_xl.io.progress import progress_bar


@pytest.mark.parametrize("shown", [True, False])
def test_short_work_shows_no_bar(shown: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("lines", shown, None, "lines") as bar:
        bar.update(3)
        assert bar.disable is not shown
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_a_log_holds_few_drawings(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds, stream = 0.0, io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    bar = progress_bar("lines", True, 50, " lines", range(50))
    monkeypatch.setattr(bar, "_time", lambda: seconds)
    bar.start_t = bar.last_print_t = 0.0
    for _ in bar:
        seconds += 1
    drawings = stream.getvalue().count("lines:")
    assert drawings >= 40 if terminal else 1 <= drawings <= 3
    assert "50.0/50.0" in stream.getvalue()


def test_items_go_through_and_earlier_work_is_counted() -> None:
    bar = progress_bar("lines", True, 10, " lines", iter("abc"), done=7)
    assert list(bar) == list("abc")
    assert bar.n == 10
