"""Commands of sentence embeddings."""

from fairseq_xl.cli.parsing import Table

COMMANDS: Table = {
    "tagger": ("fairseq_xl.cli.embed.tagger", "train, test and use part-of-speech taggers"),
    "prepare": ("fairseq_xl.cli.embed.prepare", "from parallel text to tagged, binarised training data"),
    "statistics": ("fairseq_xl.cli.embed.statistics", "count the pairs of languages of a corpus"),
    "build-eval": ("fairseq_xl.cli.embed.build_eval", "hold out groups of sentences with the same tags"),
    "evaluate": ("fairseq_xl.cli.embed.evaluate", "score sentence embeddings by the syntax that they carry"),
    "tables": ("fairseq_xl.cli.embed.tables", "one table from the records of several evaluations"),
    "map": ("fairseq_xl.cli.embed.map", "draw embeddings in two dimensions, coloured by tag sequence"),
    "text": ("fairseq_xl.cli.embed.text", "turn lines of raw text into vectors"),
    "encoder": (
        "fairseq_xl.cli.embed.encoder",
        "pack a sentence encoder into one folder, export it to ONNX, or make an untrained one",
    ),
}
