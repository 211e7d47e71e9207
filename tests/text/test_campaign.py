from __future__ import annotations

import gzip
import os
import re

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.text.campaign import read_pairs, read_tags, read_xml

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<mteval>\n<srcset setid="s" srclang="french">\n'
TAIL = "</srcset>\n</mteval>\n"


def xml(path, *documents):
    """A campaign file with documents given as (id, {segment: text})."""
    body = ""
    for name, segments in documents:
        body += f'<doc docid="{name}" genre="lectures">\n<url>http://x</url>\n<title>T & t</title>\n'
        body += "".join(f'<seg id="{number}"> {text} </seg>\n' for number, text in segments.items())
        body += "</doc>\n"
    path.write_text(HEAD + body + TAIL, encoding="utf-8")
    return path


def test_segments_carry_ids_text_and_lines(tmp_path):
    path = xml(tmp_path / "a.xml", ("69", {1: "Bonjour.", 2: "Ça va ?"}), ("70", {1: "Oui"}))
    segments = read_xml(path)
    assert [(item.document, item.segment, item.text) for item in segments] == [
        ("69", "1", "Bonjour."),
        ("69", "2", "Ça va ?"),
        ("70", "1", "Oui"),
    ]
    lines = path.read_text(encoding="utf-8").split("\n")
    assert all(item.text in lines[item.line - 1] for item in segments)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("R&D and AT&T;", "R&D and AT&T;"),
        ("R&amp;D &lt;b&gt; &quot;q&quot; &#233;", 'R&D <b> "q" é'),
        ("&nbsp;&lol;", "&nbsp;&lol;"),
        ("1 < 2 and <3 love", "1 < 2 and <3 love"),
        ("a\u2028b\x85c\x0bd", "a b c d"),
        ("two\nlines", "two lines"),
        ("", ""),
    ],
)
def test_hand_made_escapes_are_read_as_meant(tmp_path, written, read):
    assert read_xml(xml(tmp_path / "a.xml", ("1", {1: written})))[0].text == read


def test_alignment_is_by_id_not_by_position(tmp_path):
    source = xml(tmp_path / "a.fr.xml", ("1", {1: "un", 2: "deux"}), ("2", {1: "trois"}))
    target = xml(tmp_path / "a.en.xml", ("2", {1: "three"}), ("1", {2: "two", 1: "one"}))
    pairs = [("un", "one"), ("deux", "two"), ("trois", "three")]
    assert list(read_pairs([source], [target])) == pairs
    assert list(read_pairs([source] * 2, [target] * 2)) == pairs * 2


def test_a_segment_without_a_partner_is_named(tmp_path):
    source = xml(tmp_path / "a.fr.xml", ("1", {1: "un", 2: "deux"}))
    target = xml(tmp_path / "a.en.xml", ("1", {1: "one"}))
    for pair in ((source, target), (target, source)):
        with pytest.raises(InputError, match=r"a\.fr\.xml, line 8: segment 2 of document 1 .*a\.en"):
            list(read_pairs([pair[0]], [pair[1]]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<doc docid='1'>\n<seg id='1'>a</seg>\n<seg id='1'>b</seg></doc>", "line 3: segment 1 .*line 2"),
        ("<doc docid='1'>\n<seg id='1'>a</seg><seg id='1'>b</seg></doc>", "line 2: segment 1 .*line 2"),
        ("<x><seg id='1'>a</seg></x>", "line 1: <seg> outside any <doc>"),
        ("<doc>\n<seg id='1'>a</seg></doc>", "line 1: <doc> without a docid"),
        ("<doc docid='1'>\n<seg>a</seg></doc>", "line 2: <seg> without an id"),
        ("<doc docid='1'>\n<seg id='1'>a\n<seg id='2'>b</seg></seg></doc>", "line 3: <seg> inside"),
        ("<doc docid='1'>\n<seg id='1'>a\n</doc>", "line 3: not well-formed XML"),
        ("<doc docid='1'></doc>", "holds no <seg>"),
        ("no markup at all", "line 1: not well-formed XML"),
    ],
)
def test_broken_files_are_named_by_line(tmp_path, text, message):
    path = tmp_path / "a.xml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"a\.xml.* {message}"):
        read_xml(path)


