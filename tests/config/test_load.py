"""Settings come from a file and the environment; a slip in a name is refused, a secret never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from cadenza.config.load import BadSettings, load
from cadenza.config.model import Settings

PROVIDERS = ("mastodon", "x", "telegram_person")


def read(text: str, folder: Path, **environ: str) -> Settings:
    (folder / "cadenza.toml").write_text(text)
    return load(environ=environ, here=folder, providers=PROVIDERS)


def problems(text: str, folder: Path, **environ: str) -> str:
    with pytest.raises(BadSettings) as refused:
        read(text, folder, **environ)
    return "\n".join(refused.value.problems)


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    settings = load(environ={}, here=tmp_path)
    assert settings == Settings()
    assert settings.database_address == "sqlite:///cadenza-data/cadenza.sqlite3"
    assert settings.keys == Path("cadenza-data/keys")
    assert settings.home == "http://127.0.0.1:8400"


def test_the_environment_wins_over_the_file_and_both_are_named(tmp_path: Path) -> None:
    settings = read(
        '[mail]\nhost = "a.example"\nport = 25',
        tmp_path,
        CADENZA_MAIL_HOST="b.example",
        CADENZA_OUTBOUND_ALLOW="one.lan, two.lan:8080",
    )
    assert (settings.mail.host, settings.mail.port) == ("b.example", 25)
    assert settings.outbound.allow == ("one.lan", "two.lan:8080")
    assert settings.origins["mail.host"] == "environment CADENZA_MAIL_HOST"
    assert settings.origins["mail.port"] == str(tmp_path / "cadenza.toml")


def test_a_network_is_set_by_its_name(tmp_path: Path) -> None:
    settings = read(
        '[providers.x]\nclient_id = "abc"\n[providers.x.options]\nversion = "2"',
        tmp_path,
        CADENZA_PROVIDERS_X_CLIENT_SECRET="s3cret",
        CADENZA_PROVIDERS_X_OPTIONS_SIGN_IN_URL="http://here",
        CADENZA_PROVIDERS_TELEGRAM_PERSON_CLIENT_ID="7",
    )
    x = settings.providers["x"]
    assert x.client_id == "abc"
    assert x.client_secret is not None
    assert x.client_secret.reveal() == "s3cret"
    assert x.options == {"version": "2", "sign_in_url": "http://here"}
    assert settings.providers["telegram_person"].client_id == "7"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('datta = "x"', "there is no setting 'datta'. Did you mean 'data'?"),
        ("[mail]\nhots = 'x'", "there is no setting 'mail.hots'. Did you mean 'mail.host'?"),
        ("[providers.mastodn]\nbase_url = 'x'", "Did you mean 'mastodon'?"),
        ("[providers.x]\nclientid = 'x'", "Did you mean 'providers.x.client_id'?"),
        ("[listen]\nport = 'many'", "listen.port must be a whole number"),
        ("[worker]\nlease = 0", "worker.lease must be a number of seconds above 0"),
        ("log = 'jsn'", "log must be one of auto, console, json. Did you mean 'json'?"),
        ("security_contact = 'ask me'", "security_contact must be an address with mailto:"),
        ('security_contact = "https://a.example\\nX: y"', "security_contact must be an address"),
        ("this is no toml", "is no TOML"),
    ],
)
def test_what_cannot_be_is_refused_by_name(text: str, message: str, tmp_path: Path) -> None:
    assert message in problems(text, tmp_path)


def test_a_slip_in_a_variable_is_refused_and_a_clusters_own_is_not(tmp_path: Path) -> None:
    assert "Did you mean 'CADENZA_MAIL_HOST'?" in problems("", tmp_path, CADENZA_MAIL_HOTS="x")
    settings = read("", tmp_path, CADENZA_PORT_8400_TCP="tcp://10.0.0.1:8400")
    assert settings.unread == ("CADENZA_PORT_8400_TCP",)


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    said = problems('datta = "x"\n[listen]\nport = "y"', tmp_path, CADENZA_MAIL_HOTS="x")
    assert len(said.splitlines()) == 3


def test_a_secret_is_never_shown(tmp_path: Path) -> None:
    settings = read('[mail]\npassword = "canary-password"', tmp_path)
    assert "canary-password" not in repr(settings)
    assert "canary" not in problems("[mail]\npassword = 'canary'\nport = 'canary'", tmp_path)


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="there is no settings file"):
        load(tmp_path / "other.toml", environ={})
