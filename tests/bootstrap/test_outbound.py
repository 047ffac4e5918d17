"""Whom the settings vouch for: the hosts that they name, in any spelling, and nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from cadenza.bootstrap.describe import warn
from cadenza.bootstrap.outbound import policy_of
from cadenza.config.load import BadSettings, load
from cadenza.config.model import Settings
from cadenza.providers.http.judge import judge
from cadenza.providers.http.parse_target import BadAddress, parse_target
from cadenza.providers.http.policy import Policy

INSIDE = "10.0.0.5"


def read(folder: Path, toml: str) -> Settings:
    file = folder / "cadenza.toml"
    file.write_text(toml, encoding="utf-8")
    return load(file, environ={})


def of(folder: Path, toml: str) -> Policy:
    return policy_of(read(folder, toml))


def reaches(policy: Policy, url: str) -> bool:
    """Say whether an address whose host stands in a private network may be called."""
    try:
        target = parse_target(url, policy)
    except BadAddress:
        return False
    return policy.against(judge(INSIDE), target.host, target.port) is None


@pytest.mark.parametrize(
    ("use", "toml", "url", "other"),
    [
        (None, 'outbound.allow = ["social.lan"]', "https://SOCIAL.lan./x", "https://other.lan/"),
        (None, 'outbound.allow = ["social.lan"]', "http://social.lan/", "http://social.lan:9000/"),
        (
            None,
            'outbound.allow = ["social.lan:9000"]',
            "http://social.lan:9000/",
            "http://social.lan/",
        ),
        (None, 'outbound.allow = ["bücher.lan"]', "https://bücher.lan/", "https://bucher.lan/"),
        (None, 'outbound.allow = ["bücher.lan"]', "https://xn--bcher-kva.lan/", "https://b.lan/"),
        (
            "media",
            'media.endpoint = "HTTPS://Bücher.lan:9000/x"',
            "https://bücher.lan:9000",
            "https://a.lan",
        ),
        (
            "providers.mastodon",
            'providers.mastodon.base_url = "http://a.lan"',
            "http://a.lan/",
            "http://b.lan/",
        ),
        (
            "providers.mastodon",
            'providers.mastodon.options.host = "http://a.lan"',
            "http://a.lan/",
            "https://a.lan/",
        ),
        (
            "media",
            'media.endpoint = "http://minio.lan:9000"',
            "http://minio.lan:9000/b",
            "http://minio.lan",
        ),
        (
            "mail",
            'mail.host = "post.lan"\nmail.port = 8443',
            "https://post.lan:8443",
            "https://post.lan",
        ),
    ],
)
def test_the_owner_vouches_for_what_the_settings_name(
    tmp_path: Path, use: str | None, toml: str, url: str, other: str
) -> None:
    policy = of(tmp_path, toml)
    assert reaches(policy.for_use(use), url)
    assert not reaches(policy.for_use(use), other)
    for else_ in (None, "media", "mail", "providers.mastodon", "providers.webhook"):
        expected = use in (None, else_)  # what people type is vouched for by `outbound.allow` alone
        assert reaches(policy.for_use(else_), url) is expected, else_
    assert not reaches(policy_of(load(None, environ={}, here=tmp_path / "none")), url)


@pytest.mark.parametrize(
    ("toml", "key"),
    [
        ('outbound.allow = ["*.lan"]', "outbound.allow"),
        ('outbound.allow = ["10.0.0.0/8"]', "outbound.allow"),
        ('outbound.allow = ["https://a.lan"]', "outbound.allow"),
        ('outbound.allow = ["a.lan:99999"]', "outbound.allow"),
        ('outbound.allow = ["127.1"]', "outbound.allow"),
        ('providers.mastodon.base_url = "http://a.lan:99999"', "providers.mastodon.base_url"),
        ('providers.mastodon.options.host = "http://[a"', "providers.mastodon.options.host"),
        ('media.endpoint = "http://minio.lan:port"', "media.endpoint"),
        ('mail.host = "post lan"', "mail.host"),
        ('outbound.ca_file = "missing.pem"', "outbound.ca_file: missing.pem"),
    ],
)
def test_a_setting_that_names_nobody_is_told_by_its_key(
    tmp_path: Path, toml: str, key: str
) -> None:
    with pytest.raises(BadSettings, match=key):
        of(tmp_path, toml)
    assert [each for each in warn(read(tmp_path, toml)) if each.startswith(key)]


def test_a_file_of_certificates_must_hold_some(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("nothing\n")
    with pytest.raises(BadSettings, match=r"empty\.pem holds no certificates"):
        of(tmp_path, f'outbound.ca_file = "{tmp_path}/empty.pem"')
