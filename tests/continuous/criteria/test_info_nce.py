"""--criterion info_nce: the scale that it refuses."""

import pytest

from fairseq_xl.continuous.criteria import info_nce
from fairseq_xl.io.errors import InputError


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan")])
def test_a_scale_that_is_none_is_refused(scale):
    with pytest.raises(InputError, match="--scale is"):
        info_nce.InfoNCE(None, False, scale)