def test_entity_declarations_are_refused(tmp_path):
    path = tmp_path / "bomb.xml"
    path.write_text('<!DOCTYPE d [<!ENTITY a "aaaa">]>\n<doc docid="1"><seg id="1">&a;</seg></doc>')
    with pytest.raises(InputError, match=r"bomb\.xml, line 1: a document type declaration"):
        read_xml(path)


def test_invalid_utf8_is_named(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(b"<doc docid='1'>\n<seg id='1'>\xe9</seg></doc>")
    with pytest.raises(InputError, match=r"a\.xml, line 2: byte 0xe9"):
        read_xml(path)


TAGS = """<doc docid="1" genre="lectures">
<url>http://x</url>
<keywords>a, b</keywords>
<speaker>S</speaker>
<talkid>1</talkid>
<title>T</title>
<description>TED Talk</description>
<translator href="x">N</translator>
 One &amp; two.
<3 is a heart
 <title> talks are fine inside
</doc>
""".replace(" <title> talks", "Those <title> talks")


def test_tagged_text_loses_only_lines_of_tags(tmp_path):
    path = tmp_path / "train.tags.fr-en.en"
    path.write_text(TAGS)
    assert list(read_tags(path)) == ["One & two.", "<3 is a heart", "Those <title> talks are fine inside"]


def test_tagged_sides_must_match(tmp_path):
    source, target = tmp_path / "train.tags.fr-en.fr", tmp_path / "train.tags.fr-en.en"
    source.write_text(TAGS.replace('<translator href="x">N</translator>\n', ""))
    target.write_text(TAGS)
    assert len(list(read_pairs([source], [target]))) == 3
    source.write_text(TAGS + "plus\n")
    with pytest.raises(InputError, match=r"fr-en\.fr has 4 sentences and .*fr-en\.en has 3"):
        list(read_pairs([source], [target]))


def test_a_pipe_on_both_sides_is_refused(tmp_path):
    there, here = os.pipe()
    os.write(here, b"<url>x</url>\nA line.\n")
    os.close(here)
    path = f"/dev/fd/{there}"
    with pytest.raises(InputError, match="is a pipe, and would have to be read twice: give a file"):
        list(read_pairs([path], [path]))
    os.close(there)


def test_mixed_kinds_and_odd_numbers_of_files_are_refused(tmp_path):
    path = xml(tmp_path / "a.xml", ("1", {1: "x"}))
    with pytest.raises(InputError, match="one is XML and the other is not"):
        list(read_pairs([path], [tmp_path / "train.tags.fr-en.en"]))
    with pytest.raises(InputError, match="1 source files and 2 target files"):
        list(read_pairs([path], [path, path]))


def test_the_campaigns_own_development_set(data_dir):
    name = data_dir / "mt" / "ted_fr_en" / "IWSLT13.TED.dev2010.fr-en"
    source, target = (name.with_name(f"{name.name}.{language}.xml") for language in ("fr", "en"))
    pairs = list(read_pairs([source], [target]))
    # Counted in the file itself, by the markup
    assert len(pairs) == len(re.findall("<seg id=", source.read_text(encoding="utf-8"))) == 887
    assert pairs[2] == (
        "Bien sûr, nous partageons tous les mêmes impératifs d'adaptation.",
        "And of course, we all share the same adaptive imperatives.",
    )
    assert all(side and "<" not in side for pair in pairs for side in pair)


def test_compressed_xml_is_xml(tmp_path):
    path = xml(tmp_path / "a.xml", ("1", {1: "x", 2: "y"}))
    packed = tmp_path / "a.XML.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(read_pairs([packed], [path])) == [("x", "x"), ("y", "y")]
