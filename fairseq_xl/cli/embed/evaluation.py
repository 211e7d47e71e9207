"""Sentence embeddings side by side: scores by the syntax that they carry, tables of them, a map."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.atomic import atomic_outputs, atomic_text, text_output
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import own_files
from fairseq_xl.io.json_files import opened_json
from fairseq_xl.io.settings import (
    GREATEST_SEED,
    argument,
    device_option,
    name_and_value,
    names_and_values,
    option,
    refuse_given,
    user_dir_option,
)
from fairseq_xl.syntactic.evaluation.encoders import (
    BASELINES,
    KINDS,
    TRANSFORMS,
    Encoder,
    check_names,
    parse_encoder,
    transformed,
)
from fairseq_xl.syntactic.tagging.tagged_text import TaggedText, read_sets, read_treebank
from fairseq_xl.syntactic.tagging.taggers import ACCURACY
from fairseq_xl.vectors.faiss_index import KINDS as KINDS_OF_INDEX

MEASURES = ("nearest", "dissimilarity", "cross-lingual")


@dataclass(kw_only=True)
class Evaluate:
    """Score sentence embeddings side by side by the syntax that they carry."""

    encoders: list[str] = argument(f"what to evaluate, each [LABEL=]ENCODER: {KINDS}", [], metavar="ENCODER")
    sets: list[Path] = option(
        "LANG.tsv files of build-eval, or a folder of them: groups of sentences with the same tags, for nearest "
        "neighbours",
        [],
        metavar="TSV",
    )
    treebanks: list[str] = option(
        "sentences with gold tags, for functional dissimilarity. Where their sent_id agree, as in PUD, they serve for "
        "translations too",
        [],
        metavar="LANG=CONLLU",
    )
    taggers: list[str] = option(
        "the taggers that tagged the sets: their accuracy, where train-tagger --test measured it, stands in the table",
        [],
        metavar="LANG=DIR",
    )
    transform: list[str] = option(
        "rows beside those of each model: its vectors centred or whitened, each language by its own sentences",
        [],
        choices=tuple(TRANSFORMS),
    )
    measures: list[str] = option("measures to take", list(MEASURES), choices=MEASURES, shown="all")
    device: str | None = device_option("where pairs are compared, such as cpu or cuda:1")
    user_dir: Path | None = user_dir_option()
    index_kind: str | None = option(
        "look the nearest neighbours up in a faiss index (extra index) instead of comparing all pairs. Use it with "
        "--measures nearest, for a million sentences. The kinds hnsw and ivf overlook some neighbours",
        None,
        choices=KINDS_OF_INDEX,
    )
    output: Path | None = option(
        "write PREFIX.json, the record, and PREFIX.md, the tables", None, alias="-o", metavar="PREFIX"
    )
    write_texts: Path | None = option(
        "write FOLDER/NAME.txt, one sentence a row, for an encoder that runs elsewhere, and stop",
        None,
        metavar="FOLDER",
    )

    def run(self) -> None:
        """Evaluate, print the tables, write them and the record.

        Raises:
            InputError: there is nothing to evaluate, or options or an output cannot be used. It is also raised at the
                end where some of the encoders failed. The others' scores have been written then.
        """
        if self.measures == ["nearest"]:
            refuse_given(self, ["treebanks"], "is for the other measures, which are not among --measures")
        sets = read_sets(self.sets)
        treebanks = [_treebank(text) for text in self.treebanks]
        if self.write_texts:
            refuse_given(
                self,
                ["encoders", "output", "transform", "taggers", "index_kind", "measures", "device", "user_dir"],
                "has no effect with --write-texts",
            )
            write_texts(self.write_texts, [*sets, *treebanks])
            return
        encoders = self._encoders()
        accuracy = self._accuracy_of_taggers({text.language for text in sets})
        if "nearest" not in self.measures:
            refuse_given(self, ["index_kind"], "is for --measures nearest, which is not among them")
        if not encoders:
            raise InputError("there is no encoder to evaluate: name one, such as length or ours=FOLDER")
        failures = self._evaluate(encoders, sets, treebanks, accuracy)
        if failures:
            raise InputError("; ".join(failures))

    def _encoders(self) -> list[Encoder]:
        encoders = [parse_encoder(text) for text in self.encoders]
        plain = [encoder for encoder in encoders if encoder.spec not in BASELINES]
        if encoders and not plain:
            refuse_given(self, ["transform"], "is for encoders, and there are baselines alone")
        return encoders + [transformed(encoder, step) for step in self.transform for encoder in plain]

    def _accuracy_of_taggers(self, languages: set[str]) -> dict[str, float]:
        folders = names_and_values(self.taggers, "--taggers", "LANG=DIR, such as de=taggers/de")
        if strangers := folders.keys() - languages:
            raise InputError(f"--taggers names {sorted(strangers)[0]}, of which there is no evaluation set")
        return {language: _tagger_accuracy(language, Path(folder)) for language, folder in folders.items()}

    def _evaluate(
        self,
        encoders: Sequence[Encoder],
        sets: Sequence[TaggedText],
        treebanks: Sequence[TaggedText],
        accuracy: Mapping[str, float],
    ) -> list[str]:
        """Print the tables, write them and the record, and say which encoders failed."""
        import fairseq_xl
        from fairseq_xl.report.record import commit, versions
        from fairseq_xl.syntactic.evaluation.evaluation import evaluate
        from fairseq_xl.syntactic.evaluation.tables import tables
        from fairseq_xl.training.device import usable

        fairseq_xl.register()
        device = usable(self.device)
        if self.output:
            _refuse_device(self.output)
        outputs = [Path(f"{self.output}.{ending}") for ending in ("json", "md")] if self.output else []
        began = time.monotonic()
        # The record is in its place before the tables are made, so that no fault of theirs loses hours of scores.
        with atomic_outputs(*outputs[1:]) as of_tables:
            with atomic_outputs(*outputs[:1]) as of_record:
                for file in (*of_record, *of_tables):
                    file.touch()  # where nothing can be written, that is said before the computing
                record = evaluate(encoders, sets, treebanks, self.measures, device, self.index_kind)
                for language, tagger_f1 in accuracy.items():
                    record["texts"]["sets"][language]["tagger_f1"] = tagger_f1
                record = {
                    "version": 1,
                    **record,
                    "index": self.index_kind,
                    "seconds": round(time.monotonic() - began, 1),
                }
                record = {**record, "versions": versions(), "commit": commit()}
                for file in of_record:
                    file.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            text = "\n".join(table.markdown() for table in tables([record]))
            print(text)
            for file in of_tables:
                file.write_text(text, encoding="utf-8")
        return record["failures"]


def write_texts(folder: Path, texts: Sequence[TaggedText]) -> None:
    """One sentence a row, in files named as the encoder ``npy:…{name}…`` expects its arrays.

    Raises:
        InputError: two texts of the same name, or a file in the way that is not as this wrote it.
    """
    check_names(texts)
    with own_files(folder, "embed evaluate", lambda _: True) as written:  # other texts have calls of their own
        for text in texts:
            with atomic_text(written / f"{text.name}.txt") as stream:
                stream.writelines(f"{line}\n" for line in text.texts)


def _tagger_accuracy(language: str, folder: Path) -> float:
    """A tagger's UPOS F1."""
    missing = f"`train-tagger --test` writes it, else leave {language} out of --taggers"
    with opened_json(folder / ACCURACY, "accuracy of a tagger", "run train-tagger --test again", missing) as found:
        return float(found["upos_f1"])


