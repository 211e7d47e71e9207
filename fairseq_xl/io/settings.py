"""Settings as dataclasses: one object for a command's options, a section of a YAML file and a function's arguments.

The metadata of a field, as :func:`option` takes them, say what the option is for and which values it may have. Wherever
an object's values came from, :func:`check` compares it with them. :func:`read_yaml` reads such files.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairseq_xl.io.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

GREATEST = 2**63 - 1
"""The greatest whole number that arrays hold; Python's own have no end."""
GREATEST_SEED = 2**32 - 1
"""The greatest that every generator takes, NumPy's old one included; none takes a negative one."""
MOST_BYTES = 1 << 17
"""Of a YAML file."""
MOST_VALUES = 20_000
"""Of a YAML file, an alias (``*name``) counted as what it stands for: a few lines of aliases are billions."""
_PLAIN = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "map", "seq", "merge")}
_VARIABLE = re.compile(r"\$\{oc\.env:([A-Za-z_][A-Za-z0-9_]*)\}")
# YAML 1.1 takes 1e-3 for a word.
_FLOAT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$")


def option(
    text: str,
    default: Any = MISSING,
    *,
    alias: str | None = None,
    choices: Collection[str] | None = None,
    low: float | None = None,
    high: float | None = None,
    metavar: str | tuple[str, ...] | None = None,
    exclusive: str | None = None,
    shown: str | None = None,
    positional: bool = False,
    writes: bool = False,
) -> Any:
    """A field of a settings dataclass.

    Args:
        text: its help: what it is, and when to change it.
        default: without one the option is required. A list is copied for each object.
        alias: a short form for the command line, such as ``-o``.
        choices: the values that it may have.
        low: the least number that it may be; refuses what is not finite, too.
        high: the greatest number that it may be; refuses what is not finite, too.
        metavar: what stands for its value in the help.
        exclusive: name of a group of which one option at most is given. It is exactly one where the group's options
            have no default but None and its name ends in ``!``.
        shown: the default in words, where its value says little.
        positional: the command line gives it by its place.
        writes: the file is written, as that of an option ``output`` always is.
    """
    metadata = {
        "help": text,
        "argparse_alias": alias,  # fairseq's own name for it
        "choices": choices,
        "low": low,
        "high": high,
        "metavar": metavar,
        "exclusive": exclusive,
        "shown": shown,
        "positional": positional,
        "writes": writes,
    }
    metadata = {name: value for name, value in metadata.items() if value is not None and value is not False}
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def argument(text: str, default: Any = MISSING, **metadata: Any) -> Any:
    """An :func:`option` that the command line gives by its place."""
    return option(text, default, positional=True, **metadata)


def device_option(text: str = "such as cpu or cuda:1", shown: str = "a GPU where there is one") -> Any:
    """The :func:`option` ``device`` of commands that run a model: None, or a name that torch knows."""
    return option(text, None, shown=shown)


def user_dir_option() -> Any:
    """The :func:`option` ``user_dir`` of commands that load a model. ``cli/main.py`` imports what it names."""
    return option(
        "folder of a Python package of your own that registers the model, as for fairseq-train. Its code runs",
        None,
        metavar="DIR",
    )


def check(settings: DataclassInstance, prefix: str = "--") -> None:
    """Hold an object's values against what its fields' metadata say of them.

    Args:
        settings: the object.
        prefix: what stands before an option's name in a sentence: ``--`` on the command line, ``align.`` in a file.

    Raises:
        InputError: a value that is none of the choices, is out of bounds, or is no finite number; a file to write
            that is named twice.
    """
    for each in fields(settings):
        value = getattr(settings, each.name)
        name = each.name.replace("_", "-") if prefix == "--" else each.name
        if each.metadata.get("positional"):
            prefix_of_this, name = "", each.name.upper()
        else:
            prefix_of_this = prefix
        if (
            each.name == "output"
            and isinstance(value, (list, tuple))
            and len({os.path.realpath(path) for path in value}) < len(value)
        ):
            raise InputError(f"{prefix_of_this}{name} names {value[0]} twice: give each side a file of its own")
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is not None:
                _check_item(item, each.metadata, prefix_of_this + name)


_KINDS = {
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    str: "text",
    Path: "a path",
    dict: "a mapping",
}


def check_kind(name: str, value: Any, kind: type) -> None:
    """A whole number may stand for a float, and text for a path. True and false are no numbers.

    Raises:
        InputError: the value is of another kind.
    """
    fits = {float: (int, float), Path: (str, Path)}.get(kind, kind)
    if not isinstance(value, fits) or isinstance(value, bool) != (kind is bool):
        raise InputError(f"{name} is {value!r}: give {_KINDS[kind]}")


def refuse_given(settings: DataclassInstance, names: Sequence[str], reason: str) -> None:
    """Check that options without effect here keep their defaults.

    Args:
        settings: the options.
        names: of fields.
        reason: why they have none, after the option's name and before what to do.

    Raises:
        InputError: one has another value than its default.
    """
    defaults = {
        each.name: each.default if each.default_factory is MISSING else each.default_factory()
        for each in fields(settings)
    }
    for name in names:
        if getattr(settings, name) != defaults[name]:
            raise InputError(f"--{name.replace('_', '-')} {reason}: leave it out")


