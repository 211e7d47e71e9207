"""Recipes with stand-ins for the commands they call: which runs when, without the work."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Writes down how it was called and makes the files that the real command would make. KILL_AT names
# a call at which it takes its recipe with it, as a power cut would; FAIL_AT one that fails; STOPS_AFTER is the
# number of epochs after which training ends early.
STAND_IN = r"""#!/usr/bin/env bash
set -eu
call="${0##*/} $*"
printf '%s\n' "$call" >>"$CALLS"
if [[ -n ${KILL_AT:-} && $call == *"$KILL_AT"* ]]; then kill -9 "$PPID"; exit 1; fi
if [[ -n ${FAIL_AT:-} && $call == *"$FAIL_AT"* ]]; then echo "error: it broke here"; exit 3; fi
after() { # OPTION: the word that follows it
  local words=("${@:2}") i
  for i in "${!words[@]}"; do
    if [[ ${words[i]} == "$1" ]]; then echo "${words[i + 1]}"; fi
  done
}
make() { # as a new file: a run may hold a link to the one before
  [[ -d ${1%/*} ]] || mkdir -p "${1%/*}"
  cat >"$1.new"
  mv "$1.new" "$1"
}
case $call in
  'fairseq-xl data fetch '*) # as the real one, which keeps a file that is there
    [[ -e $(after --output "$@") ]] || echo "$3" | make "$(after --output "$@")"
    ;;
  'fairseq-xl data synthetic '*) ;;
  'fairseq-xl data clean '*) make "$6" <"$3"; make "$7" <"$4" ;;
  'fairseq-xl data campaign '*)
    out=$(after --output "$@")
    echo text | make "$out"
    echo text | make "${@: -1}"
    ;;
  'fairseq-xl data split '*)
    for set in train valid test; do
      for language in "${@:5:2}"; do
        if [[ -f $3 ]]; then sha256sum "$3"; else echo "$3"; fi | make "$(after --output "$@")/$set.$language"
      done
    done
    ;;
  'fairseq-xl data tokenize '* | 'fairseq-xl data truecase '* | 'fairseq-xl data postprocess '* | \
    'fairseq-xl data hypotheses '* | 'fairseq-xl data encode-subwords '* | 'fairseq-xl data decode-subwords '*)
    make "$(after --output "$@")" <"$3"
    ;;
  'fairseq-xl data train-subwords '*) echo "$call" | make "$(after --output "$@")" ;;
  'fairseq-xl data train-truecaser '*) echo model | make "$(after --output "$@")" ;;
  'fairseq-xl vectors train '*)
    for kind in bin vec; do echo "$call" | make "$(after --output "$@").$kind"; done
    ;;
  'fairseq-xl vectors align '*) echo "$call" | make "$(after --output "$@")" ;;
  'fairseq-xl vectors join '*) echo "$call" | make "$(after --output "$@")" ;;
  'fairseq-xl corpus init '*) echo '{}' | make "$(after --project "$@")/corpus.yaml" ;;
  'fairseq-xl corpus run '*)
    [[ $call != *' --first topics '* ]] || for split in train test; do
      echo "$call" | make "$(after --project "$@")/export/$split.tsv"
    done
    ;;
  'fairseq-xl corpus paraphrases '*)
    for split in train test; do echo "$call" | make "$(after --output "$@")/$split.tsv"; done
    ;;
  'fairseq-xl vectors convert '*) cat "$3" - <<<"$call" | make "$(after --output "$@")" ;;
  'fairseq-xl translate pack '*) echo '{}' | make "$(after --output "$@")/translator.json" ;;
  'fairseq-xl translate word-recall '*) echo '{}' | make "$(after --output "$@")" ;;
  'fairseq-xl translate tune '*) echo 'lenpen=1.25 decode_score=cosine' | make "$(after --choice "$@")" ;;
  'fairseq-xl translate diagnose '*) echo '{}' | make "$(after --output "$@")" ;;
  'fairseq-xl data known-words '*) make "$(after --output "$@")" <"$3" ;;
  'fairseq-xl data lexicon '*) cat "$3" "$4" | make "$(after --output "$@")" ;;
  'fairseq-xl experiment record '*) echo '{}' | make "$3/record.json" ;;
  'fairseq-xl classify prepare '*) echo "$call" | make "$(after --output "$@")/manifest.json" ;;
  'fairseq-xl classify statistics '*) echo table ;;
  'fairseq-xl translate text '*) make "$(after --output "$@")" <"$(after --input "$@")" ;;
  'fairseq-xl match prepare --output '*) echo "$call" | make "$4/manifest.json" ;;
  'fairseq-xl match statistics '*) echo table ;;
  'fairseq-xl match repair-words '*)
    for file in "${@:3}"; do
      [[ $file == *cikm_*,* ]] || continue
      make "$(after --output "$@")/$(basename "${file%%,*}")" <"${file%%,*}"
    done
    ;;
  'fairseq-xl match best '*) echo "${@: -1}" ;;
  'fairseq-xl match '*) echo '{}' | make "$(after --output "$@")" ;;
  'fairseq-xl classify '*) echo '{}' | make "$(after --output "$@")" ;;
  fairseq-preprocess*)
    folder=$(after --destdir "$@")
    [[ ! -e $folder ]] || exit 1 # as the real one, which refuses to overwrite dictionaries
    for language in "$(after --source-lang "$@")" "$(after --target-lang "$@")"; do
      echo word | make "$folder/dict.$language.txt"
    done
    ;;
  'fairseq-xl embed prepare '*)
    # A corpus is a list of what was read, none of which goes away or may change.
    corpus=$(after --corpus "$@") option=''
    mkdir -p "${corpus%/*}"
    for word in "$@"; do
      case $option,$word in
        *,--*) option=$word ;;
        --pairs,* | --opensubtitles,* | --monolingual,*)
          line="$word $(cat "${word#*=}"* | sha256sum)"
          known=$(grep -sF -- "$word " "$corpus" || true)
          [[ -n $known ]] || echo "$line" >>"$corpus"
          [[ ${known:-$line} == "$line" ]] || { echo "error: $word has changed since $corpus was made" >&2; exit 2; }
          ;;
      esac
    done
    [[ $call != *' --tagger '* ]] || grep -qx tagged "$corpus" || echo tagged >>"$corpus"
    if [[ -z $(after --until "$@") ]]; then
      echo '{}' | make "$(after --output "$@")/manifest.json"
      make "$(after --output "$@")/train" <"$corpus"
    fi
    ;;
  'fairseq-xl embed pieces '*) make "$(after --output "$@")" <"$3" ;;
  'fairseq-xl embed source-pieces '* | 'fairseq-xl embed tables '*)
    echo text | make "$(after --output "$@")"
    ;;
  'fairseq-xl embed train-tagger '*) echo '{}' | make "$(after --output "$@")/tagger.json" ;;
  'fairseq-xl embed build-eval '*)
    if [[ $3 != *.conllu ]]; then grep -qx tagged "$3"; fi
    languages=$(sed -n 's/.* --languages \([^-]*\) --.*/\1/p' <<<"$call")
    for language in ${languages:-$(grep -o '^..-..' "$3" | tr - '\n')}; do
      make "$(after --output "$@")/$language.tsv" <"$3"
    done
    ;;
  'fairseq-xl embed evaluate '*) echo '{}' | make "$(after --output "$@").json" ;;
  'fairseq-xl embed map '*) echo picture | make "$(after --output "$@").png" ;;
  'fairseq-xl embed statistics '*) ;;
  'fairseq-xl embed random '* | 'fairseq-xl embed pack '*)
    echo '{}' | make "$(after --output "$@")/model.safetensors"
    ;;
  fairseq-train*)
    if [[ $call == *' translation '* && $call != *--no-epoch-checkpoints* ]]; then
      for number in $(seq "${STOPS_AFTER:-$(after --max-epoch "$@")}"); do
        echo model | make "$(after --save-dir "$@")/checkpoint$number.pt"
      done
    fi
    echo model | make "$(after --save-dir "$@")/checkpoint_best.pt"
    # Where a measure chooses, the last one is no recipe's result.
    [[ $call == *--best-checkpoint-metric* ]] || echo model | make "$(after --save-dir "$@")/checkpoint_last.pt"
    ;;
  fairseq-generate*) echo 'H-0 1 text' ;;
  sacrebleu*) echo '[]' ;;
  *) echo "no stand-in for $call" >&2; exit 9 ;;
