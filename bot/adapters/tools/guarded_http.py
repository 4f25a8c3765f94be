"""Fetches URLs that people or pages name, without access to this machine's network.

Host names are resolved and checked here, for each redirect, and the connection goes to the checked address, so that a
name that changes its address gains nothing (DNS rebinding). Proxies of the environment are not used.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

import httpcore2

from bot.errors import ToolFailed, ToolRetry

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_MOST_REDIRECTS = 5
_LONGEST_URL = 2_000
_REDIRECTS = (301, 302, 303, 307, 308)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_UNICAST6 = ipaddress.ip_network("2000::/3")
"""The public addresses of IPv6."""
_LOOK_PUBLIC = tuple(map(ipaddress.ip_network, ("168.63.129.16", "192.0.0.0/24", "3fff::/20")))
"""Networks that some versions of Python call global: the metadata service of Azure, and reserved ones."""
_CLOUD_SERVICES = tuple(
    map(
        ipaddress.ip_network,
        (
            "168.63.129.16",  # Azure
            "100.100.100.200",  # Alibaba
            "192.0.0.192",  # Oracle
            "fd00:c1::a9fe:a9fe",  # Oracle
            "fd00:ec2::/32",  # Amazon
            "fd20:ce::254",  # Google
            "fd00:42::42",  # Scaleway
        ),
    )
)
"""The metadata services of clouds whose addresses are not link-local."""
_UNQUOTED = "/:?#[]@!$&'()*+,;=%~"
"""Characters of a URL that are not percent-encoded, besides letters and digits."""
_HEADERS = {
    "User-Agent": "Goodbot",
    "Accept": "text/*, application/json, application/pdf",
    "Accept-Encoding": "identity",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The response of a URL."""

    url: str
    """The URL after redirects."""
    media_type: str
    charset: str
    content: bytes

    @property
    def text(self) -> str:
        """The decoded content."""
        try:
            return self.content.decode(self.charset or "utf-8", errors="replace")
        except LookupError:
            return self.content.decode("utf-8", errors="replace")


def is_no_cloud_service(address: str) -> bool:
    """Whether an IP address is not one of the clouds' metadata services, which tell a machine its secrets."""
    ip = _unwrapped(address)
    return ip is not None and not ip.is_link_local and not _is_in(ip, _CLOUD_SERVICES)


def is_public(address: str) -> bool:
    """Whether an IP address is public, also one that is wrapped in another form."""
    ip = _unwrapped(address)
    if ip is None or (ip.version == 6 and ip not in _UNICAST6):
        return False
    return ip.is_global and not ip.is_multicast and not _is_in(ip, _LOOK_PUBLIC)


def _is_in(ip: _Address, networks: Iterable[_Network]) -> bool:
    return any(ip in network for network in networks)


def _unwrapped(address: str) -> _Address | None:
    """The IP address, or the IPv4 address that an IPv6 form contains; None if it is none."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(ip, ipaddress.IPv4Address):
        return ip
    inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo and ip.teredo[1])
    return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else inner or ip


class _GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Connects only to checked addresses."""

    def __init__(self, *, allows_private: bool) -> None:
        self._allows_private = allows_private
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface's
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Resolve the host, check all its addresses, and connect to the first. Raises `ToolFailed`."""
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except UnicodeError as error:  # a part of it is empty or too long
            raise ToolFailed(f"{host[:100]} is not the name of a host on the internet.") from error
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        is_admitted = is_no_cloud_service if self._allows_private else is_public
        if not addresses or not all(map(is_admitted, addresses)):
            raise ToolFailed(f"{host[:100]} is not an address of the public internet, so it is not read.")
        return await self._network.connect_tcp(addresses[0], port, timeout, local_address, socket_options)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface's
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Raise `ToolFailed`: sockets are not allowed."""
        raise ToolFailed("Sockets of this machine are not read.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetcher:
    """Fetches URLs within limits."""

    max_bytes: int = 2_000_000
    timeout_s: float = 15.0
    allows_private: bool = False
    """Whether to allow private addresses: for URLs of administrators, never for those of people."""

    async def fetch(self, url: str) -> Fetched:
        """Fetch a URL, with redirects. Raises `ToolRetry` (invalid URL) and `ToolFailed`."""
        backend = _GuardedBackend(allows_private=self.allows_private)
        try:
            async with asyncio.timeout(self.timeout_s), httpcore2.AsyncConnectionPool(network_backend=backend) as pool:
                for _ in range(_MOST_REDIRECTS + 1):
                    fetched = await self._step(pool, url)
                    if isinstance(fetched, Fetched):
                        return fetched
                    url = fetched
        except TimeoutError as error:
            raise ToolFailed(f"It took longer than {self.timeout_s:g} seconds to read that address.") from error
        except (OSError, httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException) as error:
            raise ToolFailed(f"That address cannot be read: {type(error).__name__}.") from error
        raise ToolFailed("That address redirects without end.")

    async def _step(self, pool: httpcore2.AsyncConnectionPool, url: str) -> Fetched | str:
        """The response, or the URL of a redirect."""
        checked = _checked(url)
        async with pool.stream("GET", checked, headers=list(_HEADERS.items())) as response:
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            if response.status in _REDIRECTS and headers.get("location"):
                return _joined(url, headers["location"])
            if response.status != 200:
                raise ToolFailed(f"That address answers with the status {response.status}.")
            if headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
                raise ToolFailed("That address sends compressed content, which it was asked not to.")
            content = bytearray()
            async for chunk in response.aiter_stream():
                content += chunk
                if len(content) > self.max_bytes:
                    raise ToolFailed(f"There are more than {self.max_bytes:,} bytes at that address.")
        media_type, _, parameters = headers.get("content-type", "").partition(";")
        charset = parameters.partition("charset=")[2].split(";")[0].strip(" \"'")
        return Fetched(url=url, media_type=media_type.strip().lower(), charset=charset, content=bytes(content))


def _checked(url: str) -> str:
    """The encoded URL. Raises `ToolRetry` if it is invalid."""
    try:
        parts = urlsplit(url)
        is_fit = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ToolRetry("That is no address of a page.") from None
    if not is_fit or parts.username is not None or len(url) > _LONGEST_URL or not url.isprintable() or " " in url:
        raise ToolRetry("That is no address of a page: it begins with http:// or https:// and holds no password.")
    try:
        netloc = parts.netloc if parts.netloc.isascii() else _ascii_netloc(parts.hostname or "", parts.port)
    except UnicodeError:
        raise ToolRetry("That is no address of a page: its host name is not valid.") from None
    path, query = (quote(each, safe=_UNQUOTED, errors="replace") for each in (parts.path, parts.query))
    return parts._replace(netloc=netloc, path=path, query=query, fragment="").geturl()


def _ascii_netloc(host: str, port: int | None) -> str:
    named = host.encode("idna").decode()
    return named if port is None else f"{named}:{port}"


def _joined(url: str, location: str) -> str:
    """The URL of a redirect. Servers send non-ASCII characters as UTF-8. Raises `ToolFailed`."""
    try:
        return urljoin(url, location.encode("latin-1").decode(errors="replace"))
    except ValueError as error:
        raise ToolFailed("That address redirects to something that is no address.") from error
