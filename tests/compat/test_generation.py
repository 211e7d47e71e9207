"""What is generated of a sentence does not hang on its batch."""

from __future__ import annotations

import re

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("alignment", ["", "--print-alignment"])
def test_diverse_hypotheses_do_not_hang_on_what_else_is_in_the_batch(alignment, command, corpus, trained, capsys):
    def translations(size: int) -> dict[str, str]:
        line = f"{corpus} --path {trained} --max-len-b 6 --num-workers 0 --cpu --beam 4 --diverse-beam-groups 2"
        command("generate", f"{line} --diverse-beam-strength 2 --batch-size {size} {alignment}")
        return dict(re.findall(r"^(H-\d+)\t\S+\t(.*)$", capsys.readouterr().out, re.MULTILINE))

    capsys.readouterr()
    alone = translations(1)
    assert len(alone) == 10
    assert translations(4) == translations(10) == alone
