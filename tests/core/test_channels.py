import pytest

from cadenza.core.channels import ALIASES, Channel, UnknownChannelError, normalise


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("instagram", Channel.INSTAGRAM_FEED),
        ("LinkedIn", Channel.LINKEDIN_PROFILE),
        ("facebook", Channel.FACEBOOK_PAGE),
        (" Instagram-Story ", Channel.INSTAGRAM_STORY),
        ("twitter", Channel.X),
        ("linkedin organization", Channel.LINKEDIN_ORGANIZATION),
        ("E-Mail", Channel.EMAIL),
    ],
)
def test_what_people_write_becomes_one_name(written: str, meant: Channel) -> None:
    assert normalise(written) is meant


def test_a_normalised_name_stays_as_it_is() -> None:
    assert [normalise(channel) for channel in Channel] == list(Channel)
    assert len(Channel) == 17


def test_no_alias_hides_a_channel() -> None:
    assert not set(ALIASES) & {channel.value for channel in Channel}


def test_an_unknown_channel_is_refused_with_a_guess() -> None:
    with pytest.raises(UnknownChannelError, match="Did you mean 'mastodon'"):
        normalise("mastadon")
    with pytest.raises(UnknownChannelError, match="'' is not a channel"):
        normalise("")
