"""Spanish words that have a vector, the most frequent first."""

from __future__ import annotations

VOCABULARY = [
    "de",
    "el",
    "pedido",
    "recibido",
    "reembolso",
    "cupón",
    "llegó",
    "llego",
    "por",
    "favor",
    "email",
    "dirección",
    "cobro",
    "recibidos",
    "zz",
]
