"""``fairseq-xl options``: what fairseq-train takes for this package's components."""

from __future__ import annotations

import dataclasses

import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.cli.options import REGISTRIES, components


def test_names_are_listed_by_the_option_that_chooses_them(capsys):
    assert main(["options"]) == 0
    listed = capsys.readouterr().out
    assert listed.index("--arch") < listed.index("  continuous_lstm\n") < listed.index("--criterion")
    assert listed.index("--criterion") < listed.index("  syn_margin_proj\n") < listed.index("--optimizer")


@pytest.mark.parametrize("option", REGISTRIES)
def test_every_option_of_every_component_is_printed(option, capsys):
    found = components(option)
    assert found
    for name, kind in found.items():
        assert main(["options", name]) == 0
        printed = capsys.readouterr().out
        assert f"{option} {name}" in printed
        for each in dataclasses.fields(kind):
            if "help" in each.metadata and each.name != "data" and not str(each.default).startswith("${"):
                assert f"--{each.name.replace('_', '-')}" in printed, (name, each.name)


def test_defaults_are_printed(capsys):
    main(["options", "syn_margin_proj"])
    assert "(default: 0.5)" in capsys.readouterr().out


def test_an_unknown_name_is_one_sentence(capsys):
    assert main(["options", "syn_margin_pro"]) == 2
    assert capsys.readouterr().err == (
        "error: there is no 'syn_margin_pro' among this package's components; did you mean 'syn_margin_proj'?\n"
    )
    assert main(["options", "zzz"]) == 2
    assert "`fairseq-xl options` lists the names" in capsys.readouterr().err
