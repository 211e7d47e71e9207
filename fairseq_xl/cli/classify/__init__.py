"""Commands of the Siamese classifier."""

from fairseq_xl.cli.parsing import Table

COMMANDS: Table = {
    "prepare": ("fairseq_xl.cli.classify.data:Prepare", "labelled text of one or two languages into a data directory"),
    "statistics": ("fairseq_xl.cli.classify.data:Statistics", "sentences, lengths and class shares of the data"),
    "predict": (
        "fairseq_xl.cli.classify.predict:Predict",
        "classes of new text, with the reference sentences nearest to it",
    ),
    "label": (
        "fairseq_xl.cli.classify.label:Label",
        "classes for unlabelled sentence pairs, from their high-resource side",
    ),
    "baseline": (
        "fairseq_xl.cli.classify.baseline:Baseline",
        "train and record another classifier, the paper's or a newer one",
    ),
    "report": ("fairseq_xl.cli.classify.report:Report", "tables, tests and figures from records of predictions"),
    "gain": ("fairseq_xl.cli.classify.report:Gain", "what one system gains over another, language by language"),
}