def refuse_unread(settings: DataclassInstance, chosen: str, readers: Mapping[str, Sequence[str]]) -> None:
    """:func:`refuse_given` for options that only some baselines read.

    Args:
        settings: the options.
        chosen: the baseline that will run.
        readers: names of fields, and the baselines that read them.

    Raises:
        InputError: an option would have no effect.
    """
    for name, baselines in readers.items():
        if chosen not in baselines:
            refuse_given(settings, [name], f"is for {' and '.join(baselines)}, and the baseline is {chosen}")


def name_and_value(word: str, option: str, form: str = "NAME=VALUE") -> tuple[str, str]:
    """The two sides of one word of an option. Raises: InputError: one is missing."""
    name, equals, value = word.partition("=")
    if not (name and equals and value):
        raise InputError(f"{option} {word!r}: write {form}")
    return name, value


def names_and_values(words: Sequence[str], option: str, form: str = "NAME=VALUE") -> dict[str, str]:
    """:func:`name_and_value` of each word. Raises: InputError: also where two words have the same name."""
    found: dict[str, str] = {}
    for word in words:
        name, value = name_and_value(word, option, form)
        if name in found:
            raise InputError(f"{option} gives {name} twice, {found[name]!r} and {value!r}: give it once")
        found[name] = value
    return found


def _check_item(item: Any, metadata: Any, name: str) -> None:
    choices = metadata.get("choices")
    if choices is not None and item not in choices:
        raise InputError(f"{name} is one of {', '.join(map(str, choices))}, not {item!r}")
    if isinstance(item, str) and not item.isascii() and item != item.encode("utf-8", "replace").decode("utf-8"):
        raise InputError(f"{name} is {item!r}, whose bytes are no UTF-8: give it in UTF-8")
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        return
    low, high = metadata.get("low"), metadata.get("high")
    if isinstance(item, float) and not math.isfinite(item):
        raise InputError(f"{name} is {item}: give a finite number")
    if (low is not None and item < low) or (high is not None and item > high):
        ends = [("from", low), ("to", high)]
        bounds = " ".join(
            f"{word} {end if isinstance(end, int) else f'{end:g}'}" for word, end in ends if end is not None
        )
        raise InputError(f"{name} is {item}: give a number {bounds}")
    if isinstance(item, int) and abs(item) > GREATEST:
        raise InputError(f"{name} is {item}: give a number from {-GREATEST} to {GREATEST}")


def read_yaml(path: Path) -> Any:
    """What a YAML file says: mappings, lists, text, numbers, true, false and null.

    ``${oc.env:NAME}`` stands for an environment variable.

    Raises:
        InputError: the file is no YAML or too large. Also for other tags, a key twice, a value that holds itself, a
            number of over 64 bits, or a variable that is not set.
        OSError: a file that is not there or cannot be read.
    """
    import yaml

    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise InputError(f"{path} cannot be read: it has more than {MOST_BYTES} bytes")
    try:
        loader = _loader()(content)
        node = loader.get_single_node()
        if node is None:
            return None
        _check_node(node, {}, path)
        return loader.construct_document(node)
    except RecursionError:
        raise InputError(f"{path} cannot be read: it is nested too deeply") from None
    except InputError:
        raise
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {' '.join(str(error).split())}") from None


def _check_node(node: Any, sizes: dict[int, int], path: Path) -> int:
    """How many values a node stands for; puts in the environment's variables."""
    if id(node) in sizes:
        if sizes[id(node)] == 0:
            raise InputError(f"{path} cannot be read: an alias stands for a value that holds it")
        return sizes[id(node)]
    sizes[id(node)] = 0
    if node.tag not in _PLAIN:
        raise InputError(f"{path} cannot be read: {node.tag} is neither text nor a number, a list or a mapping")
    if isinstance(node.value, str):
        parts = []
        if "${" in node.value:
            if "${" in _VARIABLE.sub("", node.value):
                raise InputError(f"{path} cannot be read: {node.value[:100]!r} asks for more than ${{oc.env:NAME}}")
            node.value = _VARIABLE.sub(lambda found: _variable(found[1], path), node.value)
    else:
        parts = [part for item in node.value for part in (item if isinstance(item, tuple) else (item,))]
    size = 1 + sum(_check_node(part, sizes, path) for part in parts)
    if size > MOST_VALUES:
        raise InputError(f"{path} cannot be read: it has more than {MOST_VALUES} values, aliases counted in full")
    sizes[id(node)] = size
    return size


def _variable(name: str, path: Path) -> str:
    if name not in os.environ:
        raise InputError(f"{path} cannot be read: the environment variable {name} is not set")
    return os.environ[name]


def _loader() -> Any:
    """PyYAML's safe loader, which takes dates for text, ``1e-3`` for a number and no key twice."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = Counter(key.value for key, _ in node.value if isinstance(key.value, str) and key.value != "<<")
            if keys and (most := keys.most_common(1)[0])[1] > 1:
                raise yaml.constructor.ConstructorError(problem=f"the key {most[0]!r} is there twice")
            return super().construct_mapping(node, deep)

        def construct_yaml_int(self, node: Any) -> int:
            value = int(super().construct_yaml_int(node))
            if value.bit_length() > 63:
                raise yaml.constructor.ConstructorError(problem="a whole number has more than 64 bits")
            return value

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in known if not tag.endswith(":timestamp")]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_yaml_int)
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+.0123456789"))
    return Loader
