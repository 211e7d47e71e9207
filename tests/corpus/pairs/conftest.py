"""Pages whose lines are pairs."""

from __future__ import annotations

from fairseq_xl.corpus.documents.document import Document


def documents(pages: list[list[tuple[str, str]]], topics: list[int]) -> list[Document]:
    return [
        Document(
            f"p{k}",
            (f"http://e/{k}", f"http://f/{k}"),
            "link",
            ([a for a, _ in page], [b for _, b in page]),
            None,
            [([n], [n]) for n in range(len(page))],
            1.0,
            topic,
        )
        for k, (page, topic) in enumerate(zip(pages, topics, strict=True))
    ]
