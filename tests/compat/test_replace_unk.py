"""``--replace-unk`` through fairseq's own commands, and on attention made by hand."""

import re
from collections import defaultdict

import pytest
import torch
from fairseq.data import Dictionary

from fairseq_xl.compat import replace_unk
from fairseq_xl.compat.replace_unk import Aligned
from fairseq_xl.io.errors import InputError
from fairseq_xl.text.hypotheses import read_replaced

# Nothing but unknown words: their score is raised by 1000 at every step.
ALL_UNKNOWN = "--unkpen -1000 --beam 2 --max-len-b 5 --num-workers 0 --print-alignment"


def read_output(text):
    """{kind: {sentence: last column}} of fairseq-generate's lines ``H-3<TAB>score<TAB>words``."""
    found = defaultdict(dict)
    for line in text.splitlines():
        match = re.match(r"([STHDA])-(\d+)\t(.*)", line)
        if match:
            found[match[1]][int(match[2])] = match[3].split("\t")[-1]
    return found


def check_copies(output, sources, dictionary=None):
    """Each word of each hypothesis is what fairseq's own alignment points to."""
    assert output["H"]
    for number, hypothesis in output["H"].items():
        words = sources[number].split()
        pairs = [tuple(map(int, pair.split("-"))) for pair in output["A"][number].split()]
        expected = [words[place] for place, _ in sorted(pairs, key=lambda pair: pair[1])]
        expected = [(dictionary or {}).get(word, word) for word in expected]
        assert hypothesis.split() == expected
        assert "<unk>" not in hypothesis


def test_generate_copies_aligned_words_on_preprocessed_data(command, corpus, trained, capsys):
    command("generate", f"{corpus} --path {trained} {ALL_UNKNOWN} --replace-unk")
    output = read_output(capsys.readouterr().out)
    assert len(output["H"]) == 10
    check_copies(output, output["S"])


def test_generate_translates_them_with_a_dictionary(command, corpus, trained, capsys, tmp_path):
    words = {"sieht": "SEES", "Haus": "HOUSE", "malt": "PAINTS", "ein": "A", "Kind": "CHILD"}
    path = tmp_path / "align.txt"
    path.write_text("".join(f"{a} {b}\n" for a, b in words.items()), encoding="utf-8")
    command("generate", f"{corpus} --path {trained} {ALL_UNKNOWN} --replace-unk {path}")
    output = read_output(capsys.readouterr().out)
    check_copies(output, output["S"], words)
    assert any(word.isupper() for line in output["H"].values() for word in line.split())


def test_generate_without_the_option_is_as_ever(command, corpus, trained, capsys):
    command("generate", f"{corpus} --path {trained} {ALL_UNKNOWN}")
    output = read_output(capsys.readouterr().out)
    assert set(" ".join(output["H"].values()).split()) == {"<unk>"}


def test_generate_asks_the_model_to_keep_its_attention(command, corpus, trained, capsys):
    # The stock lstm drops its attention unless alignments are printed.
    command("generate", f"{corpus} --path {trained} --unkpen -1000 --max-len-b 5 --num-workers 0 --replace-unk")
    output = read_output(capsys.readouterr().out)
    assert "<unk>" not in " ".join(output["H"].values())


def test_attention_shifted_by_padding_is_refused_and_can_be_avoided(command, corpus, trained, capsys, tmp_path):
    """fairseq's own lstm pads on the right inside; the log's columns are those of the padded source."""
    line = f"{corpus} --path {trained} --unkpen -1000 --max-len-b 5 --num-workers 0"
    log, source = tmp_path / "log", tmp_path / "source"
    for option in ("", "--left-pad-source"):
        command("generate", f"{line} --print-alignment soft {option}")
        log.write_text(text := capsys.readouterr().out, encoding="utf-8")
        spelled = read_output(text)["S"]
        assert len({len(words.split()) for words in spelled.values()}) > 1
        source.write_text("".join(f"{spelled[n]}\n" for n in sorted(spelled)), encoding="utf-8")
        if not option:
            with pytest.raises(InputError, match="generate with --left-pad-source"):
                read_replaced(log, source, {})
            continue
        lines, _ = read_replaced(log, source, {})
        for number, words in enumerate(lines):
            assert set(words.split()) <= set(spelled[number].split())


