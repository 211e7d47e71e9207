"""``fairseq-xl options``: the options of this package's parts of fairseq-train, which its own ``--help`` leaves out."""

from __future__ import annotations

import argparse
import difflib
import importlib
from dataclasses import dataclass

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument

REGISTRIES = {
    "--arch": ("fairseq.models", "MODEL_DATACLASS_REGISTRY"),
    "--task": ("fairseq.tasks", "TASK_DATACLASS_REGISTRY"),
    "--criterion": ("fairseq.criterions", "CRITERION_DATACLASS_REGISTRY"),
    "--optimizer": ("fairseq.optim", "OPTIMIZER_DATACLASS_REGISTRY"),
    "--lr-scheduler": ("fairseq.optim.lr_scheduler", "LR_SCHEDULER_DATACLASS_REGISTRY"),
}
"""fairseq-train's option -> where fairseq keeps the dataclasses of what it chooses from."""


def components(option: str) -> dict[str, type]:
    """What this package adds to the choices of one of fairseq-train's options: name -> the dataclass of its options."""
    import fairseq_xl

    fairseq_xl.register()
    module, registry = REGISTRIES[option]
    found = getattr(importlib.import_module(module), registry)
    return {name: kind for name, kind in sorted(found.items()) if kind.__module__.startswith("fairseq_xl.")}


@dataclass
class Options:
    """Print the options that fairseq-train takes for one of this package's models, tasks, criteria, optimisers or
    schedules. Its own --help prints none of them."""

    name: str | None = argument("such as continuous_lstm or syn_margin_proj", None, shown="list the names")

    def run(self) -> None:
        """Print one component's options, or all names.

        Raises:
            InputError: no component of this package has that name.
        """
        all_of = {option: components(option) for option in REGISTRIES}
        if self.name is None:
            for option, found in all_of.items():
                print(option, *found, sep="\n  ")
            return
        chosen = {option: found[self.name] for option, found in all_of.items() if self.name in found}
        if not chosen:
            near = difflib.get_close_matches(self.name, [name for found in all_of.values() for name in found], n=1)
            hint = f"did you mean {near[0]!r}?" if near else "`fairseq-xl options` lists the names"
            raise InputError(f"there is no {self.name!r} among this package's components; {hint}")
        from fairseq.dataclass.utils import gen_parser_from_dataclass

        for option, kind in chosen.items():
            parser = argparse.ArgumentParser(
                prog=f"fairseq-train … {option} {self.name}",
                usage="%(prog)s …",
                add_help=False,
                formatter_class=argparse.ArgumentDefaultsHelpFormatter,
            )
            gen_parser_from_dataclass(parser, kind())
            parser.print_help()
