"""What is read from checkpoints; compat/test_checkpoints.py tries damaged ones."""

import argparse
import json

from fairseq_xl.training.checkpoints import plain


def test_options_become_plain_data():
    value = {"a": argparse.Namespace(b=(1, None)), 2: {"c": object}}
    made = plain(value)
    assert made == {"a": {"b": [1, None]}, "2": {"c": str(object)}}
    json.dumps(made)