def _treebank(text: str) -> TaggedText:
    language, path = name_and_value(text, "--treebanks", "LANG=FILE, such as de=de_pud.conllu")
    return read_treebank(Path(path), language)


@dataclass(kw_only=True)
class Tables:
    """Put the encoders of several evaluations into one set of tables. Encoders of the same label become one row,
    mean ± standard deviation: label the seeds of a system alike."""

    records: list[Path] = argument("what `fairseq-xl embed evaluate --output` wrote", metavar="JSON")
    format: str = option(
        "of the tables; page: all on one HTML page", "markdown", choices=("markdown", "latex", "csv", "page")
    )
    output: Path | None = option("file to write", None, alias="-o", shown="standard output", metavar="FILE")

    def run(self) -> None:
        from fairseq_xl.syntactic.evaluation.tables import read_record, tables

        made = tables([read_record(path) for path in self.records])
        if self.format == "page":
            from fairseq_xl.report.page import Section, page

            made_from = f"Made from {', '.join(path.name for path in self.records)}."
            text = page("Syntax in sentence embeddings", [Section("Scores", tables=made)], [made_from]) + "\n"
        else:
            text = "\n".join(getattr(table, self.format)() for table in made)
        with text_output(self.output) as stream:
            stream.write(text)


@dataclass(kw_only=True)
class Map:
    """Draw the embeddings of the sentences with the most frequent tag sequences: colour for the sequence, shape for
    the language. Sentences of all sets share one map."""

    encoder: str = argument(f"[LABEL=]ENCODER: {KINDS}")
    sets: list[Path] = option("LANG.tsv files of build-eval, or a folder of them", metavar="TSV")
    output: Path = option(
        "write PREFIX.png, PREFIX.pdf, PREFIX.html and the points as PREFIX.csv", alias="-o", metavar="PREFIX"
    )
    method: str = option(
        "pca keeps large distances and shows how much it keeps; umap, an extra, shows neighbourhoods",
        "pca",
        choices=("pca", "umap"),
    )
    groups: int = option("show this many tag sequences", 12, metavar="N")
    most: int = option("show a sample of this many sentences where there are more", 4000, metavar="N")
    seed: int = option("seed of the sample and of umap", 0, low=0, high=GREATEST_SEED)
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        """Embed, project, draw, and say where the files are.

        Raises:
            InputError: nothing to draw, or an output that cannot be used.
        """
        _refuse_device(self.output)
        import fairseq_xl
        from fairseq_xl.syntactic.evaluation.map import choose, write_map
        from fairseq_xl.syntactic.evaluation.projection import project, stacked

        fairseq_xl.register()
        encoder = parse_encoder(self.encoder)
        texts = read_sets(self.sets)
        chosen = choose(texts, self.groups, self.most, self.seed)
        rows = [matrix[rows] for matrix, rows in zip(encoder.embed(texts), chosen.rows, strict=True)]
        points, kept = project(stacked(encoder.label, rows), self.method, self.seed)
        share = "" if kept is None else f" ({100 * kept:.0f} % of the variance)"
        note = f"{len(points):,} sentences of the {len(chosen.patterns)} most frequent tag sequences"
        note += f", {self.method.upper()}{share}."
        write_map(self.output, encoder.label, note, points, chosen, [text.language for text in texts])
        for ending in ("png", "pdf", "html", "csv"):
            print(f"{self.output}.{ending}")


def _refuse_device(prefix: Path) -> None:
    """Raises: InputError: a device or pipe, beside which files would be written."""
    if prefix.exists() and not (prefix.is_file() or prefix.is_dir()):
        raise InputError(f"--output {prefix} is no file: give the beginning of the files' names")
