"""Clusters on Atlas, made for a run and removed at its end, whichever way it ends.

What a run does there costs money and stands beside what belongs to others. So nothing is asked of Atlas before what
it may cost is known and allowed (``costs``), every action is written down before it is done (``journal``), only what
has our name and our tag is touched (``names``), and what a killed run left is removed by another (``sweep``).
"""
