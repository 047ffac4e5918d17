"""Countries by code or name, and the zone that most of their people live in.

Read from the tz database's own tables (`iso3166.tab`, `zone.tab`). Those list zones from east to west or by
people, so for wide countries the zone is named here. Limit: a guess, for whoever does not say better.
"""

from functools import cache
from importlib import resources

# Where the table's first zone is not where most people live.
_MAIN = {
    "AQ": "Antarctica/McMurdo",
    "AR": "America/Argentina/Buenos_Aires",
    "AU": "Australia/Sydney",
    "BR": "America/Sao_Paulo",
    "CA": "America/Toronto",
    "CD": "Africa/Kinshasa",
    "CL": "America/Santiago",
    "CN": "Asia/Shanghai",
    "EC": "America/Guayaquil",
    "ES": "Europe/Madrid",
    "GL": "America/Nuuk",
    "ID": "Asia/Jakarta",
    "KZ": "Asia/Almaty",
    "MN": "Asia/Ulaanbaatar",
    "MX": "America/Mexico_City",
    "MY": "Asia/Kuala_Lumpur",
    "NZ": "Pacific/Auckland",
    "PF": "Pacific/Tahiti",
    "PG": "Pacific/Port_Moresby",
    "PT": "Europe/Lisbon",
    "RU": "Europe/Moscow",
    "UA": "Europe/Kyiv",
    "US": "America/New_York",
    "UZ": "Asia/Tashkent",
}
_OTHER_NAMES = {
    "america": "US",
    "britain": "GB",
    "czech republic": "CZ",
    "czechia": "CZ",
    "deutschland": "DE",
    "england": "GB",
    "espana": "ES",
    "great britain": "GB",
    "holland": "NL",
    "italia": "IT",
    "oesterreich": "AT",
    "schweiz": "CH",
    "scotland": "GB",
    "south korea": "KR",
    "suisse": "CH",
    "the netherlands": "NL",
    "turkey": "TR",
    "turkiye": "TR",
    "uae": "AE",
    "uk": "GB",
    "united kingdom": "GB",
    "united states of america": "US",
    "usa": "US",
    "wales": "GB",
    "osterreich": "AT",
    "\u00f6sterreich": "AT",
    "espa\u00f1a": "ES",
    "t\u00fcrkiye": "TR",
}


def find_country(text: str) -> str | None:
    """Return the two-letter code of a country by its code or English name."""
    plain = " ".join(text.strip().casefold().replace(".", "").split())
    return _names().get(plain)


def main_zone(country: str) -> str | None:
    """Return the zone that most people of a country live in."""
    return _MAIN.get(country) or _zones().get(country)


@cache
def _names() -> dict[str, str]:
    names = dict(_OTHER_NAMES)
    for code, name in _table("iso3166.tab"):
        names[code.casefold()] = code
        plain = name.casefold().replace(".", "")
        names[plain] = code
        names.setdefault(plain.partition(" (")[0], code)
        names.setdefault(plain.replace("&", "and"), code)
    return names


@cache
def _zones() -> dict[str, str]:
    zones: dict[str, str] = {}
    for code, _, zone, *_ in _table("zone.tab"):
        zones.setdefault(code, zone)
    return zones


def _table(name: str) -> list[list[str]]:
    text = (resources.files("tzdata") / "zoneinfo" / name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
