"""What stands on PATH for the commands of a page: makes them small, has them done, notes how they ended.

The file that DOCS_SETTINGS names has what to add to which commands (``smaller``), the folder of the real commands
(``commands``) and PATH for the others (``others``); notes are added to the file ``notes``. With DOCS_ONLY_READ
nothing is done: a recipe prints its commands, of other scripts the syntax is checked, and other commands are noted.
"""

import json
import os


def main(words: list[str]) -> int:
    with open(os.environ["DOCS_SETTINGS"], encoding="utf-8") as stream:
        settings = json.load(stream)
    given, only_read = words, "DOCS_ONLY_READ" in os.environ
    if not only_read:
        names = {os.path.basename(word) for word in given}
        for number, (which, added) in enumerate(settings["smaller"]):
            first, *others = which.split()
            if first == words[0] and all(word in given or word in names for word in others):
                words = [*words, *added.split()]
                note(settings, smaller=number)
        status = do(settings, words)
    elif words[0] == "bash":
        no_dry_run = words[1] in settings["no_dry_run"]
        status = do(settings, ["bash", "-n", words[1]] if no_dry_run else [*words, "--dry-run"])
    else:
        status = 0
        note(settings, words=given, status=0)
    if status:
        note(settings, words=given, status=status)
    return status


def do(settings: dict, words: list[str]) -> int:
    places = (os.path.join(folder, words[0]) for folder in [settings["commands"], *settings["others"].split(":")])
    real = next(place for place in places if os.access(place, os.X_OK))
    return os.spawnv(os.P_WAIT, real, words)


def note(settings: dict, **what: object) -> None:
    with open(settings["notes"], "a", encoding="utf-8") as stream:
        stream.write(json.dumps(what) + "\n")
