"""Reading CSV files as people's programs write them."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.cells import guard
from cadenza.posts.read_csv import LONGEST, MOST_ROWS, Sheet, Unreadable, read_csv
from cadenza.posts.read_row import RowRequest, read_row


def sheet(data: bytes | str, **mapping: str) -> Sheet:
    raw = data.encode() if isinstance(data, str) else data
    read = read_csv(raw, mapping=mapping or None)
    assert isinstance(read, Sheet), read
    return read


def refusal(data: bytes | str, **mapping: str) -> Unreadable:
    raw = data.encode() if isinstance(data, str) else data
    read = read_csv(raw, mapping=mapping or None)
    assert isinstance(read, Unreadable), read
    return read


def rows(data: bytes | str, **mapping: str) -> list[dict[str, str]]:
    return [dict(row.cells) for row in sheet(data, **mapping).rows]


@pytest.mark.parametrize(
    "data",
    [
        "text,when\nhello,queue\n",
        "text;when\nhello;queue\n",
        "text\twhen\r\nhello\tqueue\r\n",
        "\ufefftext,when\nhello,queue",
        "sep=;\ntext;when\nhello;queue\n",
        '"text","when"\n"hello","queue"\n',
        "Message, Scheduled_At\nhello,queue\n",
        "text,when\n\nhello,queue\n,\n",
    ],
)
def test_every_dialect_is_read_alike(data: str) -> None:
    assert rows(data) == [{"text": "hello", "when": "queue"}]


def test_quotes_newlines_and_parting_signs_stay_in_their_cell() -> None:
    assert rows('text;when\n"one; ""two""\r\nthree";queue\n') == [
        {"text": 'one; "two"\nthree', "when": "queue"}
    ]


def test_a_semicolon_in_a_quoted_header_does_not_mislead() -> None:
    read = sheet('"text;;;;","other"\nhello,x\n', text="text;;;;")
    assert read.delimiter == ","


def test_rows_are_counted_as_a_spreadsheet_counts() -> None:
    assert [row.number for row in sheet("text\none\n\ntwo\n").rows] == [2, 4]


def test_a_mapping_says_which_column_is_which() -> None:
    assert rows("Beitrag,Wann\nhallo,queue\n", text="Beitrag", when="Wann") == [
        {"text": "hallo", "when": "queue"}
    ]


def test_headers_that_mean_nothing_are_reported() -> None:
    assert sheet("text,Mood,when\nhello,blue,\n").unknown == ("Mood",)


def test_what_was_guarded_at_export_comes_back_as_it_was() -> None:
    assert rows("text\n'=1+1\n") == [{"text": "=1+1"}]


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "no header"),
        (b"\xff\xfet\x00e\x00x\x00t\x00", "UTF-8"),
        ("text\nGrüße\n".encode("latin-1"), "line 2"),
        (b'text\n"never closed\n', "broken"),
        (b"mood\nblue\n", "text"),
        (b"text,text\na,b\n", "two columns"),
        (b"text\n" + b"a\n" * (MOST_ROWS + 1), "more than"),
        (b"a" * (10 * 1024 * 1024 + 1), "MB"),
    ],
)
def test_a_file_that_cannot_be_read_says_why_and_what_to_do(data: bytes, word: str) -> None:
    refused = refusal(data)
    assert word in refused.wrong
    assert refused.todo


def test_a_mapping_to_nothing_guesses_what_was_meant() -> None:
    assert "Did you mean 'text'" in refusal("text\na\n", txt="text").wrong
    assert "Did you mean 'Beitrag'" in refusal("Beitrag\na\n", text="Beitrg").wrong


def test_a_broken_row_stops_no_other() -> None:
    read = sheet(f"text,when\na,queue,too many\nb\x00,\n{'x' * (LONGEST + 1)},\nfine,\n")

    assert [row.cells["text"] for row in read.rows] == ["fine"]
    assert [problem.row for problem in read.problems] == [2, 3, 4]


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    assert isinstance(read_csv(data), Sheet | Unreadable)


CELL = st.text(
    alphabet=st.characters(exclude_categories=("Cs",), exclude_characters="\x00\r"), max_size=30
)


@given(st.lists(CELL.map(str.strip).filter(bool), min_size=1, max_size=5), st.sampled_from(",;\t"))
def test_what_a_spreadsheet_writes_is_read_as_it_was(cells: list[str], delimiter: str) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(["text", "title"])
    for cell in cells:
        writer.writerow([guard(cell), "x"])

    assert [row["text"] for row in rows(out.getvalue())] == cells


def request(line: str, zone: str = "Europe/Berlin") -> RowRequest | tuple[object, ...]:
    header = "text,accounts,when,date,time,zone,link,hashtags,labels,media,key"
    return read_row(sheet(f"{header}\n{line}\n").rows[0], zone=zone)


@pytest.mark.parametrize(
    ("line", "instant"),
    [
        ("a,x,2026-05-04 09:00,,,,", "2026-05-04T09:00:00 Europe/Berlin"),
        ("a,x,2026-05-04T09:00,,,Asia/Tokyo,", "2026-05-04T09:00:00 Asia/Tokyo"),
        ("a,x,2026-05-04 9:00,,,,", "2026-05-04T09:00:00 Europe/Berlin"),
        ("a,x,2026-05-04T09:00Z,,,Asia/Tokyo,", "2026-05-04T09:00:00+00:00 None"),
        ("a,x,2026-05-04 09:00+02:00,,,,", "2026-05-04T09:00:00+02:00 None"),
        ("a,x,4.5.2026 09:00,,,,", "2026-05-04T09:00:00 Europe/Berlin"),
        ("a,x,,2026-05-04,9:30,,", "2026-05-04T09:30:00 Europe/Berlin"),
    ],
)
def test_a_time_is_read_in_its_zone(line: str, instant: str) -> None:
    read = request(line)
    assert isinstance(read, RowRequest)
    assert read.when is not None
    assert f"{read.when.time.isoformat()} {read.when.zone}" == instant


@pytest.mark.parametrize(
    ("line", "column"),
    [
        (",x,queue,,,,", "text"),
        ("a,x,now,,,,", "when"),
        ("a,x,tomorrow,,,,", "when"),
        ("a,x,2026-05-04,,,,", "when"),
        ("a,x,05/04/2026 09:00,,,,", "when"),
        ("a,x,,,09:00,,", "date"),
        ("a,x,2026-05-04 09:00,,,Berlin,", "zone"),
        ("a,,queue,,,,", "accounts"),
        ("a,,,,,,javascript:alert(1)", "link"),
        ("a,,,,,,no address", "link"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_by_column(line: str, column: str) -> None:
    read = request(line)
    assert isinstance(read, tuple)
    (problem,) = read
    assert getattr(problem, "column", None) == column
    assert getattr(problem, "todo", None)


def test_all_faults_of_a_row_are_said_at_once() -> None:
    read = request(",,now,,,,nowhere")
    assert isinstance(read, tuple)
    assert len(read) == 3


def test_lists_in_cells_are_parted_and_hashtags_lose_their_sign() -> None:
    read = request('"a","x, y;x|z",,,,,,"#one two, #one","l1;l2","m1|m2",k1')
    assert isinstance(read, RowRequest)
    assert read.accounts == ("x", "y", "z")
    assert read.hashtags == ("one", "two")
    assert (read.labels, read.media, read.key) == (("l1", "l2"), ("m1", "m2"), "key:k1")


def test_a_column_that_is_mapped_to_nothing_is_left_out_and_its_header_reported() -> None:
    sheet = read_csv(b"text,name\nhello,Ada\n", mapping={"title": ""})
    assert isinstance(sheet, Sheet)
    assert (sheet.columns, sheet.unknown) == ({"text": "text"}, ("name",))
    assert sheet.rows[0].cells == {"text": "hello"}
