"""Atlas clusters that a run creates and removes at its end, however it ends.

Such a run costs money and works in a project with other people's resources. So the cost is computed and allowed
before the first call to Atlas (``costs``), and only resources with our name and our tag are touched (``target``).
"""
