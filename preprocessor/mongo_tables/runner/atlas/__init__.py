"""Atlas clusters that a run creates, and removes at its end in any case.

Such a run costs money. So it computes the cost before the first request to Atlas, and the user must allow this cost
(``costs``). The project may contain other people's resources. So the run changes only resources with its own name and
tag (``target``).
"""