def test_interactive_copies_what_was_typed(command, corpus, trained, capsys, tmp_path):
    lines = ["der Zwerg sieht Xanthippe oft", "Rumpelstilzchen", "ein Boot"]
    typed = tmp_path / "input.txt"
    typed.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command(
        "interactive",
        f"{corpus} --path {trained} --input {typed} --buffer-size 3 --batch-size 2 {ALL_UNKNOWN} --replace-unk",
    )
    output = read_output(capsys.readouterr().out)
    check_copies(output, dict(enumerate(lines)))
    assert set(output["H"][1].split()) == {"Rumpelstilzchen"}


def made_by_hand():
    """Target "the <unk> sleeps <unk> </s>" over source "ein Uhu schläft": words 0, 1, 2, 0."""
    target = Dictionary()
    for word in ("the", "sleeps"):
        target.add_symbol(word)
    unk = target.unk()
    tokens = [target.index("the"), unk, target.index("sleeps"), unk, target.eos()]
    return target, tokens


def test_alignment_on_constructed_attention():
    source_dictionary = Dictionary()
    pad, eos = source_dictionary.pad(), source_dictionary.eos()
    source = torch.tensor([pad, pad, 10, 11, 12, eos])
    # Padding and the end of the sentence weigh most, and must not count.
    attention = torch.tensor(
        [
            [9.0, 9.0, 9.0, 9.0, 9.0],
            [9.0, 9.0, 9.0, 9.0, 9.0],
            [0.5, 0.1, 0.1, 0.6, 0.3],
            [0.3, 0.7, 0.1, 0.2, 0.3],
            [0.2, 0.2, 0.8, 0.2, 0.4],
            [9.0, 9.0, 9.0, 9.0, 9.0],
        ]
    )
    assert replace_unk.attended(attention, source, (pad, eos)) == [0, 1, 2, 0, 2]
    assert replace_unk.attended(attention, torch.tensor([pad] * 5 + [eos]), (pad, eos)) == []


def test_words_are_replaced_by_hand():
    target, tokens = made_by_hand()
    source = ["ein", "Uhu", "schläft"]

    def text(positions, dictionary=None, spelled=()):
        aligned = Aligned([], source, positions, dictionary or {})
        return replace_unk.replaced(tokens, aligned, spelled, target, set())

    assert text([0, 1, 2, 0, 2]) == "the Uhu sleeps ein"
    assert text([0, 1, 2, 0, 2], {"Uhu": "owl"}) == "the owl sleeps ein"
    assert text([]) == "the <unk> sleeps <unk>"  # an empty source sentence
    with pytest.raises(InputError, match="no attention"):
        text(None)


def test_raw_text_spells_what_the_dictionary_cannot():
    target, tokens = made_by_hand()
    aligned = Aligned([], ["ein", "<unk>", "schläft"], [0, 1, 2, 0, 2], {})
    spelled = ["ein", "Uhu", "schläft"]
    words = replace_unk.replaced(tokens, aligned, spelled, target, set())
    assert words == "the Uhu sleeps ein"


def test_alignment_dictionary_errors_name_file_and_line(tmp_path):
    path = tmp_path / "align.txt"
    path.write_text("Haus house\nHund\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"align\.txt, line 2: .*'Hund'"):
        replace_unk.load_dictionary(str(path))
    with pytest.raises(InputError, match="there is no file"):
        replace_unk.load_dictionary(str(tmp_path / "absent.txt"))
    assert replace_unk.load_dictionary("@@ ") == {}  # the option without a file
    assert replace_unk.load_dictionary(None) is None