esac
"""


class Recipe:
    """Runs a recipe in a folder of its own and lists the commands that it called."""

    def __init__(self, name: str, folder: Path) -> None:
        self.script = ROOT / "recipes" / name
        self.out = folder / "out"
        self.calls_file = folder / "calls"
        self.bin = folder / "bin"
        self.bin.mkdir()
        for command in (*("fairseq-xl", "fairseq-preprocess", "fairseq-train", "fairseq-generate"), "sacrebleu"):
            path = self.bin / command
            path.write_text(STAND_IN)
            path.chmod(0o755)

    def __call__(self, *options: object, **env: str) -> subprocess.CompletedProcess[str]:
        """Run it with ``--out``; afterwards ``calls`` holds what this run alone called."""
        self.calls_file.write_text("")
        path = os.pathsep.join([str(self.bin), os.environ["PATH"]])
        settings = {"PATH": path, "CALLS": str(self.calls_file), "FAIRSEQ_XL_VENV": str(self.out.with_name("no-venv"))}
        return subprocess.run(
            ["bash", str(self.script), "--out", str(self.out), *map(str, options)],
            env={**os.environ, **settings, **env},
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )

    @property
    def calls(self) -> list[str]:
        """The commands called, each by its words before the first path."""
        lines = self.calls_file.read_text().splitlines()
        return [" ".join(word for word in line.split()[:3] if "/" not in word) for line in lines]

    def arguments(self, command: str) -> list[str]:
        """The words of the first call of a command."""
        lines = self.calls_file.read_text().splitlines()
        return next(line for line in lines if line.startswith(command)).split()


@pytest.fixture
def recipe(tmp_path: Path) -> Callable[[str], Recipe]:
    """``recipe("multi30k.sh")`` gives the recipe with stand-ins for all that it calls."""
    return lambda name: Recipe(name, tmp_path)


@pytest.fixture
def begins_anew() -> Callable[..., None]:
    """Checks that a killed training goes on from its checkpoints, and one of other settings from none."""

    def check(recipe: Recipe, checkpoints: str, options: Sequence[object], others: Sequence[object]) -> None:
        folder = recipe.out / checkpoints
        before = folder.with_name(f"{folder.name}.before.1")
        assert recipe(*options, KILL_AT="fairseq-train").returncode != 0
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "checkpoint_last.pt").write_text("half")
        done = recipe(*options)
        assert done.returncode == 0, done.stderr
        assert (folder / "checkpoint_last.pt").read_text() == "half"
        assert not before.exists()
        done = recipe(*options, *others)
        assert done.returncode == 0, done.stderr
        assert not (folder / "checkpoint_last.pt").exists()
        assert (before / "checkpoint_last.pt").read_text() == "half"
        assert f"the earlier checkpoints are now in {before}" in done.stderr
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "checkpoint_last.pt").write_text("other")
        done = recipe(*options)
        assert done.returncode == 0, done.stderr
        assert (folder / "checkpoint_last.pt").read_text() == "half", "back to the first settings, and theirs"
        assert (folder.with_name(f"{folder.name}.before.2") / "checkpoint_last.pt").read_text() == "other"

    return check
