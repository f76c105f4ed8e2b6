"""`python -m tests.protocol`: generate the modules of `simulator.protocol` anew."""

from __future__ import annotations

from tests.protocol.generating import committed, generated


def main() -> None:
    """Write what the `.proto` files generate, and remove what they no longer do."""
    made = generated()
    for path in committed().keys() - made.keys():
        path.unlink()
    for path, text in made.items():
        path.write_text(text, "utf-8")


main()
