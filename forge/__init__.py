"""A stranger who wants to deceive `parsifal.proof.checker`, and a judge who knows the truth."""

from forge.session import run

__all__ = ["run"]
