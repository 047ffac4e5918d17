"""Signatures against the worked examples in Amazon's documentation of S3."""

from datetime import UTC, datetime, timedelta

from cadenza.core.secret import Secret
from cadenza.media.sign_s3 import EMPTY, Credentials, presign, sign

WHO = Credentials(
    "AKIAIOSFODNN7EXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), "us-east-1"
)
NOW = datetime(2013, 5, 24, tzinfo=UTC)
URL = "https://examplebucket.s3.amazonaws.com/test.txt"


def test_a_ranged_read_is_signed_as_in_the_documentation() -> None:
    signed = sign(
        "GET", URL, headers={"Range": "bytes=0-9"}, payload=EMPTY, credentials=WHO, now=NOW
    )

    assert signed["authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    )
    assert "host" not in signed


def test_an_address_is_presigned_as_in_the_documentation() -> None:
    url = presign(URL, credentials=WHO, now=NOW, lasts=timedelta(days=1))

    assert url == (
        f"{URL}?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524"
        "%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400"
        "&X-Amz-SignedHeaders=host"
        "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    )


def test_no_address_lives_longer_than_the_store_allows() -> None:
    url = presign(URL, credentials=WHO, now=NOW, lasts=timedelta(days=30))
    assert "X-Amz-Expires=604800&" in url


def test_a_usual_port_goes_without_saying_and_another_is_signed() -> None:
    def signature(url: str) -> str:
        return sign("GET", url, headers={}, payload=EMPTY, credentials=WHO, now=NOW)[
            "authorization"
        ]

    assert signature("https://s3.example:443/b/k") == signature("https://s3.example/b/k")
    assert signature("https://s3.example:9000/b/k") != signature("https://s3.example/b/k")
