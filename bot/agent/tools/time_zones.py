"""Finds time zones by names of places.

Countries and zones come from the tables of the IANA database in the `tzdata` package (`iso3166.tab`, and `zone.tab`,
whose first zone of a country is its most populous); the names below are missing there.
"""

import re
import unicodedata
from dataclasses import dataclass
from datetime import timedelta, timezone, tzinfo
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo, available_timezones

from bot.errors import ToolRetry
from memory.model.normal_form import normalised

_SPREAD_OUT = {
    "AU": "Sydney, Adelaide or Perth",
    "BR": "São Paulo, Manaus or Rio Branco",
    "CA": "Toronto, Winnipeg or Vancouver",
    "CD": "Kinshasa or Lubumbashi",
    "ID": "Jakarta, Makassar or Jayapura",
    "MN": "Ulaanbaatar or Hovd",
    "MX": "Mexico City, Hermosillo or Tijuana",
    "RU": "Moscow, Novosibirsk or Vladivostok",
    "US": "New York, Chicago, Denver or Los Angeles",
}
"""Countries with several populous zones, with cities to suggest."""

_CITIES = {
    "Africa/Johannesburg": "Cape Town",
    "America/Chicago": "Austin, Dallas, Houston",
    "America/Los_Angeles": "LA, Las Vegas, Portland, San Diego, San Francisco, Seattle",
    "America/New_York": "Atlanta, Boston, Miami, NYC, Philadelphia, Washington, Washington DC",
    "America/Sao_Paulo": "Brasilia, Rio de Janeiro",
    "America/Toronto": "Montreal, Ottawa",
    "Asia/Dubai": "Abu Dhabi",
    "Asia/Ho_Chi_Minh": "Hanoi",
    "Asia/Jerusalem": "Tel Aviv",
    "Asia/Karachi": "Islamabad",
    "Asia/Kolkata": "Bangalore, Bengaluru, Chennai, Delhi, Hyderabad, Mumbai, New Delhi",
    "Asia/Shanghai": "Beijing, Shenzhen",
    "Asia/Tokyo": "Kyoto, Osaka",
    "Europe/Amsterdam": "Amsterdam",
    "Europe/Berlin": "Cologne, Frankfurt, Hamburg, Munich",
    "Europe/Lisbon": "Porto",
    "Europe/London": "Edinburgh, Manchester",
    "Europe/Madrid": "Barcelona",
    "Europe/Moscow": "Saint Petersburg",
    "Europe/Paris": "Lyon",
    "Europe/Rome": "Milan",
    "Europe/Zurich": "Basel, Bern, Geneva",
    "Pacific/Auckland": "Wellington",
}
"""Large cities that the tables lack, by zone."""
_COUNTRIES = {
    "AE": "UAE",
    "BA": "Bosnia",
    "CD": "Congo",
    "CI": "Ivory Coast",
    "CZ": "Czechia",
    "GB": "England, Great Britain, Scotland, UK, United Kingdom, Wales",
    "KP": "North Korea",
    "KR": "Korea, South Korea",
    "US": "America, United States of America, US, USA",
}
"""Other names of countries, by code."""
_OFFSET = re.compile(r"(?:utc|gmt)\s*(?P<sign>[+-])\s*(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?", re.IGNORECASE)
_FIRST_OFFSET, _LAST_OFFSET = timedelta(hours=-12), timedelta(hours=14)
_AND = re.compile(r"\band\b")
_BETWEEN = re.compile(r",|&|\band\b", re.IGNORECASE)
_LONGEST = 200
"""The most characters of a text: no place has a longer name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZonedPlace:
    """A place as people name it, and its zone."""

    label: str
    zone: tzinfo
    zone_name: str


def find_place(text: str) -> ZonedPlace:
    """The place that a text names. Blocking: reads the time zone files on the first call.

    Raises `ToolRetry`, with suggestions, if the place is unknown or has several time zones.
    """
    text = text.strip()
    if len(text) > _LONGEST:
        raise ToolRetry(f"I know no place whose name has {len(text)} characters. Name a city, a country or a zone.")
    offset = _OFFSET.fullmatch(text)
    if offset is not None:
        return _fixed(offset)
    known = _gazetteer()
    wanted = _folded(text)
    # "Tokyo, Japan": the first part that is known decides.
    for candidate in (wanted, *map(_folded, text.split(","))):
        if candidate in known.countries:
            return _of_country(known, known.countries[candidate])
        if candidate in known.zones:
            label, zone = known.zones[candidate]
            return ZonedPlace(label=label, zone=ZoneInfo(zone), zone_name=zone)
    close = get_close_matches(wanted, [*known.zones, *known.countries], n=3, cutoff=0.75)
    names = list(dict.fromkeys(known.label(name) for name in close))
    hint = f"Did you mean {' or '.join(names)}?" if names else "Name a large city, a country or a zone (Europe/Paris)."
    raise ToolRetry(f"I know no place named {' '.join(text.split())[:60]!r}. {hint}")


def find_places(text: str) -> list[ZonedPlace]:
    """The places that a text names: "Paris, Tokyo and Berlin" are three, "Bosnia and Herzegovina" is one.

    Blocks and raises as `find_place` does.
    """
    known, whole = _gazetteer(), _folded(text[: _LONGEST + 1])
    names = [each for each in _BETWEEN.split(text) if each.strip()] if _AND.search(whole) else []
    if len(text) > _LONGEST or len(names) < 2 or whole in known.countries or whole in known.zones:
        return [find_place(text)]
    return list({place.label: place for place in map(find_place, names)}.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gazetteer:
    zones: dict[str, tuple[str, str]]
    """Label and zone by folded name."""
    countries: dict[str, str]
    """Country code by folded name."""
    country_names: dict[str, str]
    country_zones: dict[str, list[str]]

    def label(self, folded: str) -> str:
        return self.zones[folded][0] if folded in self.zones else self.country_names[self.countries[folded]]


@cache
def _gazetteer() -> _Gazetteer:
    names = {code: _plain_country(name) for code, name in _table("iso3166.tab", 0, 1)}
    country_zones: dict[str, list[str]] = {}
    for code, zone in _table("zone.tab", 0, 2):
        country_zones.setdefault(code, []).append(zone)
    available = available_timezones()
    current = {zone for zones in country_zones.values() for zone in zones} & available
    zones: dict[str, tuple[str, str]] = {}
    # Later names win: old spellings, then whole zone names, then cities of current zones, then the names above.
    for zone in sorted(available - current):
        zones[_folded(zone.rpartition("/")[2])] = (_city(zone), zone)
    zones.update((_folded(zone), (_city(zone), zone)) for zone in sorted(available))
    zones.update((_folded(_city(zone)), (_city(zone), zone)) for zone in sorted(current))
    zones.update((_folded(city), (city, zone)) for zone, cities in _CITIES.items() for city in cities.split(", "))
    zones.update((name, ("UTC", "UTC")) for name in ("utc", "gmt", "z", "zulu"))
    countries = {_folded(name): code for code, name in names.items()}
    countries.update((_folded(name), code) for code, others in _COUNTRIES.items() for name in others.split(", "))
    cities = {_folded(_city(zone)) for zone in current}
    usable = {name: code for name, code in countries.items() if code in country_zones and name not in cities}
    return _Gazetteer(zones=zones, countries=usable, country_names=names, country_zones=country_zones)


def _table(name: str, *columns: int) -> list[tuple[str, ...]]:
    text = (files("tzdata.zoneinfo") / name).read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))
    return [tuple(row[column] for column in columns) for row in rows]


def _plain_country(name: str) -> str:
    """The usual name of a country: `Britain (UK)` is Britain, `Korea (South)` is South Korea."""
    match = re.fullmatch(r"(.+) \((North|South)\)", name)
    if match:
        return f"{match[2]} {match[1]}"
    return re.sub(r" \(UK\)$", "", name)


def _of_country(known: _Gazetteer, code: str) -> ZonedPlace:
    zones = known.country_zones[code]
    name = known.country_names[code]
    if code in _SPREAD_OUT:
        raise ToolRetry(f"{name} has several time zones. Name a city, for example {_SPREAD_OUT[code]}.")
    return ZonedPlace(label=name, zone=ZoneInfo(zones[0]), zone_name=zones[0])


def _city(zone: str) -> str:
    return zone.rpartition("/")[2].replace("_", " ")


def _fixed(match: re.Match[str]) -> ZonedPlace:
    minutes = int(match["minutes"] or 0)
    size = timedelta(hours=int(match["hours"]), minutes=minutes)
    offset = -size if match["sign"] == "-" else size
    if minutes > 59 or not _FIRST_OFFSET <= offset <= _LAST_OFFSET:
        raise ToolRetry(f"No place is {match[0]}: offsets go from UTC-12 to UTC+14.")
    label = match[0].replace(" ", "").upper()
    return ZonedPlace(label=label, zone=timezone(offset), zone_name=label)


def _folded(name: str) -> str:
    """A name for comparison: no case, accents or dots, `_` and `-` as spaces, no leading "in", "at" or "the"."""
    bare = "".join(c for c in normalised("NFKD", name.replace("&", " and ")) if not unicodedata.combining(c))
    words = re.sub(r"[\s_-]+", " ", bare.casefold().strip(" .?!\"'"))
    return re.sub(r"^(?:in |at )?(?:the )?", "", words.replace(".", ""))
