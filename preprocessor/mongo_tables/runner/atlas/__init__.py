"""Atlas clusters that a run creates and always removes at its end.

Such a run costs money and works in a project with other people's resources. So the run computes the cost, and the user
allows it, before the first call to Atlas (``costs``). The run changes only resources with its own name and tag
(``target``).
"""
