"""What an experiment's runs may be of. Experiments know no line of work, and these know no experiments."""

from __future__ import annotations

from dataclasses import replace

from fairseq_xl.experiment.reporting import Kind, Material, Report
from fairseq_xl.experiment.translations import KIND as TRANSLATIONS

DRAWS = 2000
"""for intervals, where nobody says how many"""


def _classes(material: Material) -> Report:
    """Of records that `classify predict --split` and `classify baseline` write."""
    from fairseq_xl.siamese.evaluation import comparison, records

    read = [(records.read(run.folder / "record.json"), material.labels[run.system]) for run in material.runs]
    systems = comparison.group([record | {"name": label} for record, label in read])
    chosen = material.baseline
    if chosen not in systems:  # it may stand there once for each number of sentences
        chosen = comparison.best(systems)
    compared = comparison.compare(systems, chosen, material.settings.samples or DRAWS)
    return Report(comparison.sections(compared, material.folder / "figures"), material.runs)


def _pairs(material: Material) -> Report:
    """Of records that `match predict --split` and `match baseline` write."""
    from fairseq_xl.pairs.evaluation import comparison
    from fairseq_xl.pairs.evaluation.record import PairRecord, together

    records = [PairRecord.read(run.folder / "record.json") for run in material.runs]
    labels = [material.labels[run.system] for run in material.runs]
    own_names = {label: record.name for label, record in zip(labels, records, strict=True)}
    named = [replace(record, name=label) for label, record in zip(labels, records, strict=True)]
    compared = comparison.compare(together(named), material.settings.samples or DRAWS)
    against = material.baseline or compared.best
    paper = comparison.paper_for(own_names) if material.settings.paper else None
    return Report(comparison.sections(compared, against, material.folder / "figures", paper), material.runs)


KINDS = (
    TRANSLATIONS,
    Kind("classes of sentences", {"classes": list, "gold": list, "predicted": list}, ("samples",), _classes),
    Kind("pairs of sentences", {"ids": list, "probability": list, "group": list}, ("samples", "paper"), _pairs),
)
