"""What is no data directory."""

from __future__ import annotations

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.data.directory import DataDirectory


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match="prepare` makes such a folder"):
        DataDirectory(tmp_path)
    (tmp_path / "manifest.json").write_text('{"version": 0}')
    with pytest.raises(InputError, match="has version 0"):
        DataDirectory(tmp_path)
