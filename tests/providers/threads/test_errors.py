"""What a Threads container's error means, and that Instagram's names its subcode."""

from __future__ import annotations

import pytest

from cadenza.providers.instagram import errors as instagram
from cadenza.providers.outcome import Outcome, Rejected, Transient
from cadenza.providers.threads import errors
from tests.providers.contract import bare, drive
from tests.providers.threads.fixtures import threads


@pytest.mark.parametrize("name", sorted([*errors.PASSING, *errors.LASTING]))
async def test_a_containers_error_means_what_its_row_says(name: str) -> None:
    async with threads(files=("waves.mp4",)) as (scene, simulated):

        async def spoil(step: str) -> None:
            for container in simulated.containers.values():
                container.error = name

        scene.before = spoil
        ended = await drive(scene)
        expected = Rejected("", name) if name in errors.LASTING else Transient("", restart=True)
        assert bare(ended.outcome) == bare(expected)
        assert scene.visible() == []


def test_an_unheard_of_error_is_tried_again_and_not_repeated_in_words() -> None:
    outcome = errors.blame("SOMETHING odd")
    assert isinstance(outcome, Transient)
    assert "odd" not in outcome.message


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("Error: Media upload has failed with error code 2207026", Rejected("", "400/2207026")),
        ("Error: Media upload has failed with error code 2207077", Transient("", restart=True)),
        ("Error: Media upload has failed with error code 2207999", Transient("", restart=True)),
        ("Error: something else", Transient("", restart=True)),
    ],
)
def test_an_instagram_container_names_its_subcode(status: str, expected: Outcome) -> None:
    assert bare(instagram.blame(status)) == bare(expected)
