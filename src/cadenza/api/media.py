"""Media: files are uploaded, described, browsed, given out to members, and deleted when nothing shows them."""

from collections.abc import AsyncIterator
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from fastapi import Path, Query
from pydantic import ConfigDict, Field, StringConstraints
from starlette.responses import Response

from cadenza.api.posts import reached
from cadenza.api.problems import Problem, conflict, invalid, not_found
from cadenza.api.read_upload import UploadForm
from cadenza.api.request_context import ReadContext, Reader, WriteContext, Writer, WriterOnce
from cadenza.api.routes import MIB, Resource
from cadenza.api.schemas import Answer, Id, InputModel, Line, Page, Paged
from cadenza.api.send_file import FileToSend, send_file
from cadenza.media.delete import Deleted, InUse, delete
from cadenza.media.describe import describe
from cadenza.media.examine import Unfit
from cadenza.media.fit import read_fitted
from cadenza.media.limits import Limits
from cadenza.media.model import Media, NoSuchMedia
from cadenza.media.read import browse, read
from cadenza.media.upload import Uploaded, upload
from cadenza.people.model import Role
from cadenza.providers.fit_picture import FittedFile
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.request import Request as OutboundRequest
from cadenza.providers.http.request import Timeouts
from cadenza.providers.message import MediaKind
from cadenza.sql.tx import Tx

routes = Resource("media", "/workspaces/{workspace_id}/media")
Change = Annotated[str, Path(max_length=80, pattern=r"^[a-z0-9-]+$")]
ALT = 10_000
MOST_FETCHED = 50 * MIB  # a fetched file is held in memory
FETCHING = Timeouts(connect=10, read=20, total=60)
STATUS = {"size": 413, "space": 413}
BINARY = {200: {"description": "The file", "content": {"application/octet-stream": {}}}}
UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "alt": {"type": "string", "maxLength": ALT},
                    },
                }
            }
        },
    }
}


class MediaView(Answer):
    """A file of the library."""

    id: str
    kind: MediaKind
    mime: str
    size: int
    width: int | None
    height: int | None
    seconds: float | None
    name: str
    alt: str
    notes: list[str] = Field(description="What the upload changed or could not see")
    created_at: datetime
    created_by: str
    file_url: str
    thumbnail_url: str | None


class MediaUploaded(MediaView):
    """It is in the library; `known`: it was so before, and nothing was stored again."""

    known: bool


class PostNamed(Answer):
    """A post that shows it."""

    id: str
    title: str


class MediaDetailed(MediaView):
    """A file with the posts that show it."""

    posts: list[PostNamed]


class MediaChange(InputModel):
    """A description for those who cannot see it, and a name for people."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"alt": "A shop with a blue door, open"}]}
    )
    alt: str | None = Field(default=None, max_length=ALT)
    name: Line | None = None


class MediaAddress(InputModel):
    """Where a file is."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"url": "https://files.invalid/menu.pdf"}]}
    )
    url: Annotated[str, StringConstraints(max_length=2_000, pattern=r"^https?://[^\s\x00]+$")]
    name: Line | None = Field(
        default=None, description="As people see it; usually that of the address"
    )
    alt: str = Field(default="", max_length=ALT)


class MediaDeleted(Answer):
    """Nobody can choose it any more."""

    id: str


@routes.get(needs=Role.VIEWER, scope="media:read")
async def list_media(
    ask: Reader,
    workspace_id: Id,
    page: Paged,
    kind: Annotated[MediaKind | None, Query()] = None,
) -> Page[MediaView]:
    """List the library, the newest first."""
    found = await ask.read(
        lambda tx, _: browse(
            tx,
            workspace_id=workspace_id,
            limit=page.limit + 1,
            before=page.after,
            kind=None if kind is None else kind.value,
        )
    )
    rows = [{"media": each, "created_at": each.created_at, "id": each.id} for each in found]
    return page.cut(rows, lambda row: show(row["media"]), at="created_at")


@routes.post(
    needs=Role.EDITOR,
    scope="media:write",
    status_code=201,
    takes="upload",
    most=Limits().most + MIB,
    openapi_extra=UPLOAD,
)
async def upload_media(act: WriterOnce, workspace_id: Id) -> MediaUploaded:
    """Take a file in. The same content again is the same file, so repeating an upload is harmless."""
    form = UploadForm(act.request)
    if not await form.find_file():
        raise invalid("body.file", "there is no file in the upload", "missing")
    alt = _alt(form.fields)
    answer = await _take_in(
        act, _known_by_content(act, form), name=form.filename or "file", alt=alt
    )
    await form.finish()
    media = answer.media
    if (later := _alt(form.fields)) and later != media.alt and not answer.known:
        media = await act.change(
            lambda tx, now: _described(tx, now, workspace_id, media.id, act.by, later)
        )
    return await act.save_response(MediaUploaded(**show(media).model_dump(), known=answer.known))


