"""The one comment of a pull request, made at the first push that changes a number, and edited in place after that."""

from __future__ import annotations

from typing import Literal

from mongo_tables.commands.review.api import Api

Posted = Literal["created", "edited", "unchanged", "not needed"]


def post(api: Api, number: int, body: str, author: str, *, anything: bool) -> Posted:
    """Bring the comment to ``body``; its first line is the marker by which it is found again.

    Only a comment of ``author`` is edited, whoever else has written that marker. Without ``anything`` to tell, none is
    made. Raises ApiError.
    """
    marker = body.partition("\n")[0]
    comments = api.list_comments(number)
    own = next((one for one in comments if one.author == author and one.body.startswith(marker)), None)
    if own is None:
        if anything:
            api.create(number, body)
        return "created" if anything else "not needed"
    if own.body.replace("\r\n", "\n").strip() == body.strip():
        return "unchanged"
    api.edit(own.number, body)
    return "edited"
