from cadenza.core.suggest import closest, did_you_mean


def test_a_slip_of_the_finger_finds_the_word_that_was_meant() -> None:
    assert closest("inter", ["interval", "limit", "lease"]) == "interval"


def test_case_spaces_and_dashes_do_not_count() -> None:
    assert closest("america/new york", ["America/New_York", "America/Nome"]) == "America/New_York"


def test_nothing_near_gives_no_guess() -> None:
    assert closest("zebra", ["limit", "lease"]) is None
    assert closest("zebra", []) is None
    assert not did_you_mean("zebra", ["limit"])


def test_the_guess_reads_as_the_end_of_an_error() -> None:
    assert did_you_mean("leese", ["limit", "lease"]) == " Did you mean 'lease'?"
