"""The bar that shows that work goes on."""

from __future__ import annotations

import pytest

from fairseq_xl.io.progress import progress_bar


@pytest.mark.parametrize("shown", [True, False])
def test_short_work_shows_no_bar(shown: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("lines", shown, None, "lines") as bar:
        bar.update(3)
        assert bar.disable is not shown
    assert capsys.readouterr().out == ""
