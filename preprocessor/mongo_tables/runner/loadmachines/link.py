"""What goes on between who measures and one load machine: messages at short intervals, from start to end.

They say in both directions what there is to say, tell how far the machine's clock is ahead, and are its sign of life: a
machine that has lost its network closes no connection.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from mongo_tables.runner.loadmachines.clocks import Clock, Reading
from mongo_tables.runner.loadmachines.messages import (
    OPERATION,
    Dismiss,
    Done,
    End,
    Failed,
    Go,
    Greeting,
    Ready,
    Sent,
    Told,
    Work,
    pack,
    unpack,
)

PAUSE_SECONDS = 0.2
"""Between two messages."""
LOST_SECONDS = 1.2
"""After so long without an answer to one a machine at work is lost."""
IDLE_LOST_SECONDS = 10.0
"""The same of a machine that has no window to spoil: it may be busy with its start."""


class Link:
    """One machine. ``talk`` runs in the event loop of Dask's client; the rest is asked from elsewhere."""

    def __init__(self, client: Any, address: str, name: str) -> None:
        """``client`` is Dask's; the machine has a task that answers, or will have."""
        self.name = name
        self.address = address
        self.clock = Clock()
        self.greeting: Greeting | None = None
        self.lost = ""
        """Why nothing is to be expected of it any more."""
        self.slots: tuple[int, ...] = ()
        self.last: Told | None = None
        self.exchanges = 0
        self.at_work = False
        self.ahead = 0
        """By how many nanoseconds the clock of the machine is taken to be ahead, in this window."""
        self.bound = 0
        """How wrong that may be."""
        self._client = client
        self._orders: deque[Work | Go | Dismiss | End] = deque()
        self._said: deque[Ready | Failed | Done] = deque()
        self._edges: Sequence[int] | None = None
        self._woken = asyncio.Event()
        self._pings = 0
        self._ended = False

    def tell(self, order: Work | Go | Dismiss | End, edges: Sequence[int] | None = None) -> None:
        """Send an order at once, and the edges of the window with it."""
        self._edges = edges
        self._orders.append(order)
        self._wake()

    def show(self, edges: Sequence[int]) -> None:
        """Send the edges of the window, which have changed."""
        self._edges = edges
        self._wake()

    def ping(self, times: int) -> None:
        """Exchange so many messages one behind the other."""
        self._pings = times
        self._wake()

    @property
    def has_pinged(self) -> bool:
        """Whether all of them are exchanged."""
        return not self._pings

    def heard(self) -> Ready | Failed | Done | None:
        """What the machine said next."""
        return self._said.popleft() if self._said else None

    def forget(self) -> None:
        """What was said of other work is of no interest any more."""
        self._said.clear()
        self.last = None

    def end(self) -> None:
        """Have the task end."""
        self._ended = True
        self.tell(End())

    def _wake(self) -> None:
        self._client.loop.add_callback(self._woken.set)

    async def talk(self) -> None:
        """Exchange messages until the end, or the machine does not answer."""
        while not self.lost and not (self._ended and not self._orders):
            self._woken.clear()
            try:
                patience = LOST_SECONDS if self.at_work else IDLE_LOST_SECONDS
                await asyncio.wait_for(self._exchange(), patience)
            except TimeoutError:
                self.lost = f"it has not answered for {patience:g} s"
            except Exception as error:
                self.lost = type(error).__name__
            if self._pings:
                self._pings -= 1
            elif not self._orders:
                await self._pause()

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._woken.wait(), PAUSE_SECONDS)
        except TimeoutError:
            return

    async def _exchange(self) -> None:
        orders = [self._orders.popleft() for _ in range(len(self._orders))]
        edges, self._edges = self._edges, None
        packed = pack(Sent(orders, edges))
        sent = time.monotonic_ns()
        answer = await getattr(self._client.rpc(self.address), OPERATION)(message=packed)
        answered = time.monotonic_ns()
        told: Told = unpack(answer)
        self.clock.add(Reading(sent, answered, told.clock))
        for one in told.said:
            if isinstance(one, Greeting):
                self.greeting = one
            else:
                self._said.append(one)
        self.last = told
        self.exchanges += 1

    @property
    def hardware(self) -> Mapping[str, Any]:
        """What the machine is."""
        return self.greeting.hardware if self.greeting else {}
