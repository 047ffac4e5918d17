"""An expression is read as meant, or refused with words that help."""

from datetime import UTC, datetime, timedelta

import pytest

from cadenza.core.cron import CronError, Dialect, parse
from cadenza.core.cron_parse import Special
from cadenza.core.zones import get_zone

REFUSED = [
    # expression, then what the message must name: field, value, range, suggestion
    ("", "expression", "0 fields", "5 to 6", '"0 9 * * *"'),
    ("* * * *", "expression", "4 fields", "5 to 6", "'* * * * *'"),
    ("0 0 9 * * * 2026", "expression", "7 fields", "5 to 6", "year"),
    ("60 * * * *", "minute", '"60"', "0-59", "is 0"),
    ("60 * * * * *", "second", '"60"', "0-59", "is 0"),
    ("* 24 * * *", "hour", '"24"', "0-23", "midnight is hour 0"),
    ("* * 0 * *", "day of month", '"0"', "1-31", "starts at 1"),
    ("* * 32 * *", "day of month", '"32"', "1-31", "highest value is 31"),
    ("* * * 13 *", "month", '"13"', "1-12 or jan-dec", "highest value is 12"),
    ("* * * january *", "month", '"january"', "jan-dec", 'did you mean "jan"?'),
    ("* * * * 8", "day of week", '"8"', "0-7 or sun-sat", "highest value is 7"),
    ("* * * * mon,tues", "day of week", '"tues"', "sun-sat", 'did you mean "tue"?'),
    ("* * * * mno", "day of week", '"mno"', "sun-sat", 'did you mean "mon"?'),
    ("*/0 * * * *", "minute", '"*/0"', "0-59", "write */5"),
    ("*/x * * * *", "minute", '"*/x"', "0-59", "write */5"),
    ("1/2/3 * * * *", "minute", '"1/2/3"', "0-59", "write */5"),
    ("*/90 * * * *", "minute", '"*/90"', "0-59", "interval schedule"),
    ("* 22-2 * * *", "hour", '"22-2"', "0-23", "write 22-23,0-2"),
    ("* * * * fri-mon", "day of week", '"fri-mon"', "sun-sat", "write 5-7,0-1"),
    ("? * * * *", "minute", '"?"', "0-59", "write * instead"),
    ("1,,2 * * * *", "minute", '"1,,2"', "0-59", "extra comma"),
    ("1- * * * *", "minute", '"1-"', "0-59", "a range such as 0-59"),
    ("-5 * * * *", "minute", '"-5"', "0-59", "a range such as 0-59"),
    ("1.5 * * * *", "minute", '"1.5"', "0-59", "a number"),
    ("٣ * * * *", "minute", '"٣"', "0-59", "a number"),
    ("* L * * *", "hour", '"L"', "0-23", "day field"),
    ("* * 15W * *", "day of month", '"15W"', "1-31", '"LW"'),
    ("* * * * L", "day of week", '"L"', "0-7", "last Friday"),
    ("* * * * mon#6", "day of week", '"mon#6"', "1-5", "second Monday"),
    ("* * * * *#2", "day of week", '"*#2"', "0-7", "a number"),
    ("0 0 30 2 *", "day of month", '"30"', "29 days", '"L"'),
    ("0 0 31 4,6,9,11 *", "day of month", '"31"', "30 days", '"L"'),
    ("1," * 600 + "1 * * * *", "expression", "1,1,1", "1209 characters", "within 1000"),
    ("@dayly", "macro", '"@dayly"', "@hourly", 'did you mean "@daily"?'),
    ("@reboot", "macro", '"@reboot"', "@hourly", "when the program starts"),
    ("@every 5m", "macro", '"@every 5m"', "@hourly", "five fields"),
]


