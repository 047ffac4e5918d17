"""LinkedIn's uploads: a place is asked for, bytes are put there, then it takes a while.

Places end after an hour. A picture's place wants the token, a video's piece must not need it; pieces get
marks (some in quotes) that are given back in order. What a file is, its bytes say.
"""

from datetime import timedelta
from typing import Any

from cadenza.demo.networks.linkedin_model import PIECE, UPLOAD_LIFE, UploadedAsset, refuse
from cadenza.demo.networks.linkedin_people import People
from cadenza.demo.simulator.network import route
from cadenza.demo.simulator.sniff import sniff
from cadenza.demo.simulator.wire import Answer, Received, say

_TYPES = {
    "image": ("image/jpeg", "image/png", "image/gif"),
    "video": ("video/mp4",),
    "document": ("application/pdf",),
}
_PIXELS = 36_152_320


class Uploads(People):
    """The part of LinkedIn that takes files."""

    def __init__(self) -> None:
        super().__init__()
        self.assets: dict[str, UploadedAsset] = {}
        self.piece = PIECE
        self.processing = timedelta()

    @route("POST", "/rest/images")
    async def images(self, call: Received) -> Answer:
        return self._begin(call, "image")

    @route("POST", "/rest/documents")
    async def documents(self, call: Received) -> Answer:
        return self._begin(call, "document")

    @route("POST", "/rest/videos")
    async def videos(self, call: Received) -> Answer:
        if call.query.get("action") == "finalizeUpload":
            return self._close(call)
        return self._begin(call, "video")

    def _begin(self, call: Received, kind: str) -> Answer:
        token, refusal = self.enter(call, "")
        if token is None:
            return refusal
        wanted = call.json().get("initializeUploadRequest")
        fields = {"owner"}
        if kind == "video":
            fields |= {"fileSizeBytes", "uploadCaptions", "uploadThumbnail"}
        if call.query.get("action") != "initializeUpload" or not isinstance(wanted, dict):
            return refuse(400, "MISSING_FIELD", "initializeUploadRequest is missing")
        if set(wanted) != fields:
            odd = ", ".join(sorted(set(wanted) ^ fields))
            return refuse(400, "INVALID_VALUE_FOR_FIELD", f"Fields that are wrong here: {odd}")
        if not self.may_speak_for(token, wanted["owner"]):
            return refuse(403, "ACCESS_DENIED", "The owner may not be spoken for", 100)
        asset = self._asset(kind, wanted)
        self.assets[asset.urn] = asset
        ends = int(asset.urls_end.timestamp() * 1000)
        if kind != "video":
            place = {"uploadUrlExpiresAt": ends, "uploadUrl": self._place(asset, 0)}
            return say(200, {"value": {**place, kind: asset.urn}})
        size, piece = asset.size or 0, self.piece
        steps = [
            {
                "uploadUrl": self._place(asset, number),
                "firstByte": number * piece,
                "lastByte": min(size, (number + 1) * piece) - 1,
            }
            for number in range(len(asset.pieces))
        ]
        value = {"video": asset.urn, "uploadToken": asset.token, "uploadUrlsExpireAt": ends}
        return say(200, {"value": {**value, "uploadInstructions": steps}})

    def _asset(self, kind: str, wanted: dict[str, Any]) -> UploadedAsset:
        ids, size = self.shared.ids, wanted.get("fileSizeBytes")
        count = -(-size // self.piece) if kind == "video" and size else 1
        return UploadedAsset(
            urn=f"urn:li:{kind}:{ids.letters(24)}",
            kind=kind,
            owner=wanted["owner"],
            urls_end=self.now + UPLOAD_LIFE,
            pieces=[None] * count,
            secret=ids.letters(40),
            token=ids.letters(20) if kind == "video" else "",
            size=size,
        )

    def _place(self, asset: UploadedAsset, number: int) -> str:
        name = asset.urn.rpartition(":")[2]
        return f"{self.url('www')}/dms-uploads/{asset.kind}/{name}/{number}/{asset.secret}"

    @route("PUT", "/dms-uploads/{kind}/{name}/{number}/{secret}")
    async def put(self, call: Received) -> Answer:
        asset = self.assets.get(f"urn:li:{call.args['kind']}:{call.args['name']}")
        number = int(call.args["number"])
        if asset is None or call.args["secret"] != asset.secret or call.endpoint != "www":
            return self.not_found(call)
        if asset.urls_end <= self.now:
            return refuse(400, "EXPIRED_UPLOAD_URL", "The upload URL has expired")
        if asset.kind != "video":
            token, refusal = self.enter(call, "", versioned=False)
            if token is None:
                return refusal
            self._take(asset, call.body)
            return Answer(201)
        if call.mime != "application/octet-stream":
            return refuse(400, "INVALID_VALUE_FOR_FIELD", "application/octet-stream is needed")
        asset.pieces[number] = call.body
        mark = f"/ambry-video/signedId/{asset.urn[-8:]}-{number}"
        asset.marks = [*asset.marks, mark] if mark not in asset.marks else asset.marks
        return Answer(200, headers=(("etag", f'"{mark}"' if number % 2 else mark),))

    def _close(self, call: Received) -> Answer:
        token, refusal = self.enter(call, "")
        if token is None:
            return refusal
        wanted = call.json().get("finalizeUploadRequest")
        if not isinstance(wanted, dict) or set(wanted) != {
            "video",
            "uploadToken",
            "uploadedPartIds",
        }:
            return refuse(400, "MISSING_FIELD", "finalizeUploadRequest is incomplete")
        asset = self.assets.get(wanted["video"])
        if asset is None or wanted["uploadToken"] != asset.token:
            return refuse(400, "INVALID_URN_ID", "No such video")
        marks = [f"/ambry-video/signedId/{asset.urn[-8:]}-{n}" for n in range(len(asset.pieces))]
        if wanted["uploadedPartIds"] != marks or None in asset.pieces:
            return refuse(400, "INVALID_VALUE_FOR_FIELD", "The parts are not those uploaded")
        self._take(asset, b"".join(piece or b"" for piece in asset.pieces))
        return Answer(200)

    def _take(self, asset: UploadedAsset, data: bytes) -> None:
        found = sniff(data)
        size = (found.width or 0) * (found.height or 0) if found else 0
        asset.broken = (
            found is None
            or found.mime not in _TYPES[asset.kind]
            or size >= _PIXELS
            or (asset.size is not None and len(data) != asset.size)
            or (asset.kind == "video" and len(data) < 75_000)
        )
        asset.ready_at = self.now + self.processing

    @route("GET", "/rest/images/{urn}")
    async def see_image(self, call: Received) -> Answer:
        return self._see(call, "r_organization_social")

    @route("GET", "/rest/documents/{urn}")
    async def see_document(self, call: Received) -> Answer:
        return self._see(call, "r_organization_social")

    @route("GET", "/rest/videos/{urn}")
    async def see_video(self, call: Received) -> Answer:
        return self._see(call, "")

    def _see(self, call: Received, scope: str) -> Answer:
        token, refusal = self.enter(call, scope)
        if token is None:
            return refusal
        asset = self.assets.get(call.args["urn"])
        if asset is None:
            return self.not_found(call)
        shown = {"id": asset.urn, "owner": asset.owner, "status": asset.status(self.now)}
        return say(200, shown)
