"""Rows go to rows of the same name; another vocabulary is refused."""

from __future__ import annotations

import pytest
import torch

from fairseq_xl.io.errors import InputError
from fairseq_xl.modules.fingerprint import Fingerprint, NamedEmbedding


@pytest.mark.parametrize("names", [["en", "es", "zh"], ["zh", "de", "es", "en"], ["es"], ["fr"]])
def test_rows_are_loaded_by_name(names):
    old, new = NamedEmbedding(["en", "es", "zh"], 4), NamedEmbedding(names, 4)
    fresh = new.weight.detach().clone()
    new.load_state_dict(old.state_dict())
    for row, name in enumerate(names):
        known = name in old.names
        expected = old.weight[old.names.index(name)] if known else fresh[row]
        assert torch.equal(new.weight[row], expected)
    again = NamedEmbedding(["en", "es", "zh"], 4)
    again.load_state_dict(new.state_dict())  # the names that it was given are its own
    assert all(name in names or not torch.equal(again.weight[i], old.weight[i]) for i, name in enumerate(old.names))


def test_a_vocabulary_loads_into_its_equal_only():
    state = Fingerprint(["a", "b"], "source dictionary").state_dict()
    Fingerprint(["a", "b"], "source dictionary").load_state_dict(state)
    for other in (["b", "a"], ["a", "b", "c"], ["ab"]):
        with pytest.raises(InputError, match="another source dictionary than this data's"):
            Fingerprint(other, "source dictionary").load_state_dict(state)
