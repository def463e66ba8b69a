"""What inputs have in common: their text is made of plain characters, whatever is pasted into them."""

from tui_crawler.text.safe_text import without_unseen


def plain_text(text: str) -> str:
    """`text` without controls and whatever else is not seen; line ends become `\\n`, tabs a space."""
    return "\n".join(without_unseen(line.replace("\t", " ")) for line in text.splitlines())


class TakesText:
    """What has keys of its own for all that can be typed."""