@pytest.mark.parametrize(("expression", "field", "value", "allowed", "suggestion"), REFUSED)
def test_a_refusal_names_field_value_range_and_a_way_out(
    expression: str, field: str, value: str, allowed: str, suggestion: str
) -> None:
    with pytest.raises(CronError) as caught:
        parse(expression)

    message = str(caught.value)
    assert message.startswith(field)
    assert value in message
    assert allowed in message
    assert suggestion in message
    assert caught.value.field == field
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("*/15 * * * *", "0 0,15,30,45 * * * *"),
        ("5/20 * * * *", "5,25,45 * * * *"),
        ("10-20/5 * * * *", "10,15,20 * * * *"),
        ("0 0 * JAN-Mar SUN", "0 0 * 1,2,3 7"),
        ("0 0 * * 0", "0 0 * * 7"),
        ("0 0 * * 5-7", "0 0 * * FRI-SUN"),
        ("0 0 ? * mon", "0 0 * * 1"),
        ("@weekly", "0 0 * * 0"),
        ("@ANNUALLY", "@yearly"),
        ("@midnight", "@daily"),
        ("  0   9 * *\t* ", "0 9 * * *"),
    ],
)
def test_two_ways_to_write_the_same_are_the_same(one: str, other: str) -> None:
    assert parse(one).fields == parse(other).fields


def test_day_words_are_kept_apart_from_numbers() -> None:
    fields = parse("0 0 15,L,lw * mon#2,5L,wed").fields

    assert fields.days == (15,)
    assert fields.special_days == {Special.LAST_DAY, Special.LAST_WORKDAY}
    assert fields.nth_weekdays == ((1, 2),)
    assert fields.last_weekdays == (5,)
    assert fields.weekdays == (3,)


def test_a_day_beyond_the_month_is_fine_where_a_weekday_can_match() -> None:
    assert parse("0 0 30 2 mon").fields.days == (30,)


def test_the_node_dialect_fills_missing_fields_from_the_left() -> None:
    assert parse("5", "mongodb-cron").fields.weekdays == (5,)
    assert parse("5", Dialect.MONGODB_CRON).fields.seconds == (0,)


@pytest.mark.parametrize("text", ["@annually", "@midnight", "@Hourly", "0 0 LW * *", "0 0 l * *"])
def test_the_node_dialect_refuses_what_its_package_refuses(text: str) -> None:
    with pytest.raises(CronError):
        parse(text, Dialect.MONGODB_CRON)


def test_parsing_the_same_text_again_costs_nothing() -> None:
    assert parse("7 7 * * *") is parse("7 7 * * *")


@pytest.mark.parametrize(
    ("expression", "english"),
    [
        ("*/5 * * * *", "every 5 minutes"),
        ("*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49, 56"),
        ("* * * * * *", "every second"),
        ("@hourly", "at minute 0 of every hour"),
        ("* 9 * * *", "every minute of hour 9"),
        ("0,30 9-17 * * mon-fri", "every 30 minutes of hours 9-17 on Mon-Fri"),
        ("0 9 * * mon-fri", "at 09:00 on Mon-Fri"),
        ("15 10,22 1 jan ?", "at 10:15 and 22:15 on day 1 in Jan"),
        ("30 2 13 * fri", "at 02:30 on day 13 or on Fri"),
        ("0 0 L * *", "at 00:00 on the last day of the month"),
        ("0 0 LW 1-3 *", "at 00:00 on the last working day of the month in Jan-Mar"),
        ("0 12 * * mon#2", "at 12:00 on the second Mon"),
        ("5 0 0 * * 5L", "at 00:00:05 on the last Fri"),
        ("0 9 1-31 * mon", "at 09:00"),
        ("* */3 * * *", "every minute of every 3rd hour"),
        ("*/5 0,12 * * *", "every 5 minutes of every 12th hour"),
        ("0,30 */5 * * * *", "every 30 seconds of every 5th minute"),
        ("* 5 9-17 * * *", "every second of minute 5 of hours 9-17"),
    ],
)
def test_an_expression_can_be_read_aloud(expression: str, english: str) -> None:
    assert parse(expression).describe() == english


def test_what_is_read_aloud_of_a_weekday_is_true() -> None:
    every_date, mondays = parse("0 9 1-31 * mon"), parse("0 9 * * mon")
    start = datetime(2026, 1, 1, tzinfo=UTC)
    runs = every_date.occurrences(start, get_zone("UTC"), until=start + timedelta(days=7))
    assert len(list(runs)) == 7
    assert every_date.describe() != mondays.describe()
    node = parse("0 0 9 1-31 * mon", Dialect.MONGODB_CRON)
    assert node.describe() == "at 09:00 on Mon", "there a list of all dates counts as open"