@routes.post("/fetch", needs=Role.EDITOR, scope="media:write", status_code=201)
async def fetch_media(act: WriterOnce, workspace_id: Id, body: MediaAddress) -> MediaUploaded:
    """Fetch a file from its address into the library, up to 50 MB; private addresses are never asked."""
    await act.claim_key()
    request = OutboundRequest(
        "GET", body.url, timeout=FETCHING, max_bytes=MOST_FETCHED, redirects=3, idempotent=True
    )
    got = await act.runtime.http.send(request)
    if not isinstance(got, Reply):
        raise invalid("body.url", _said(got.message), "not_fetched")
    if not got.ok:
        raise invalid("body.url", f"The address answered {got.status}.", "not_fetched")

    async def whole() -> AsyncIterator[bytes]:
        yield got.body

    name = body.name or unquote(urlsplit(body.url).path.rpartition("/")[2]) or "file"
    answer = await _take_in(act, whole(), name=name[:200], alt=body.alt)
    return await act.save_response(
        MediaUploaded(**show(answer.media).model_dump(), known=answer.known)
    )


async def _take_in(
    act: WriteContext, pieces: AsyncIterator[bytes], *, name: str, alt: str
) -> Uploaded:
    """Take a file into the library, or say why it cannot be."""
    answer = await upload(
        act.runtime.library.desk,
        pieces,
        workspace_id=act.workspace_id,
        name=name,
        by=act.by,
        alt=alt,
    )
    if isinstance(answer, Unfit):
        raise Problem(
            STATUS.get(answer.reason, 422), f"unfit_{answer.reason}", _said(answer.message)
        )
    if not isinstance(answer, Uploaded):
        raise conflict("swept", _said(answer.message))
    return answer


@routes.get("/{media_id}", needs=Role.VIEWER, scope="media:read")
async def show_media(ask: Reader, workspace_id: Id, media_id: Id) -> MediaDetailed:
    """Show one file and the posts that show it."""

    def look(tx: Tx, now: datetime) -> MediaDetailed:
        media = _one(ask, tx, media_id)
        rows = tx.all(
            """
            SELECT post.id, post.title FROM media_use
            JOIN post ON post.workspace_id = media_use.workspace_id AND post.id = media_use.post_id
            WHERE media_use.workspace_id = :workspace_id AND media_use.media_id = :id
                AND post.deleted_at IS NULL
            ORDER BY post.created_at DESC, post.id LIMIT 200
            """,
            workspace_id=workspace_id,
            id=media_id,
        )
        reach = reached(ask, tx, [row["id"] for row in rows])
        posts = [PostNamed(id=row["id"], title=row["title"]) for row in rows if row["id"] in reach]
        return MediaDetailed(**show(media).model_dump(), posts=posts)

    return await ask.read(look)


@routes.patch("/{media_id}", needs=Role.EDITOR, scope="media:write")
async def describe_media(
    act: Writer, workspace_id: Id, media_id: Id, body: MediaChange
) -> MediaView:
    """Describe or rename a file; posts with words of their own keep them."""

    def operation(tx: Tx, now: datetime) -> MediaView:
        act.check_match(show(_one(act, tx, media_id)))
        media = _described(tx, now, workspace_id, media_id, act.by, body.alt, body.name)
        return act.tag(show(media))

    return await act.write(operation)


@routes.delete("/{media_id}", needs=Role.EDITOR, scope="media:write")
async def delete_media(act: Writer, workspace_id: Id, media_id: Id) -> MediaDeleted:
    """Delete a file; refused while a post that is to go out, or a pool, needs it."""

    def operation(tx: Tx, now: datetime) -> MediaDeleted:
        answer = delete(tx, now, workspace_id=workspace_id, id=media_id, by=act.by)
        match answer:
            case Deleted(id=id_):
                return MediaDeleted(id=id_)
            case InUse(posts=posts, keepers=keepers, message=message):
                reach = reached(act, tx, posts)
                named = [id_ for id_ in posts if id_ in reach]
                raise conflict("in_use", _said(message), posts=named, keepers=list(keepers))
            case NoSuchMedia():
                raise not_found("media")

    return await act.write(operation)


