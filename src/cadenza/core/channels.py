"""The names of channels, and the one place where they are made equal.

People and older documents write `instagram`, `LinkedIn` or `twitter`; inside there is
one name each. An unknown name is refused with a guess, never taken as it is, because
a delivery is unique per channel and two spellings would send twice.
"""

from enum import StrEnum

from cadenza.core.suggest import did_you_mean


class Channel(StrEnum):
    """One way to publish with an account."""

    FACEBOOK_PAGE = "facebook_page"
    INSTAGRAM_FEED = "instagram_feed"
    INSTAGRAM_STORY = "instagram_story"
    THREADS = "threads"
    LINKEDIN_PROFILE = "linkedin_profile"
    LINKEDIN_ORGANIZATION = "linkedin_organization"
    X = "x"
    MASTODON = "mastodon"
    BLUESKY = "bluesky"
    TELEGRAM = "telegram"
    EMAIL = "email"
    LINKEDIN_MESSAGE = "linkedin_message"
    LINKEDIN_INVITATION = "linkedin_invitation"
    LINKEDIN_INMAIL = "linkedin_inmail"
    SLACK = "slack"
    DISCORD = "discord"
    WEBHOOK = "webhook"


class UnknownChannelError(ValueError):
    """No channel has that name."""


ALIASES = {
    "facebook": Channel.FACEBOOK_PAGE,
    "instagram": Channel.INSTAGRAM_FEED,
    "instagram_stories": Channel.INSTAGRAM_STORY,
    "linkedin": Channel.LINKEDIN_PROFILE,
    "linkedin_page": Channel.LINKEDIN_ORGANIZATION,
    "linkedin_company": Channel.LINKEDIN_ORGANIZATION,
    "linkedin_organisation": Channel.LINKEDIN_ORGANIZATION,
    "twitter": Channel.X,
    "e_mail": Channel.EMAIL,
}

_BY_NAME = {**{channel.value: channel for channel in Channel}, **ALIASES}


def normalise(name: str) -> Channel:
    """Return the channel that a name means, or raise UnknownChannelError with a guess."""
    channel = _BY_NAME.get(name.strip().casefold().replace("-", "_").replace(" ", "_"))
    if channel is None:
        raise UnknownChannelError(f"{name!r} is not a channel.{did_you_mean(name, _BY_NAME)}")
    return channel
