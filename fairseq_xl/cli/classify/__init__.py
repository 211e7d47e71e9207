"""Commands of the Siamese classifier."""

from fairseq_xl.cli.parsing import Table

COMMANDS: Table = {
    "prepare": (
        "fairseq_xl.cli.classify.prepare",
        "labelled text of one or two languages into a folder to train on",
    ),
    "statistics": ("fairseq_xl.cli.classify.statistics", "sentences, lengths and class shares"),
    "predict": (
        "fairseq_xl.cli.classify.predict",
        "classes of new text, with the reference sentences nearest to it",
    ),
    "label": ("fairseq_xl.cli.classify.label", "classes for unlabelled sentence pairs, from their rich side"),
    "baseline": (
        "fairseq_xl.cli.classify.baseline",
        "train and record another classifier, the paper's or a newer one",
    ),
    "report": ("fairseq_xl.cli.classify.report", "tables, tests and figures from records of predictions"),
    "gain": ("fairseq_xl.cli.classify.gain", "what one system gains over another, language by language"),
}
