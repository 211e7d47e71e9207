"""Commands of translation."""

from fairseq_xl.cli.parsing import Table

COMMANDS: Table = {
    "text": ("fairseq_xl.cli.translate.text:Text", "translate raw text with a packed model"),
    "pack": (
        "fairseq_xl.cli.translate.pack:Pack",
        "put a trained model and all that translating needs into one folder",
    ),
    "export": (
        "fairseq_xl.cli.translate.export:Export",
        "write a packed Transformer for CTranslate2, which translates without torch and fairseq",
    ),
    "nearest": (
        "fairseq_xl.cli.translate.nearest:Nearest",
        "show the words nearest to each vector that a model predicts",
    ),
    "diagnose": (
        "fairseq_xl.cli.translate.diagnose:Diagnose",
        "measure how near a model's vectors come to their targets, and what its negatives are",
    ),
    "word-recall": (
        "fairseq_xl.cli.translate.word_recall:WordRecall",
        "show how many of the references' words each translation has, rare ones apart",
    ),
    "tune": ("fairseq_xl.cli.translate.tune:Tune", "choose decoding options of a model on the development set"),
    "average": ("fairseq_xl.cli.translate.average:Average", "average the weights of checkpoints"),
}
