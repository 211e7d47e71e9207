"""Commands of experiments: many systems and seeds through one recipe, and tables from what they leave."""

from fairseq_xl.cli.parsing import Table

COMMANDS: Table = {
    "run": ("fairseq_xl.cli.experiment.run:Run", "run every cell that is not done yet"),
    "status": ("fairseq_xl.cli.experiment.run:Status", "say what has become of each cell"),
    "report": ("fairseq_xl.cli.experiment.report:Report", "write tables, figures and a page from the finished runs"),
    "curves": ("fairseq_xl.cli.experiment.report:Curves", "plot training curves of one or several runs"),
    "record": ("fairseq_xl.cli.experiment.report:Record", "write what a run was and what it scored, as JSON"),
}
