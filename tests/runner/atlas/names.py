"""A name server for one name after another, on loopback: what a driver or a run asks before it knows hosts."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import dns.message
import dns.rcode
import dns.resolver
import dns.rrset


@contextmanager
def answering(knows: Callable[[str], bool]) -> Iterator[None]:
    """Have the default resolver of this process, and of those forked from it, ask a server that knows such names."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            content, place = self.request
            asked = dns.message.from_wire(content)
            answer = dns.message.make_response(asked)
            name = asked.question[0].name
            if knows(name.to_text(omit_final_dot=True)):
                answer.answer.append(dns.rrset.from_text(name, 60, "IN", "SRV", "0 0 27017 host.invalid."))
            else:
                answer.set_rcode(dns.rcode.NXDOMAIN)
            place.sendto(answer.to_wire(), self.client_address)

    before = dns.resolver.default_resolver
    with socketserver.ThreadingUDPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        resolver = dns.resolver.Resolver(configure=False)
        resolver.nameservers, resolver.port = ["127.0.0.1"], server.server_address[1]
        dns.resolver.default_resolver = resolver
        try:
            yield
        finally:
            dns.resolver.default_resolver = before
            server.shutdown()
