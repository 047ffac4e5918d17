"""The conformance suite itself: that none of its claims is lost on the way to a store."""

from collections import Counter

from cadenza.engine.testing.conformance import Conformance


def test_no_two_parts_of_the_suite_share_the_name_of_a_claim() -> None:
    names = Counter(
        name for part in Conformance.__mro__ for name in vars(part) if name.startswith("test_")
    )
    assert [name for name, count in names.items() if count > 1] == []
