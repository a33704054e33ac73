"""Atlas clusters that a run creates, and removes at its end in any case.

Such a run costs money, and its project may have resources of others. So the run computes the cost, which the user must
allow, before the first request to Atlas (``costs``). The run changes only resources with its own name and tag
(``target``).
"""
