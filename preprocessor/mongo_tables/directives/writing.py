"""JSON as it is written into a comment."""


def keep_in_comment(text: str) -> str:
    """JSON with escapes for what would end the comment that it stands in, or begin another."""
    # In JSON, < and > stand in strings only, where their escapes mean the same.
    return text.replace("<", "\\u003c").replace(">", "\\u003e") if "--" in text else text
