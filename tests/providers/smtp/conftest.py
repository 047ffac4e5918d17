"""The certificate that the outbound client's tests make, for mail servers too."""

from __future__ import annotations

from tests.providers.http.conftest import certificate

__all__ = ["certificate"]