@routes.get(
    "/{media_id}/file",
    needs=Role.VIEWER,
    scope="media:read",
    response_class=Response,
    responses=BINARY,
)
async def download_media(ask: Reader, workspace_id: Id, media_id: Id) -> Response:
    """Give out the file itself, whole or a range of it, as a download."""
    media = await ask.read(lambda tx, _: _one(ask, tx, media_id))
    to_send = FileToSend(
        file=media.file, mime=media.mime, name=media.name, etag=f'"{media.sha256[:32]}"'
    )
    return await send_file(ask.request, ask.runtime.library.storage, to_send)


@routes.get(
    "/{media_id}/thumbnail",
    needs=Role.VIEWER,
    scope="media:read",
    response_class=Response,
    responses=BINARY,
)
async def get_thumbnail(ask: Reader, workspace_id: Id, media_id: Id) -> Response:
    """Give out its small picture."""
    media = await ask.read(lambda tx, _: _one(ask, tx, media_id))
    if media.thumbnail is None:
        raise not_found("small picture")
    to_send = FileToSend(
        file=media.thumbnail,
        mime="image/jpeg",
        name=f"{media.name.rpartition('.')[0]}.jpg",
        etag=f'"{media.sha256[:28]}.small"',
        download=False,
    )
    return await send_file(ask.request, ask.runtime.library.storage, to_send)


@routes.get(
    "/{media_id}/fitted/{change}",
    needs=Role.VIEWER,
    scope="media:read",
    response_class=Response,
    responses=BINARY,
)
async def get_fitted_media(ask: Reader, workspace_id: Id, media_id: Id, change: Change) -> Response:
    """Give out a picture as a network gets it; a preview says which there are."""
    media, made = await ask.read(lambda tx, _: _made(ask, tx, media_id, change))
    to_send = FileToSend(
        file=made.file,
        mime=made.mime,
        name=f"{media.name.rpartition('.')[0]}.jpg",
        etag=f'"{made.file.rpartition(".fit-")[2]}"',
        download=False,
    )
    return await send_file(ask.request, ask.runtime.library.storage, to_send)


def show(media: Media) -> MediaView:
    """Show a file: named fields only, never where it lies."""
    base = f"/api/v1/workspaces/{media.workspace_id}/media/{media.id}"
    return MediaView(
        id=media.id,
        kind=media.kind,
        mime=media.mime,
        size=media.size,
        width=media.width,
        height=media.height,
        seconds=media.seconds,
        name=media.name,
        alt=media.alt,
        notes=list(media.notes),
        created_at=media.created_at,
        created_by=media.created_by,
        file_url=f"{base}/file",
        thumbnail_url=f"{base}/thumbnail" if media.thumbnail else None,
    )


async def _known_by_content(act: WriteContext, form: UploadForm) -> AsyncIterator[bytes]:
    """Hand the file on; at its end the request is known by what it brought, and its key is held."""
    digest = sha256()
    async for piece in form.file():
        digest.update(piece)
        yield piece
    act.body = digest.digest()
    await act.claim_key()


def _one(ask: ReadContext, tx: Tx, media_id: str) -> Media:
    media = read(tx, workspace_id=ask.workspace_id, id=media_id)
    if isinstance(media, NoSuchMedia):
        raise not_found("media")
    return media


def _made(ask: ReadContext, tx: Tx, media_id: str, change: str) -> tuple[Media, FittedFile]:
    media = _one(ask, tx, media_id)
    made = read_fitted(tx, media.file, change)
    if made is None:
        raise not_found("changed picture")
    return media, made


def _described(
    tx: Tx,
    now: datetime,
    workspace_id: str,
    media_id: str,
    by: str,
    alt: str | None,
    name: str | None = None,
) -> Media:
    answer = describe(tx, now, workspace_id=workspace_id, id=media_id, by=by, alt=alt, name=name)
    if isinstance(answer, NoSuchMedia):
        raise not_found("media")
    return answer


def _alt(fields: dict[str, str]) -> str:
    alt = fields.get("alt", "").strip()
    if len(alt) > ALT:
        raise invalid("body.alt", f"a description has at most {ALT} characters", "too_long")
    return alt


def _said(message: str) -> str:
    return f"{message[:1].upper()}{message[1:]}."
